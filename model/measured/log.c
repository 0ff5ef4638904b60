/* log.c - what nccl-tests printed, read as rows. */
#include "model/measured/log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"
#include "model/measured/log_head.h"
#include "model/measured/log_json.h"
#include "model/measured/log_line.h"

#define WORDS 64

/* Where the columns are that a table has; 0: not there (size comes first). */
struct layout {
	size_t num; /* columns; 0: not named yet */
	size_t type, redop, last;
	size_t time[2], algbw[2], busbw[2], wrong[2]; /* out of and in place */
	double unit_us;                               /* of the times */
	const char *prefix; /* of the lines, of the launcher's */
	int line;
};

/* The reader: what it reads into, and what it knows. */
struct reader {
	struct collectives *table;
	const struct log_facts *facts;
	struct log_notes *notes;
	struct log_run run;
	size_t first_row; /* of the run, in the table */
	struct layout layout;
	const char *stranger; /* whose table this is instead; NULL: unknown */
	json_t *document;     /* owned; NULL: a log of lines */
	struct dist_message *message;
	int line;
};

static enum dist_error refuse(const struct reader *r, const char *expected)
{
	return dist__tsv_refuse(&r->table->tsv, r->line, r->message, "%s",
				expected);
}

/* ---- columns ---------------------------------------------------------- */

static bool is_word(const char *word, const char *one, const char *other)
{
	return strcmp(word, one) == 0 || (other && strcmp(word, other) == 0);
}

/* The first of two columns that is free. */
static void add_column(size_t columns[2], size_t at)
{
	columns[columns[0] ? 1 : 0] = at;
}

static enum dist_error name_columns(struct reader *r, char *const *words,
				    size_t num)
{
	struct layout *layout = &r->layout;

	*layout = (struct layout){.num = num,
				  .prefix = layout->prefix,
				  .unit_us = 1,
				  .line = r->line};
	/* nccl-tests 1.0 has "bytes N type op", and milliseconds. */
	if (strcmp(words[0], "bytes") == 0)
		layout->unit_us = 1e3;
	for (size_t i = 1; i < num; i++) {
		if (strcmp(words[i], "cputime") == 0)
			return refuse(r, "times of the GPU: -C 1 reports the "
					 "processor's");
		if (strcmp(words[i], "type") == 0)
			layout->type = i;
		if (is_word(words[i], "redop", "op"))
			layout->redop = i;
		if (strcmp(words[i], "time") == 0)
			add_column(layout->time, i);
		if (strcmp(words[i], "algbw") == 0)
			add_column(layout->algbw, i);
		if (strcmp(words[i], "busbw") == 0)
			add_column(layout->busbw, i);
		if (strcmp(words[i], "#wrong") == 0)
			add_column(layout->wrong, i);
	}
	return layout->time[0] ? DIST_OK : refuse(r, "a column time");
}

/* Finds "size count type" in the line, behind any prefix; NULL: it has not. */
static char *find_columns(char *line)
{
	const char *at = line, *word, *first = NULL;
	bool counts = false;
	size_t len;

	while ((word = log_line_word(&at, &len))) {
		if (len == 4 && strncmp(word, "type", 4) == 0 && counts)
			return line + (first - line);
		if ((len == 5 && strncmp(word, "count", 5) == 0) ||
		    (len == 1 && *word == 'N'))
			counts = first != NULL;
		else if ((len == 4 && strncmp(word, "size", 4) == 0) ||
			 (len == 5 && strncmp(word, "bytes", 5) == 0))
			first = word;
		else
			first = NULL;
	}
	return NULL;
}

/* Cuts the line to what the launcher put in front. */
static void keep_prefix(struct reader *r, char *line, char *columns)
{
	while (columns > line && (columns[-1] == ' ' || columns[-1] == '#'))
		columns--;
	*columns = '\0';
	r->layout.prefix = line;
}

/* ---- rows ------------------------------------------------------------- */

/* Reads a decimal number, which large ones have as "1.2e+07". Returns false: it
 * is none. */
