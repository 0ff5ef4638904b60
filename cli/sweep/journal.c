#include "cli/sweep/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/input.h"
#include "base/refuse.h"

/* Answers keep all their digits: what is printed of them is rounded once. */
#define LINE_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(17))

struct journal {
	int file;
	char path[];
};

static enum dist_error fail(struct dist_message *message, const char *path)
{
	int error = errno;

	(void)dist__refuse(message, "%.300s: %s", path, strerror(error));
	return error == ENOMEM ? DIST_ERR_NO_MEMORY : DIST_ERR_IO;
}

static int is_journal(const struct dirent *entry)
{
	const char *name = entry->d_name, *suffix = strrchr(name, '.');

	return strncmp(name, "journal", strlen("journal")) == 0 && suffix &&
	       strcmp(suffix, ".jsonl") == 0;
}

/* Calls each for the paths of all journals in folder, by name, until one
 * fails. */
static enum dist_error for_all(const char *folder,
			       enum dist_error (*each)(void *arg,
						       const char *path),
			       void *arg, struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	struct dirent **entries;
	char path[4096];
	int num = scandir(folder, &entries, is_journal, alphasort);

	if (num < 0)
		return fail(message, folder);
	for (int i = 0; i < num; i++) {
		snprintf(path, sizeof path, "%s/%s", folder,
			 entries[i]->d_name);
		if (!error)
			error = each(arg, path);
		free(entries[i]);
	}
	free(entries);
	return error;
}

/* ---- reading ---------------------------------------------------------- */

/* What the lines of a journal are read into. */
struct reading {
	const char *path;
	const char *stamp;
	json_t **answers;
	size_t num;
	struct dist_message *message;
};

static enum dist_error refuse(const struct reading *reading, size_t line,
			      const char *what)
{
	return dist__refuse(reading->message, "%.300s:%zu: %s", reading->path,
			    line, what);
}

static enum dist_error read_line(const struct reading *reading, size_t number,
				 const char *text)
{
	json_t *line = json_loads(text, 0, NULL), *answer;
	const char *stamp = json_string_value(json_object_get(line, "stamp"));
	enum dist_error error = DIST_OK;
	json_int_t point;

	if (number == 1) {
		if (!stamp || strcmp(stamp, reading->stamp) != 0)
			error = refuse(reading, number,
				       "points of another study, or of another "
				       "version of it or of Lockstep: expected "
				       "--restart, or another folder");
	} else {
		point = json_integer_value(json_object_get(line, "point")) - 1;
		answer = json_object_get(line, "answer");
		if (!answer || point < 0 || (size_t)point >= reading->num)
			error = refuse(reading, number,
				       "expected a point of the study with its "
				       "answer");
		else if (!reading->answers[point])
			reading->answers[point] = json_incref(answer);
	}
	json_decref(line);
	return error;
}

static enum dist_error read_journal(void *arg, const char *path)
{
	struct reading *reading = arg;
	enum dist_error error = DIST_OK;
	FILE *file = dist__input_open(path);
	size_t number = 0, size = 0;
	char *text = NULL;
	ssize_t length;

	if (!file)
		return fail(reading->message, path);
	reading->path = path;
	while (!error && (length = getline(&text, &size, file)) > 0)
		if (text[length - 1] == '\n')
			error = read_line(reading, ++number, text);
	if (!error && ferror(file))
		error = fail(reading->message, path);
	free(text);
	fclose(file);
	return error;
}

enum dist_error journal_load(const char *folder, const char *stamp,
			     json_t **answers, size_t num,
			     struct dist_message *message)
{
	struct reading reading = {.stamp = stamp,
				  .answers = answers,
				  .num = num,
				  .message = message};

	return for_all(folder, read_journal, &reading, message);
}

static enum dist_error remove_journal(void *arg, const char *path)
{
	return unlink(path) ? fail(arg, path) : DIST_OK;
}

enum dist_error journal_remove(const char *folder, struct dist_message *message)
{
	return for_all(folder, remove_journal, message, message);
}

/* ---- writing ---------------------------------------------------------- */

static struct journal *journal_new(const char *folder, int part, int parts)
{
	size_t size = strlen(folder) + 64;
	struct journal *journal = malloc(sizeof *journal + size);

	if (journal && parts == 1)
		snprintf(journal->path, size, "%s/journal.jsonl", folder);
	else if (journal)
		snprintf(journal->path, size, "%s/journal-%d-of-%d.jsonl",
			 folder, part, parts);
	return journal;
}

/* Appends a line in one write, so that it is there or not; takes object. */
static enum dist_error append(struct journal *journal, json_t *object,
			      struct dist_message *message)
{
	char *text = object ? json_dumps(object, LINE_FLAGS) : NULL;
	size_t length = text ? strlen(text) : 0;
	enum dist_error error = DIST_OK;

	json_decref(object);
	if (!text) {
		errno = ENOMEM;
		return fail(message, journal->path);
	}
	text[length] = '\n'; /* a line ends in it, not in a zero byte */
	errno = ENOSPC;      /* of a write that was cut short */
	if (write(journal->file, text, length + 1) != (ssize_t)(length + 1))
		error = fail(message, journal->path);
	free(text);
	return error;
}

/* Cuts off what stands behind the last whole line. */
static enum dist_error cut(struct journal *journal,
			   struct dist_message *message)
{
	off_t end = lseek(journal->file, 0, SEEK_END);
	char last = '\n';

	while (end > 0 && pread(journal->file, &last, 1, end - 1) == 1 &&
	       last != '\n')
		end--;
	if (end < 0 || ftruncate(journal->file, end))
		return fail(message, journal->path);
	return DIST_OK;
}

/* Takes the file for this process, and begins it where it is new. */
static enum dist_error take(struct journal *journal, const char *stamp,
			    struct dist_message *message)
{
	/* Not flock(), which children would go on holding. */
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	enum dist_error error;

	if (fcntl(journal->file, F_SETLK, &whole))
		return dist__refuse(
			message,
			"%.300s: expected no other process that works on it",
			journal->path);
	error = cut(journal, message);
	if (!error && lseek(journal->file, 0, SEEK_END) == 0)
		error = append(journal, json_pack("{s:s}", "stamp", stamp),
			       message);
	return error;
}

enum dist_error journal_open(const char *folder, const char *stamp, int part,
			     int parts, struct journal **result,
			     struct dist_message *message)
{
	struct journal *journal = journal_new(folder, part, parts);
	enum dist_error error;

	if (!journal) {
		errno = ENOMEM;
		return fail(message, folder);
	}
	journal->file = open(journal->path,
			     O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (journal->file < 0) {
		error = fail(message, journal->path);
		free(journal);
		return error;
	}
	error = take(journal, stamp, message);
	if (error)
		journal_close(journal);
	else
		*result = journal;
	return error;
}

enum dist_error journal_add(struct journal *journal, size_t point,
			    json_t *answer, struct dist_message *message)
{
	return append(journal,
		      json_pack("{s:I, s:O}", "point", (json_int_t)point + 1,
				"answer", answer),
		      message);
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	close(journal->file);
	free(journal);
}
