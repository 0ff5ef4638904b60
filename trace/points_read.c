/* points_read.c - reads the order of sync points from its text. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/input.h"
#include "base/printable.h"

#include "trace/points.h"

/* More ranks, or sync points in a row, are a slip of the pen. */
#define MOST_RANKS 1000000
#define MOST_TIMES 1000000

struct reader {
	struct dist__points *points;
	size_t block; /* its first track: one for each rank of the block */
	int line;
	bool none;         /* it says that there is none */
	const char *wrong; /* what is, instead of a line of another form */
};

/* Adds a track for each rank, of a group that it has none of yet. */
static enum dist_error add_ranks(struct reader *reader, const char *group,
				 uint64_t first, uint64_t last)
{
	for (uint64_t rank = first; rank <= last; rank++) {
		size_t num = reader->points->num;

		if (!dist__points_track(reader->points, (int)rank, group))
			return DIST_ERR_NO_MEMORY;
		if (reader->points->num > num)
			continue;
		reader->wrong = "a rank stands there twice for that group";
		return DIST_ERR_INVALID_ARGUMENT;
	}
	return DIST_OK;
}

/* A block has calls: ranks without any on a group are in none. */
static enum dist_error end_block(struct reader *reader)
{
	const struct dist__points *points = reader->points;

	if (reader->block == points->num || points->tracks[reader->block].num)
		return DIST_OK;
	reader->wrong = "expected, indented, a call of the group above";
	return DIST_ERR_INVALID_ARGUMENT;
}

/* "group NAME, ranks 0-2,5" */
static enum dist_error read_block(struct reader *reader, const char *text)
{
	const char *at = strstr(text, ", ranks ");
	enum dist_error error = end_block(reader);
	uint64_t first, last;
	char group[64];

	if (error)
		return error;
	if (strncmp(text, "group ", 6) != 0 || !at)
		return DIST_ERR_INVALID_ARGUMENT;
	snprintf(group, sizeof group, "%.*s", (int)(at - text - 6), text + 6);
	reader->block = reader->points->num;
	at += strlen(", ranks ");
	do {
		if (!dist__digits_step(&at, MOST_RANKS, &first))
			return DIST_ERR_INVALID_ARGUMENT;
		last = first;
		if (*at == '-' &&
		    (at++, !dist__digits_step(&at, MOST_RANKS, &last)))
			return DIST_ERR_INVALID_ARGUMENT;
		if (last < first)
			return DIST_ERR_INVALID_ARGUMENT;
		error = add_ranks(reader, group, first, last);
		if (error)
			return error;
	} while (*at++ == ',');
	return at[-1] ? DIST_ERR_INVALID_ARGUMENT : DIST_OK;
}

/* "  3 x all_reduce(...)" */
static enum dist_error read_point(const struct reader *reader, char *text)
{
	struct dist__point point = {.text = text, .line = reader->line};
	const char *at = text;
	uint64_t times = 1;

	if (isdigit((unsigned char)*text)) {
		if (!dist__digits_step(&at, MOST_TIMES, &times) || times == 0 ||
		    strncmp(at, " x ", 3) != 0)
			return DIST_ERR_INVALID_ARGUMENT;
		point.text = text + (at - text) + 3;
	}
	if (!isalpha((unsigned char)*point.text) ||
	    reader->block == reader->points->num)
		return DIST_ERR_INVALID_ARGUMENT;
	for (size_t i = reader->block; i < reader->points->num; i++)
		for (uint64_t n = 0; n < times; n++)
			if (!dist__points_append(&reader->points->tracks[i],
						 &point))
				return DIST_ERR_NO_MEMORY;
	return DIST_OK;
}

static enum dist_error read_line(struct reader *reader, char *text)
{
	char *words;

	/* Editors on Windows put a byte order mark in front. */
	if (reader->line == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0)
		text += 3;
	words = text + strspn(text, " \t");
	text[strcspn(text, "\r\n")] = '\0';
	dist__printable(words);
	if (!*words || *words == '#')
		return DIST_OK;
	if (strcmp(text, DIST__NO_POINTS) == 0) {
		reader->none = true;
		return DIST_OK;
	}
	return words == text ? read_block(reader, text)
			     : read_point(reader, words);
}

static enum dist_error read_lines(struct reader *reader, FILE *in)
{
	enum dist_error error = DIST_OK;
	char *text = NULL;
	size_t room = 0;
	ssize_t len;

	while (!error && (len = getline(&text, &room, in)) >= 0) {
		reader->line++;
		error = strlen(text) == (size_t)len ? read_line(reader, text)
						    : DIST_ERR_INVALID_ARGUMENT;
	}
	if (!error && ferror(in))
		error = DIST_ERR_IO;
	if (!error)
		error = end_block(reader);
	if (!error && (reader->points->num == 0) != reader->none)
		error = DIST_ERR_INVALID_ARGUMENT;
	free(text);
	return error;
}

enum dist_error dist__points_read(const char *path, struct dist__points *points,
				  struct dist_message *message)
{
	struct reader reader = {.points = points};
	enum dist_error error = DIST_ERR_IO;
	FILE *in = dist__input_open(path);

	*points = (struct dist__points){NULL};
	if (in)
		error = read_lines(&reader, in);
	if (error == DIST_ERR_IO)
		snprintf(message->text, sizeof message->text, "%.180s: %s",
			 path, strerror(errno));
	else if (error)
		snprintf(message->text, sizeof message->text, "%.180s:%d: %s",
			 path, reader.line ? reader.line : 1,
			 reader.wrong ? reader.wrong
				      : "expected \"group NAME, ranks 0-3\" "
					"or, indented, a call");
	if (in)
		fclose(in);
	return error;
}
