#define _GNU_SOURCE /* dladdr, which tells the file that holds this code */
#include "base/data.h"
#include "base/text.h"
#include "base/variable.h"
#include "base/refuse.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By this file they are known. */
#define KNOWN_BY "/measured/hardware/gpus.tsv"

static bool find_above(const char *file, const char *const places[2],
		       char path[PATH_MAX])
{
	char dir[PATH_MAX], *slash;

	if (!realpath(file, dir))
		return false;
	while ((slash = strrchr(dir, '/')) != NULL) {
		*slash = '\0';
		for (size_t i = 0; i < 2; i++)
			if (snprintf(path, PATH_MAX, "%s/%s", dir, places[i]) <
				    PATH_MAX &&
			    access(path, R_OK) == 0)
				return true;
	}
	return false;
}

/* The library's own file is asked first: a program that links it lies
 * elsewhere. */
bool dist__data_above(const char *const places[2], char path[PATH_MAX])
{
	static const char ours = 0;
	Dl_info info;

	return (dladdr(&ours, &info) && strchr(info.dli_fname, '/') &&
		find_above(info.dli_fname, places, path)) ||
	       find_above("/proc/self/exe", places, path);
}

void dist__data_own(const char *kind, char *path, size_t size)
{
	char root[PATH_MAX];
	static const char *const places[] = {"share/lockstep" KNOWN_BY,
					     "scenarios" KNOWN_BY};

	if (dist__data_above(places, root))
		root[strlen(root) - strlen(KNOWN_BY)] = '\0';
	else
		snprintf(root, PATH_MAX, "%s",
			 access("/usr/share/lockstep" KNOWN_BY, R_OK) == 0
				 ? "/usr/share/lockstep"
				 : "/usr/local/share/lockstep");
	snprintf(path, size, "%s/%s", root, kind);
}

void dist__data_dir(const char *kind, char *path, size_t size)
{
	const char *data = dist__variable("LOCKSTEP_DATA");

	if (data)
		snprintf(path, size, "%s/%s", data, kind);
	else
		dist__data_own(kind, path, size);
}

/* The length of a file's name without what follows the last dot. */
static size_t stem_len(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot ? (size_t)(dot - entry->d_name) : strlen(entry->d_name);
}

