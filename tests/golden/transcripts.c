/*
 * Golden transcripts: each tests/golden/NAME.txt holds commands ("$ lockstep
 * ...") and what they must print, to the byte; predicted times are part of it.
 * Behind " | sort" the lines stand in order: of ranks that speak at the same
 * simulated instant, nothing is promised about who comes first.
 * $wrong is the catalogue of wrong programs.
 * With LOCKSTEP_GOLDEN=write the files are rewritten instead, for a reader to
 * review the difference (`make golden`).
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/golden"

struct transcript {
	char name[64];
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct transcript *)a)->name,
		      ((const struct transcript *)b)->name);
}

ParameterizedTestParameters(golden, transcript)
{
	static struct transcript found[64];
	DIR *folder = opendir(FOLDER);
	struct dirent *entry;
	size_t n = 0;

	while (folder && n < 64 && (entry = readdir(folder)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (len > 4 && len < sizeof found[n].name &&
		    strcmp(entry->d_name + len - 4, ".txt") == 0)
			strcpy(found[n++].name, entry->d_name);
	}
	if (folder)
		closedir(folder);
	qsort(found, n, sizeof *found, by_name);
	return cr_make_param_array(struct transcript, found, n);
}

#define MAX_LINES 1024

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Releases of SimGrid predict the same: which one did is not held. */
static void hide_release(char *line)
{
	static const char fact[] = "SimGrid   ";

	if (strncmp(line, fact, sizeof fact - 1) == 0)
		strcpy(line, "SimGrid\n");
}

/* Copies the lines of in to out, in order of their text when sorted. */
static void copy_lines(FILE *in, FILE *out, bool sorted)
{
	static char *lines[MAX_LINES];
	char line[4096];
	size_t n = 0;

	while (fgets(line, sizeof line, in)) {
		cr_assert_lt(n, MAX_LINES);
		hide_release(line);
		lines[n++] = strdup(line);
	}
	if (sorted)
		qsort(lines, n, sizeof *lines, by_text);
	for (size_t i = 0; i < n; i++) {
		fputs(lines[i], out);
		free(lines[i]);
	}
}

/* Appends to out what the command prints on both streams, and its status. */
static void run(const char *arguments, FILE *out)
{
	static const char sort[] = " | sort";
	const char *lockstep = getenv("LOCKSTEP");
	size_t len = strlen(arguments), tail = sizeof sort - 1;
	bool sorted = len > tail && strcmp(arguments + len - tail, sort) == 0;
	char command[8192];
	FILE *pipe;
	int status;

	snprintf(command, sizeof command,
		 "lockstep=%s; wrong=${lockstep%%/*}/tests/programs/programs; "
		 "$lockstep %.*s 2>&1 </dev/null",
		 lockstep ? lockstep : "build/default/lockstep",
		 (int)(sorted ? len - tail : len), arguments);
	fflush(NULL);
	pipe = popen(command, "r");
	cr_assert(pipe);
	copy_lines(pipe, out, sorted);
	status = pclose(pipe);
	fprintf(out, "[exit %d]\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Runs the commands of a transcript; what it should look like now. Lines before
 * the first command are a comment and stay. */
static char *replay(FILE *transcript)
{
	static const char prompt[] = "$ lockstep ";
	char line[2048], *text = NULL;
	size_t len = 0;
	bool begun = false;
	FILE *out = open_memstream(&text, &len);

	cr_assert(out);
	while (fgets(line, sizeof line, transcript)) {
		bool is_command = strncmp(line, prompt, sizeof prompt - 1) == 0;

		if (is_command || !begun)
			fputs(line, out);
		if (!is_command)
			continue;
		begun = true;
		line[strcspn(line, "\n")] = '\0';
		run(line + sizeof prompt - 1, out);
	}
	fclose(out);
	return text;
}

static char *contents(FILE *file)
{
	char line[4096], *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert(out);
	rewind(file);
	while (fgets(line, sizeof line, file))
		fputs(line, out);
	fclose(out);
	return text;
}

ParameterizedTest(struct transcript *transcript, golden, transcript)
{
	const char *mode = getenv("LOCKSTEP_GOLDEN");
	char path[128], *want, *got;
	FILE *file;

	snprintf(path, sizeof path, FOLDER "/%s", transcript->name);
	file = fopen(path, "r");
	cr_assert(file, "%s cannot be read", path);
	got = replay(file);
	want = contents(file);
	fclose(file);
	if (mode && strcmp(mode, "write") == 0) {
		file = fopen(path, "w");
		cr_assert(file, "%s cannot be written", path);
		fputs(got, file);
		cr_assert_eq(fclose(file), 0);
	} else {
		cr_expect(strcmp(want, got) == 0,
			  "%s: expected\n%s\nbut the commands print\n%s", path,
			  want, got);
	}
	free(want);
	free(got);
}
