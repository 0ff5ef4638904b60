#include "trace/points.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/input.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "base/text.h"

/* ---- putting them together -------------------------------------------- */

static const struct dist__points_track *find(const struct dist__points *points,
					     int rank, const char *group)
{
	size_t i = (size_t)rank < points->ranks ? points->latest[rank] : 0;

	while (i > 0 && strcmp(points->tracks[i - 1].group, group) != 0)
		i = points->tracks[i - 1].before;
	return i > 0 ? &points->tracks[i - 1] : NULL;
}

/* Makes room for rank among the latest; false: no memory. */
static bool admit(struct dist__points *points, int rank)
{
	size_t ranks = points->ranks ? points->ranks : 8, *latest;

	if ((size_t)rank < points->ranks)
		return true;
	while (ranks <= (size_t)rank)
		ranks *= 2;
	latest = realloc(points->latest, ranks * sizeof *latest);
	if (!latest)
		return false;
	memset(latest + points->ranks, 0,
	       (ranks - points->ranks) * sizeof *latest);
	points->latest = latest;
	points->ranks = ranks;
	return true;
}

/* The track of rank and group, a new one if needed; NULL: no memory. */
static struct dist__points_track *track_of(struct dist__points *points,
					   int rank, const char *group)
{
	const struct dist__points_track *old = find(points, rank, group);
	struct dist__points_track fresh = {.rank = rank}, *added;

	if (old)
		return &points->tracks[old - points->tracks];
	if (!admit(points, rank))
		return NULL;
	fresh.before = points->latest[rank];
	fresh.group = strdup(group);
	added = fresh.group ? dist__array_add(&points->tracks, &points->num,
					      &fresh, sizeof fresh)
			    : NULL;
	if (added)
		points->latest[rank] = points->num;
	else
		free(fresh.group);
	return added;
}

/* Copies the point; false: no memory. */
static bool append(struct dist__points_track *track,
		   const struct dist__point *point)
{
	struct dist__point own = *point;

	own.text = strdup(point->text);
	if (own.text &&
	    dist__array_add(&track->points, &track->num, &own, sizeof own))
		return true;
	free(own.text);
	return false;
}

void dist__points_release(struct dist__points *points)
{
	for (size_t i = 0; i < points->num; i++) {
		struct dist__points_track *track = &points->tracks[i];

		for (size_t j = 0; j < track->num; j++)
			free(track->points[j].text);
		free(track->points);
		free(track->group);
	}
	free(points->tracks);
	free(points->latest);
	*points = (struct dist__points){NULL};
}

/* ---- of a trace ------------------------------------------------------- */

static void describe(const struct dist__trace_call *call, char *text,
		     size_t size)
{
	struct dist__trace_call placeless = *call;

	placeless.file = NULL;
	if (strcmp(call->op, "all_to_all") == 0)
		placeless.numel = 0;
	dist__trace_describe(&placeless, text, size);
	if (call->file)
		(void)dist__append(text, size, " in %s",
				   dist__base_name(call->file));
	dist__printable(text);
}

enum dist_error dist__points_of(const struct dist__trace *trace,
				struct dist__points *points)
{
	*points = (struct dist__points){NULL};
	for (size_t i = 0; i < trace->num_calls; i++) {
		const struct dist__trace_call *call = &trace->calls[i];
		bool is_default = strcmp(call->group, "0") == 0;
		struct dist__points_track *track;
		char text[256];
		const struct dist__point point = {text, 0, call};

		if (dist__trace_is_p2p(call))
			continue;
		describe(call, text, sizeof text);
		track = track_of(points, call->rank,
				 is_default ? "default" : call->group);
		if (!track || !append(track, &point))
			return DIST_ERR_NO_MEMORY;
	}
	return DIST_OK;
}

/* ---- as a text -------------------------------------------------------- */

static bool same(const struct dist__points_track *a,
		 const struct dist__points_track *b)
{
	if (a->num != b->num || strcmp(a->group, b->group) != 0)
		return false;
	for (size_t i = 0; i < a->num; i++)
		if (strcmp(a->points[i].text, b->points[i].text) != 0)
			return false;
	return true;
}