static bool read_number(const char *word, double unit,
			struct value_number *number)
{
	size_t len = strcspn(word, "e");
	char mantissa[24];
	long power = 0;
	char *end;

	if (len >= sizeof mantissa)
		return false;
	memcpy(mantissa, word, len);
	mantissa[len] = '\0';
	if (value_read_number(mantissa, number))
		return false;
	if (word[len]) {
		power = strtol(word + len + 1, &end, 10);
		if (*end || end == word + len + 1 || power < 0 || power > 18)
			return false;
	}
	number->value *= unit * pow(10, (double)power);
	number->rounding *= unit * pow(10, (double)power);
	return true;
}

/* A test without one of the places has "N/A" or "-" there. */
static bool is_none(const char *word)
{
	return is_word(word, "N/A", "-");
}

/* words, each behind redop, where a row has no word for that, one earlier. */
static enum dist_error read_place(struct reader *r, char *const *words,
				  size_t bytes, int place, const char *dtype)
{
	const struct layout *layout = &r->layout;
	const char *time = words[layout->time[place]];
	size_t wrong = layout->wrong[place];
	bool in_place = place || (!layout->time[1] && r->run.in_place);
	const struct collective_row empty = {.use = VALUE_VALIDATION};
	struct collective_row *row;

	if (is_none(time))
		return DIST_OK;
	row = collectives_add(r->table, &empty, r->line);
	if (!row)
		return DIST_ERR_NO_MEMORY;
	row->bytes = bytes;
	row->place = in_place ? "in" : "out";
	row->memory = "device";
	row->statistic = "mean";
	row->dtype = dtype;
	if (bytes == 0)
		row->use = VALUE_NEITHER;
	if (!read_number(time, layout->unit_us, &row->time_us) ||
	    row->time_us.value <= 0)
		return refuse(r, "a time above 0 in column time");
	if (layout->algbw[place])
		row->algbw_GBps.known = read_number(words[layout->algbw[place]],
						    1, &row->algbw_GBps);
	if (layout->busbw[place])
		row->busbw_GBps.known = read_number(words[layout->busbw[place]],
						    1, &row->busbw_GBps);
	if (wrong && wrong < layout->last && strcmp(words[wrong], "0") != 0 &&
	    !is_none(words[wrong]))
		r->notes->wrong_rows++;
	return DIST_OK;
}

/* What must be there of a place. */
static size_t end_of_place(const struct layout *layout, int place)
{
	size_t end = layout->time[place];

	if (layout->algbw[place] > end)
		end = layout->algbw[place];
	return (layout->busbw[place] > end ? layout->busbw[place] : end) + 1;
}

static enum dist_error read_row(struct reader *r, char **words, size_t num)
{
	struct layout *layout = &r->layout;
	const char *dtype = NULL;
	enum dist_error error;
	size_t bytes;

	if (!layout->num)
		return refuse(r, "the line \"# size count ...\" before rows");
	/* What NCCL says, "HOST:PID:TID [GPU] NCCL WARN", may break a row. */
	for (size_t i = 2; i < num; i++)
		if (strcmp(words[i], "NCCL") == 0)
			num = i - 2;
	/* Tests that reduce nothing leave redop blank until 2.12. */
	if (layout->redop && num + 1 == layout->num) {
		memmove(words + layout->redop + 1, words + layout->redop,
			(num - layout->redop) * sizeof *words);
		num++;
	}
	layout->last = num;
	(void)value_read_size(words[0], &bytes);
	if (layout->type < num)
		(void)log_type_find(words[layout->type], &dtype);
	if (num < end_of_place(layout, 0)) {
		r->notes->cut_rows++;
		return DIST_OK;
	}
	error = read_place(r, words, bytes, 0, dtype);
	if (error || !layout->time[1])
		return error;
	if (num < end_of_place(layout, 1)) {
		r->notes->cut_rows++;
		return DIST_OK;
	}
	return read_place(r, words, bytes, 1, dtype);
}

