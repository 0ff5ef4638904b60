#include "cli/provenance.h"

#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "base/text.h"
#include "coll/profile.h"
#include "model/measured/machine.h"

/* Appends a line without the space around it, after a line break if text has
 * one already. */
static void append(char *text, size_t size, const char *line, size_t length)
{
	for (; length > 0 && strchr(" \t", *line); line++)
		length--;
	while (length > 0 && strchr(" \t\r", line[length - 1]))
		length--;
	if (length > 0)
		(void)dist__append(text, size, "%s%.*s", *text ? "\n" : "",
				   (int)length, line);
}

void provenance_platform(const char *path, char *text, size_t size)
{
	bool inside = false, ended = false;
	FILE *file = fopen(path, "r");
	char line[512];

	text[0] = '\0';
	while (file && !ended && fgets(line, sizeof line, file)) {
		const char *words = inside ? line : strstr(line, "<!--");
		const char *end;

		if (!words)
			continue;
		if (!inside)
			words += strlen("<!--");
		inside = true;
		end = strstr(words, "-->");
		ended = end != NULL;
		append(text, size, words,
		       end ? (size_t)(end - words) : strcspn(words, "\n"));
	}
	if (file)
		fclose(file);
}

static void tell_profile(const char *path, char *text, size_t size)
{
	struct dist__profile profile;
	struct dist_message message;

	if (dist__profile_load(&profile, path, &message))
		return;
	snprintf(text, size, "%s %s: %s", profile.name, profile.version,
		 profile.source);
	dist__profile_release(&profile);
}

/* The comments at the head of a CSV file. */
static void tell_model(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	char line[512];

	while (file && fgets(line, sizeof line, file) && line[0] == '#')
		append(text, size, line + 1, strcspn(line + 1, "\n"));
	if (file)
		fclose(file);
}

static void tell_machine(const char *path, char *text, size_t size)
{
	struct dist_message message;
	struct machine machine;

	if (!machine_load(&machine, path, &message))
		snprintf(text, size, "%s\n%s\n%s", machine.title,
			 machine.source, machine.note);
}

static const struct kind {
	const char *name, *folder, *suffix;
	void (*tell)(const char *path, char *text, size_t size);
} kinds[] = {
	{"platform", "platforms", ".xml", provenance_platform},
	{"profile", "profiles", ".yaml", tell_profile},
	{"model", "models", ".csv", tell_model},
	{"machine", "machines", ".yaml", tell_machine},
};

bool provenance_find(const char *kind, const char *name, char *path,
		     size_t size)
{
	const struct kind *known = DIST__NAMED(kinds, kind);
	struct dist_message message;
	char file[256];

	/* Behind the name of a machine may stand one of its networks. */
	snprintf(file, sizeof file, "%.*s",
		 (int)(known && known->tell == tell_machine ? strcspn(name, ":")
							    : strlen(name)),
		 name);
	return known && !dist__data_find(known->folder, file, known->suffix,
					 path, size, &message);
}

bool provenance_of(const char *kind, const char *name, char *text, size_t size)
{
	char path[4096];
	const struct kind *known = DIST__NAMED(kinds, kind);

	text[0] = '\0';
	if (provenance_find(kind, name, path, sizeof path))
		known->tell(path, text, size);
	return text[0] != '\0';
}