static bool is_first(const struct dist__points *points, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (same(&points->tracks[j], &points->tracks[i]))
			return false;
	return true;
}

/* "ranks 0-2,5": those of the tracks that are as number i. */
static void print_ranks(FILE *out, const struct dist__points *points, size_t i)
{
	int first = -1, last = -2;
	const char *separator = "ranks ";

	for (size_t j = i; j <= points->num; j++) {
		bool more = j < points->num;

		if (more && !same(&points->tracks[i], &points->tracks[j]))
			continue;
		if (more && points->tracks[j].rank == last + 1) {
			last++;
			continue;
		}
		if (first >= 0) {
			fprintf(out, "%s%d", separator, first);
			separator = ",";
		}
		if (last > first)
			fprintf(out, "-%d", last);
		first = last = more ? points->tracks[j].rank : -1;
	}
}

void dist__points_print(FILE *out, const struct dist__points *points)
{
	if (points->num == 0)
		fputs(DIST__NO_POINTS "\n", out);
	for (size_t i = 0; i < points->num; i++) {
		const struct dist__points_track *track = &points->tracks[i];
		size_t times;

		if (!is_first(points, i))
			continue;
		fprintf(out, "group %s, ", track->group);
		print_ranks(out, points, i);
		fputc('\n', out);
		for (size_t j = 0; j < track->num; j += times) {
			const char *text = track->points[j].text;

			for (times = 1; j + times < track->num; times++)
				if (strcmp(track->points[j + times].text,
					   text) != 0)
					break;
			fputs("  ", out);
			if (times > 1)
				fprintf(out, "%zu x ", times);
			fprintf(out, "%s\n", text);
		}
	}
}

/* ---- against each other ----------------------------------------------- */

/* The first point that differs; the greater number if none does. */
static size_t first_difference(const struct dist__points_track *a,
			       const struct dist__points_track *b)
{
	size_t i = 0;

	while (i < a->num && i < b->num &&
	       strcmp(a->points[i].text, b->points[i].text) == 0)
		i++;
	return i;
}

static void report(FILE *out, const char *path,
		   const struct dist__points_track *expected,
		   const struct dist__points_track *got)
{
	size_t i = first_difference(expected, got);

	fprintf(out, "  rank %d, #%zu of group %s: expected ", got->rank, i,
		got->group);
	if (i < expected->num)
		fprintf(out, "%s (%s:%d)", expected->points[i].text, path,
			expected->points[i].line);
	else
		fputs("no more", out);
	if (i >= got->num)
		fputs(", got no more\n", out);
	else if (got->points[i].call->file)
		fprintf(out, ", got %s at line %d\n", got->points[i].text,
			got->points[i].call->line);
	else
		fprintf(out, ", got %s\n", got->points[i].text);
}

bool dist__points_compare(FILE *out, const char *path,
			  const struct dist__points *expected,
			  const struct dist__points *got)
{
	size_t differences = 0;

	for (int side = 0; side < 2; side++) {
		const struct dist__points *these = side ? got : expected;

		for (size_t i = 0; i < these->num; i++) {
			const struct dist__points_track *one =
				&these->tracks[i];
			const struct dist__points_track nothing = {
				.rank = one->rank, .group = one->group};
			const struct dist__points_track *other = find(
				side ? expected : got, one->rank, one->group);

			if (other && (side || same(one, other)))
				continue;
			if (differences++ > 0)
				continue;
			fprintf(out,
				"lockstep: the order of sync points is not "
				"that of %s\n",
				path);
			report(out, path, side ? &nothing : one,
			       side ? one : (other ? other : &nothing));
		}
	}
	if (differences > 1)
		fprintf(out, "  ranks and groups that differ besides: %zu\n",
			differences - 1);
	return differences > 0;
}

/* ---- from its text ------------------------------------------------------ */

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

		if (!track_of(reader->points, (int)rank, group))
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
			if (!append(&reader->points->tracks[i], &point))
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