/* Whether text begins with a size, a count and a type. */
static bool is_row(const char *text)
{
	const char *at = text, *word, *ignored;
	char copy[16];
	size_t len;

	for (int i = 0; i < 3; i++) {
		word = log_line_word(&at, &len);
		if (!word || len >= sizeof copy)
			return false;
		memcpy(copy, word, len);
		copy[len] = '\0';
		if (i < 2 ? copy[strspn(copy, "0123456789")] != '\0'
			  : !log_type_find(copy, &ignored))
			return false;
	}
	return true;
}

/* The row that the line is, behind any prefix; NULL: it is none. */
static char *find_row(const struct reader *r, char *line)
{
	const char *prefix = r->layout.prefix;
	char *text = prefix ? log_line_skip(line, prefix) : line;

	text = text ? text : line;
	text += strspn(text, " \t");
	text += *text == '#';
	return is_row(text) ? text : NULL;
}

/* ---- runs ------------------------------------------------------------- */

/* What the ratio of busbw and algbw says: the collective or the ranks. */
static double ratio_of(const struct reader *r)
{
	for (size_t i = r->table->tsv.num_rows; i-- > r->first_row;) {
		const struct collective_row *row = &r->table->rows[i];

		if (row->algbw_GBps.known && row->busbw_GBps.known &&
		    row->algbw_GBps.value >= 1)
			return row->busbw_GBps.value / row->algbw_GBps.value;
	}
	return 0;
}

static enum dist_error refuse_uncounted(const struct reader *r,
					enum collective collective)
{
	double ratio = ratio_of(r);
	double left =
		collective == COLLECTIVE_ALL_REDUCE ? 1 - ratio / 2 : 1 - ratio;

	if (ratio > 0 && left > 0.004)
		return dist__tsv_refuse(
			&r->table->tsv, r->line, r->message,
			"the number of ranks, which it does not say: --ranks "
			"%.0f, as busbw is %.4g of algbw",
			1 / left, ratio);
	return refuse(r,
		      "the number of ranks, which it does not say: --ranks N");
}

/* The transport between nodes: given, or the only one of the machine that NCCL
 * may call as it did. */
static enum dist_error find_transport(const struct reader *r,
				      const char **transport)
{
	const struct machine *machine = r->facts->described;
	const char *network = r->run.network, *given = r->facts->transport;
	char names[160] = "", said[80] = "";
	size_t found = 0;

	if (network)
		snprintf(said, sizeof said,
			 "; NCCL says \"Using network %.40s\"", network);
	for (size_t i = 0; machine && i < machine->num_networks; i++) {
		const char *name = machine->networks[i].transport;

		(void)dist__append(names, sizeof names, "%s%s",
				   *names ? " or " : "", name);
		if (network && !log_network_has(network, name))
			continue;
		*transport = name;
		found++;
	}
	if (given)
		*transport = given;
	if (given ? !network || log_network_has(network, given) : found == 1)
		return DIST_OK;
	if (machine && !machine->num_networks)
		return dist__tsv_refuse(&r->table->tsv, r->line, r->message,
					"one node: %s has no network",
					r->facts->machine);
	return dist__tsv_refuse(
		&r->table->tsv, r->line, r->message,
		"the transport between its nodes: --transport %s%s",
		names[0] ? names : "T", said);
}

/* The same of all rows of the run; what is not known is refused. */
static enum dist_error find_facts(const struct reader *r,
				  struct collective_row *all)
{
	const struct log_facts *facts = r->facts;
	const struct log_run *run = &r->run;
	const struct machine *machine = facts->described;

