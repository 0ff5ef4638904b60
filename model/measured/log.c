#include "model/measured/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"

#define LINE_SIZE  1024
#define WORDS      32
#define MOST_HOSTS 64
#define HOST_SIZE  64

/* Where the columns are that a log has; 0: not there (size comes first). */
struct layout {
	size_t num; /* columns; 0: not named yet */
	size_t type;
	size_t time[2], algbw[2], busbw[2]; /* out of place, and in place */
};

/* The reader: what it reads into, and what it knows. */
struct reader {
	struct collectives *table;
	struct log_facts facts;
	bool has_collective; /* facts' or the log's */
	bool is_given;       /* facts' */
	enum collective collective;
	char hosts[MOST_HOSTS][HOST_SIZE];
	int num_hosts, num_ranks; /* of "Rank" lines */
	struct layout layout;
	struct dist_message *message;
	int line;
};

static enum dist_error refuse(const struct reader *r, const char *expected)
{
	return dist__tsv_refuse(&r->table->tsv, r->line, r->message, "%s",
				expected);
}

/* ---- the head --------------------------------------------------------- */

static size_t split(char *line, char **words)
{
	size_t num = 0;
	char *rest = NULL;

	for (char *word = strtok_r(line, " \t\r\n", &rest); word && num < WORDS;
	     word = strtok_r(NULL, " \t\r\n", &rest))
		words[num++] = word;
	return num;
}

/* "#  Rank  0 Group  0 Pid  9167 on  HOST device  0 [...] ..." */
static enum dist_error note_rank(struct reader *r, char *const *words,
				 size_t num)
{
	if (r->num_ranks++ > 0 && strcmp(words[2], "0") == 0)
		return refuse(r, "the ranks of one run, not rank 0 again");
	for (size_t i = 0; i + 1 < num; i++) {
		int h = 0;

		if (strcmp(words[i], "on") != 0)
			continue;
		while (h < r->num_hosts &&
		       strncmp(r->hosts[h], words[i + 1], HOST_SIZE - 1) != 0)
			h++;
		if (h == r->num_hosts && h < MOST_HOSTS)
			snprintf(r->hosts[r->num_hosts++], HOST_SIZE, "%s",
				 words[i + 1]);
	}
	return DIST_OK;
}

/* Column 0 of the words is '#', which rows have not. */
static enum dist_error note_columns(struct reader *r, char *const *words,
				    size_t num)
{
	struct layout *layout = &r->layout;
	size_t times = 0;

	*layout = (struct layout){.num = num - 1};
	for (size_t i = 1; i < num; i++) {
		if (strcmp(words[i], "type") == 0)
			layout->type = i - 1;
		if (strcmp(words[i], "time") == 0 && times < 2)
			layout->time[times++] = i - 1;
		if (strcmp(words[i], "algbw") == 0 && times > 0)
			layout->algbw[times - 1] = i - 1;
		if (strcmp(words[i], "busbw") == 0 && times > 0)
			layout->busbw[times - 1] = i - 1;
	}
	return times ? DIST_OK : refuse(r, "a column time");
}

/* Finds the name of one of nccl-tests' programs, behind a folder or not. */
static bool find_perf(const char *word, enum collective *collective)
{
	static const char *const programs[] = {
		[COLLECTIVE_ALL_REDUCE] = "all_reduce_perf",
		[COLLECTIVE_ALL_GATHER] = "all_gather_perf",
		[COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter_perf",
		[COLLECTIVE_ALL_TO_ALL] = "alltoall_perf",
		[COLLECTIVE_BROADCAST] = "broadcast_perf",
		[COLLECTIVE_REDUCE] = "reduce_perf",
	};

	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		const char *at = strstr(word, programs[i]);

		if (at && (at == word || at[-1] == '/')) {
			*collective = (enum collective)i;
			return true;
		}
	}
	return false;
}

/* What the log says counts where nobody said otherwise, and once. */
static enum dist_error note_collective(struct reader *r,
				       enum collective collective)
{
	if (r->has_collective && !r->is_given && r->collective != collective)
		return refuse(r, "rows of one collective, not of another");
	if (!r->has_collective)
		r->collective = collective;
	r->has_collective = true;
	return DIST_OK;
}