/* In no locale's order. */
static int by_stem(const struct dirent **a, const struct dirent **b)
{
	size_t a_len = stem_len(*a), b_len = stem_len(*b);
	int order = memcmp((*a)->d_name, (*b)->d_name,
			   a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

enum dist_error dist__data_files(struct dist__files *files, const char *kind,
				 const char *suffix)
{
	char dir[PATH_MAX];
	struct dirent **entries;
	int n;

	*files = (struct dist__files){.num = 0};
	dist__data_dir(kind, dir, sizeof dir);
	n = scandir(dir, &entries, NULL, by_stem);
	if (n < 0)
		return DIST_ERR_IO;
	files->paths = calloc((size_t)n + 1, sizeof *files->paths);
	for (int i = 0; i < n; i++) {
		if (files->paths && dist__ends_in(entries[i]->d_name, suffix) &&
		    asprintf(&files->paths[files->num], "%s/%s", dir,
			     entries[i]->d_name) >= 0)
			files->num++;
		free(entries[i]);
	}
	free(entries);
	return files->paths ? DIST_OK : DIST_ERR_NO_MEMORY;
}

void dist__files_release(struct dist__files *files)
{
	for (size_t i = 0; i < files->num; i++)
		free(files->paths[i]);
	free(files->paths);
}

/* The names that a folder offers. */
struct choices {
	char names[64][64];
	size_t num;
};

/* Reads them; there are none when the folder cannot be read. */
static void read_choices(struct choices *choices, const char *kind,
			 const char *suffix)
{
	struct dist__files files;

	(void)dist__data_files(&files, kind, suffix);
	choices->num = files.num < 64 ? files.num : 64;
	for (size_t i = 0; i < choices->num; i++)
		dist__stem(choices->names[i], 64, files.paths[i], suffix);
	dist__files_release(&files);
}

static void offer(const struct choices *choices, struct dist__spelling *near)
{
	for (size_t i = 0; i < choices->num; i++)
		dist__spelling_offer(near, choices->names[i],
				     strlen(choices->names[i]));
}

void dist__data_offer(struct dist__spelling *near, const char *kind,
		      const char *suffix)
{
	struct choices choices;

	read_choices(&choices, kind, suffix);
	offer(&choices, near);
}

/* Whether the file begins with a title that has name in it, or name with
 * spaces for hyphens: "title: AWS p5.48xlarge", "GB300 NVL72". */
static bool is_titled(const char *kind, const char *file, const char *suffix,
		      const char *name, char title[128])
{
	char path[4096], spaced[128];
	bool titled;
	FILE *stream;

	snprintf(spaced, sizeof spaced, "%s", name);
	for (char *hyphen = spaced; (hyphen = strchr(hyphen, '-'));)
		*hyphen = ' ';
	dist__data_dir(kind, path, sizeof path);
	(void)dist__append(path, sizeof path, "/%s%s", file, suffix);
	stream = fopen(path, "r");
	titled = stream && strlen(name) > 2 &&
		 fscanf(stream, "title: %127[^\n]", title) == 1 &&
		 (strcasestr(title, name) || strcasestr(title, spaced));
	if (stream)
		fclose(stream);
	return titled;
}

/* One of a kind: "platform" of platforms. */
static const char *one_of(const char *kind, char one[32])
{
	snprintf(one, 32, "%.*s", (int)strlen(kind) - 1, kind);
	return strcmp(kind, "studies") == 0 ? "study" : one;
}

/* So many names are a list that one reads; of more `lockstep list` has it. */
#define FEW 10

/* Says which was probably meant, else which there are. */
static enum dist_error refuse_name(const char *kind, const char *name,
				   const char *suffix,
				   struct dist_message *message)
{
	struct dist__spelling near = dist__spelling_of(name);
	char list[sizeof message->text] = "", title[128], text[32];
	const char *one = one_of(kind, text);
	struct choices choices;

	read_choices(&choices, kind, suffix);
	offer(&choices, &near);
	for (size_t i = 0; i < choices.num && !dist__begins(near.name, name);
	     i++)
		if (is_titled(kind, choices.names[i], suffix, name, title))
			return dist__refuse(message,
					    "no %s \"%.64s\"; %s is %s", one,
					    name, choices.names[i], title);
	if (choices.num > FEW)
		snprintf(list, sizeof list, ", or a name of lockstep list %s",
			 kind);
	for (size_t i = 0; choices.num <= FEW && i < choices.num; i++)
		(void)dist__append(list, sizeof list, "%s%s",
				   i ? ", " : ", or one of ", choices.names[i]);
	return dist__refuse(message, "no %s \"%.64s\": expected FILE%s%s%s",
			    one, name, suffix,
			    *near.name ? ", or a name" : list,
			    dist__spelling_hint(&near));
}

enum dist_error dist__data_find(const char *kind, const char *name,
				const char *suffix, char *path, size_t size,
				struct dist_message *message)
{
	char dir[4096];
	int len;

	if (strchr(name, '/') || dist__ends_in(name, suffix)) {
		len = snprintf(path, size, "%s", name);
		if (len >= 0 && (size_t)len < size && access(path, R_OK) == 0)
			return DIST_OK;
		return dist__refuse(message, "%.256s: no such readable file",
				    name);
	}
	dist__data_dir(kind, dir, sizeof dir);
	len = snprintf(path, size, "%s/%s%s", dir, name, suffix);
	if (*name && len >= 0 && (size_t)len < size && access(path, R_OK) == 0)
		return DIST_OK;
	return refuse_name(kind, name, suffix, message);
}