	if (facts->collective)
		(void)collective_find(facts->collective, &all->collective);
	else if (!run->test || run->ambiguous)
		return dist__tsv_refuse(
			&r->table->tsv, r->line, r->message,
			"the collective, which %s: --collective%s",
			r->run.ambiguous ? "several commands before it name"
					 : "it does not say",
			ratio_of(r) > 1.01
				? " all_reduce, as busbw is above algbw"
				: " NAME");
	else
		all->collective = run->test->collective;
	all->ranks = facts->ranks ? facts->ranks : log_run_ranks(run);
	all->nodes = facts->nodes ? facts->nodes : log_run_nodes(run);
	if (all->ranks < 1)
		return refuse_uncounted(r, all->collective);
	if (all->ranks == 1)
		return refuse(r,
			      "2 ranks or more (nccl-tests built with MPI=1)");
	if (all->nodes < 1)
		return refuse(r, "the number of nodes, which it does not say: "
				 "--nodes N");
	if (all->ranks % all->nodes != 0)
		return dist__tsv_refuse(&r->table->tsv, r->line, r->message,
					"nodes that have as many ranks each, "
					"not %d ranks on %d nodes",
					all->ranks, all->nodes);
	if (machine && run->gpu && !machine_has_gpu(machine, run->gpu))
		return dist__tsv_refuse(
			&r->table->tsv, r->line, r->message,
			"GPUs of %s, %s, not %.60s: --machine of those",
			facts->machine, machine->gpu, run->gpu);
	all->machine = facts->machine;
	all->library = facts->library;
	all->version = facts->version ? facts->version : run->version;
	all->algorithm = run->algorithm;
	all->protocol = run->protocol;
	all->process_ranks = run->process_ranks;
	all->transport = "-";
	return all->nodes > 1 ? find_transport(r, &all->transport) : DIST_OK;
}

static void fill_row(struct collective_row *row,
		     const struct collective_row *all)
{
	row->collective = all->collective;
	row->machine = all->machine;
	row->transport = all->transport;
	row->library = all->library;
	row->version = all->version;
	row->algorithm = all->algorithm;
	row->protocol = all->protocol;
	row->nodes = all->nodes;
	row->ranks = all->ranks;
	row->process_ranks = all->process_ranks;
	/* Until 2020 the algbw of these two was what is busbw since. */
	if ((all->collective == COLLECTIVE_ALL_GATHER ||
	     all->collective == COLLECTIVE_REDUCE_SCATTER) &&
	    row->algbw_GBps.known && row->busbw_GBps.known &&
	    row->algbw_GBps.value == row->busbw_GBps.value)
		row->algbw_GBps.known = false;
}

/* Ends the run: its rows get what they have in common. */
static enum dist_error end_run(struct reader *r)
{
	struct collectives *table = r->table;
	const struct log_test *test = r->run.test;
	struct collective_row all = {.bytes = 0};
	enum dist_error error;
	int line = r->line;

	if (table->tsv.num_rows > r->first_row) {
		if (!r->facts->collective && test && test->why) {
			r->notes->skipped = test->name;
			r->notes->why = test->why;
			table->tsv.num_rows = r->first_row;
		} else {
			r->line = r->layout.line;
			error = find_facts(r, &all);
			r->line = line;
			if (error)
				return error;
		}
	}
	for (size_t i = r->first_row; i < table->tsv.num_rows; i++)
		fill_row(&table->rows[i], &all);
	r->first_row = table->tsv.num_rows;
	log_run_next(&r->run);
	return DIST_OK;
}

static enum dist_error read_head(struct reader *r, char *line)
{
	bool no_memory = false;
	const char *expected;
	enum dist_error error = DIST_OK;

	if (r->table->tsv.num_rows > r->first_row && log_head_begins(line))
		error = end_run(r);
	if (error)
		return error;
	if (strstr(line, "# OSU MPI"))
		r->stranger = "a table of nccl-tests, not OSU's";
	if (strstr(line, "#repetitions"))
		r->stranger = "a table of nccl-tests, not Intel's";
	expected = log_head_read(&r->run, line, &no_memory);
	if (no_memory)
		return DIST_ERR_NO_MEMORY;
	return expected ? refuse(r, expected) : DIST_OK;
}

static enum dist_error read_line(struct reader *r, char *line)
{
	char *columns = find_columns(line);
	char *row = columns ? NULL : find_row(r, line);
	char *words[WORDS] = {NULL};
	enum dist_error error;
	size_t num;

	if (!columns && !row)
		return read_head(r, line);
	num = log_line_split(columns ? columns : row, words, WORDS - 1);
	if (row)
		return read_row(r, words, num);
	error = name_columns(r, words, num);
	keep_prefix(r, line, columns);
	return error;
}

/* ---- the whole -------------------------------------------------------- */