/* "ranks: 16", anywhere in a line; what the user says goes first. */
static void note_count(int *count, const char *name, char *const *words,
		       size_t num)
{
	for (size_t i = 1; i + 1 < num; i++)
		if (*count == 0 && strcmp(words[i], name) == 0)
			(void)value_read_count(words[i + 1], count);
}

static enum dist_error read_head(struct reader *r, char *const *words,
				 size_t num)
{
	enum collective named;

	if (num > 2 && strcmp(words[1], "size") == 0)
		return note_columns(r, words, num);
	if (num > 2 && strcmp(words[1], "Rank") == 0)
		return note_rank(r, words, num);
	note_count(&r->facts.nodes, "nodes:", words, num);
	note_count(&r->facts.ranks, "ranks:", words, num);
	if (num > 2 && strcmp(words[1], "collective:") == 0 &&
	    collective_find(words[2], &named))
		return note_collective(r, named);
	for (size_t i = 1; i < num; i++)
		if (find_perf(words[i], &named))
			return note_collective(r, named);
	return DIST_OK;
}

/* ---- rows ------------------------------------------------------------- */

/* nccl-tests' words for types; NULL: another. */
static const char *type_name(const char *word)
{
	static const char *const names[][2] = {
		{"float", "float32"},  {"half", "float16"},
		{"double", "float64"}, {"bfloat16", "bfloat16"},
		{"int8", "int8"},      {"uint8", "uint8"},
		{"int32", "int32"},    {"int64", "int64"},
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i][0], word) == 0)
			return names[i][1];
	return NULL;
}

static struct collective_row *next_row(struct collectives *table, int line)
{
	size_t num = table->tsv.num_rows;
	struct collective_row *rows =
		realloc(table->rows, (num + 1) * sizeof *rows);
	int *lines;

	if (!rows)
		return NULL;
	table->rows = rows;
	lines = realloc(table->tsv.lines, (num + 1) * sizeof *lines);
	if (!lines)
		return NULL;
	table->tsv.lines = lines;
	lines[num] = line;
	table->tsv.num_rows++;
	rows[num] = (struct collective_row){.use = VALUE_VALIDATION};
	return &rows[num];
}

static enum dist_error read_row(struct reader *r, char *const *words,
				size_t bytes, int place)
{
	const struct layout *layout = &r->layout;
	struct collective_row *row = next_row(r->table, r->line);

	if (!row)
		return DIST_ERR_NO_MEMORY;
	row->bytes = bytes;
	row->place = place ? "in" : "out";
	row->memory = "device";
	row->statistic = "mean";
	row->dtype = layout->type ? type_name(words[layout->type]) : NULL;
	if (bytes == 0)
		row->use = VALUE_NEITHER;
	if (value_read_number(words[layout->time[place]], &row->time_us) ||
	    row->time_us.value <= 0)
		return refuse(r, "a time above 0 in column time");
	if (layout->algbw[place])
		(void)value_read_number(words[layout->algbw[place]],
					&row->algbw_GBps);
	if (layout->busbw[place])
		(void)value_read_number(words[layout->busbw[place]],
					&row->busbw_GBps);
	return DIST_OK;
}

static enum dist_error read_line(struct reader *r, char *text)
{
	char *words[WORDS];
	enum dist_error error = DIST_OK;
	size_t bytes, num;

	/* Editors on Windows put a byte order mark in front. */
	if (r->line == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0)
		text += 3;
	num = split(text, words);
	if (num == 0)
		return DIST_OK;
	if (words[0][0] == '#')
		return read_head(r, words, num);
	/* Launchers and libraries talk between the rows. */
	if (value_read_size(words[0], &bytes))
		return DIST_OK;
	if (!r->layout.num)
		return refuse(r, "the line \"# size count ...\" before rows");
	if (num < r->layout.num)
		return refuse(r, "as many columns as the head names");
	for (int place = 0; place < 2 && !error; place++)
		if (place == 0 || r->layout.time[1])
			error = read_row(r, words, bytes, place);
	return error;
}

/* ---- the whole -------------------------------------------------------- */

/* What must be known of every row, and is not. */
static enum dist_error find_facts(struct reader *r)
{
	struct log_facts *facts = &r->facts;
	const char *unknown = NULL;

	if (!facts->ranks)
		facts->ranks = r->num_ranks;
	if (!facts->nodes)
		facts->nodes = r->num_hosts;
	if (!r->table->tsv.num_rows)
		unknown = "rows of nccl-tests";
	else if (!r->has_collective)
		unknown = "the collective, which it does not say";
	else if (facts->ranks < 1)
		unknown = "the number of ranks, which it does not say";
	else if (facts->nodes < 1 || facts->ranks % facts->nodes != 0)
		unknown = "the number of nodes, in which all have as many "
			  "ranks";
	else if (facts->nodes > 1 && !facts->transport)
		unknown = "the transport between its nodes";
	r->line += r->line == 0;
	return unknown ? refuse(r, unknown) : DIST_OK;
}

static enum dist_error fill(struct reader *r)
{
	enum dist_error error = find_facts(r);
	struct collectives *table = r->table;

	for (size_t i = 0; i < table->tsv.num_rows && !error; i++) {
		struct collective_row *row = &table->rows[i];

		row->collective = r->collective;
		row->machine = r->facts.machine;
		row->transport = r->facts.transport ? r->facts.transport : "-";
		row->library = r->facts.library;
		row->nodes = r->facts.nodes;
		row->ranks = r->facts.ranks;
	}
	return error;
}

enum dist_error collectives_load_log(struct collectives *table,
				     const char *path,
				     const struct log_facts *facts,
				     struct dist_message *message)
{
	struct reader reader = {
		.table = table, .facts = *facts, .message = message};
	FILE *in = dist__input_open(path);
	enum dist_error error = DIST_OK;
	char text[LINE_SIZE];

	*table = (struct collectives){.rows = NULL};
	snprintf(message->text, sizeof message->text, "%.256s: %s", path,
		 in ? "out of memory" : strerror(errno));
	if (!in)
		return DIST_ERR_IO;
	table->tsv.path = strdup(path);
	if (!table->tsv.path)
		error = DIST_ERR_NO_MEMORY;
	if (facts->collective)
		reader.is_given = reader.has_collective =
			collective_find(facts->collective, &reader.collective);
	while (!error && fgets(text, sizeof text, in)) {
		reader.line++;
		error = read_line(&reader, text);
	}
	if (!error && ferror(in)) {
		error = DIST_ERR_IO;
		snprintf(message->text, sizeof message->text, "%.256s: %s",
			 path, strerror(errno));
	}
	fclose(in);
	if (!error)
		error = fill(&reader);
	if (!error)
		error = collectives_check(table, message);
	if (error)
		collectives_release(table);
	return error;
}

/* ---- calibration ------------------------------------------------------ */

#define SMALL_BYTES 4096

/* The next size above bytes; 0: there is none. */
static size_t size_above(const struct collectives *table, size_t bytes)
{
	size_t least = 0;

	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		size_t size = table->rows[i].bytes;

		if (size > bytes && (least == 0 || size < least))
			least = size;
	}
	return least;
}

/* The last row of a size is that in place. */
static void give_away(struct collectives *table, size_t bytes)
{
	for (size_t i = table->tsv.num_rows; bytes > 0 && i-- > 0;)
		if (table->rows[i].bytes == bytes) {
			table->rows[i].use = VALUE_CALIBRATION;
			return;
		}
}

void collectives_give_away(struct collectives *table)
{
	size_t third = 0, largest = 0;

	for (int i = 0; i < 3; i++)
		third = size_above(table, third);
	for (size_t next = 0; (next = size_above(table, next)) != 0;)
		largest = next;
	if (third <= SMALL_BYTES)
		give_away(table, third);
	give_away(table, largest);
}