static enum dist_error read_lines(struct reader *r, size_t len)
{
	struct log_cursor cursor = {.at = r->table->tsv.text};
	enum dist_error error = DIST_OK;
	char *line;

	cursor.end = cursor.at + len;
	while (!error && (line = log_line_next(&cursor))) {
		r->line = cursor.line;
		error = read_line(r, line);
	}
	return error;
}

static enum dist_error read_json(struct reader *r)
{
	r->line = r->layout.line = 1;
	return log_json_read(r->table, &r->run, r->notes, &r->document,
			     r->message);
}

static enum dist_error read_all(struct reader *r, size_t len)
{
	enum dist_error error =
		*r->table->tsv.text == '{' ? read_json(r) : read_lines(r, len);

	if (!error)
		error = end_run(r);
	if (error || r->table->tsv.num_rows > 0)
		return error;
	r->line += r->line == 0;
	if (r->notes->skipped)
		return dist__tsv_refuse(&r->table->tsv, r->line, r->message,
					"another collective than %s: %s",
					r->notes->skipped, r->notes->why);
	if (r->notes->cut_rows > 0)
		return refuse(r, "rows with as many columns as the head names");
	return refuse(r, r->stranger ? r->stranger : "rows of nccl-tests");
}

enum dist_error collectives_load_log(struct collectives *table,
				     const char *path,
				     const struct log_facts *facts,
				     struct log_notes *notes,
				     struct dist_message *message)
{
	struct reader reader = {.table = table,
				.facts = facts,
				.notes = notes,
				.message = message};
	enum dist_error error;
	size_t len;

	*table = (struct collectives){.rows = NULL};
	*notes = (struct log_notes){.cut_rows = 0};
	error = dist__input_read(path, &table->tsv.text, &len);
	snprintf(message->text, sizeof message->text, "%.256s: %s", path,
		 error == DIST_ERR_IO ? strerror(errno) : "out of memory");
	if (error)
		return error;
	table->tsv.path = strdup(path);
	error = table->tsv.path ? read_all(&reader, len) : DIST_ERR_NO_MEMORY;
	if (!error)
		error = collectives_check(table, message);
	log_run_release(&reader.run);
	json_decref(reader.document);
	if (error)
		dist__tsv_release(&table->tsv);
	table->rows = table->tsv.rows;
	return error;
}

/* ---- calibration ------------------------------------------------------ */

#define SMALL_BYTES 4096

/* The next size above bytes of rows [from, to); 0: there is none. */
static size_t size_above(const struct collectives *table, size_t from,
			 size_t to, size_t bytes)
{
	size_t least = 0;

	for (size_t i = from; i < to; i++) {
		size_t size = table->rows[i].bytes;

		if (size > bytes && (least == 0 || size < least))
			least = size;
	}
	return least;
}

/* The last row of a size is that in place. */
static void give_away(struct collectives *table, size_t from, size_t to,
		      size_t bytes)
{
	while (bytes > 0 && to-- > from)
		if (table->rows[to].bytes == bytes) {
			table->rows[to].use = VALUE_CALIBRATION;
			return;
		}
}

/* Where the run of row `from` ends. */
static size_t end_of_run(const struct collectives *table, size_t from)
{
	const struct collective_row *first = &table->rows[from], *row = first;

	while (++from < table->tsv.num_rows) {
		row++;
		if (row->collective != first->collective ||
		    row->ranks != first->ranks || row->nodes != first->nodes ||
		    row->dtype != first->dtype ||
		    row->algorithm != first->algorithm ||
		    row->protocol != first->protocol)
			break;
	}
	return from;
}

void collectives_give_away(struct collectives *table)
{
	for (size_t from = 0, to; from < table->tsv.num_rows; from = to) {
		size_t third = 0, largest = 0, next = 0;

		to = end_of_run(table, from);
		for (int i = 0; i < 3; i++)
			third = size_above(table, from, to, third);
		while ((next = size_above(table, from, to, next)) != 0)
			largest = next;
		if (third <= SMALL_BYTES)
			give_away(table, from, to, third);
		give_away(table, from, to, largest);
	}
}
