#include "cli/critical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/quantity.h"

/* As many legs as one line tells of: calls of one kind, each of which waited
 * for the one before alone. */
struct stretch {
	const struct dist__leg *first;
	size_t num;
	int64_t bytes;
};

/* Legs that come again and again, told once from so many repeats on. */
struct round {
	size_t num;
	size_t repeats;
};

#define MOST_ROUND    12
#define LEAST_REPEATS 3

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static int64_t sum(const struct dist__path *path, enum dist__leg_kind kind)
{
	int64_t ns = 0;

	for (size_t i = 0; i < path->num_legs; i++)
		if (path->legs[i].kind == kind)
			ns += path->legs[i].ended_ns - path->legs[i].started_ns;
	return ns;
}

/* ---- words ------------------------------------------------------------- */

/* Whether b goes on as a does, so that one line can tell of both. */
static bool goes_on(const struct dist__leg *a, const struct dist__leg *b)
{
	return b->kind == DIST__LEG_MOVE && b->queued &&
	       dist__same_text(a->call->op, b->call->op) &&
	       dist__same_text(a->call->algorithm, b->call->algorithm) &&
	       dist__same_text(a->call->group, b->call->group);
}

/* The stretch at leg i, before leg `end`. */
static struct stretch stretch_at(const struct dist__path *path, size_t i,
				 size_t end)
{
	const struct dist__leg *leg = &path->legs[i];
	struct stretch s = {.first = leg, .num = 1};

	if (leg->kind != DIST__LEG_MOVE)
		return s;
	s.bytes = leg->call->bytes;
	for (; i + s.num < end; s.num++) {
		if (!goes_on(leg, leg + s.num))
			break;
		s.bytes += leg[s.num].call->bytes;
	}
	return s;
}

static bool came_late(const struct dist__leg *move)
{
	return move->call->started_ns > move->first_ns;
}

/* Whether two legs are told in the same words, but for when. */
static bool alike(const struct dist__leg *a, const struct dist__leg *b)
{
	if (a->kind != b->kind || a->rank != b->rank)
		return false;
	if (a->kind == DIST__LEG_COMPUTE)
		return dist__same_text(a->label, b->label);
	return a->kind == DIST__LEG_OTHER ||
	       (dist__same_text(a->call->op, b->call->op) &&
		dist__same_text(a->call->algorithm, b->call->algorithm) &&
		dist__same_text(a->call->group, b->call->group) &&
		a->call->bytes == b->call->bytes &&
		a->call->peer == b->call->peer && a->queued == b->queued &&
		came_late(a) == came_late(b));
}

/* How often the num legs at i come again right after themselves. */
static size_t repeats_of(const struct dist__path *path, size_t i, size_t num)
{
	size_t next = i + num;

	while (next < path->num_legs &&
	       alike(&path->legs[next - num], &path->legs[next]))
		next++;
	return (next - i) / num - 1;
}

/* Legs from i on that are told once, for they come again and again; num is how
 * many, 0: none. What is one stretch anyway is no round. */
static struct round round_at(const struct dist__path *path, size_t i)
{
	struct round round = {.num = 1};

	for (; round.num <= MOST_ROUND; round.num++) {
		if (i + round.num > path->num_legs)
			break;
		round.repeats = repeats_of(path, i, round.num);
		if (round.repeats >= LEAST_REPEATS &&
		    stretch_at(path, i, i + round.num + 1).num <= round.num)
			return round;
	}
	return (struct round){.num = 0};
}

static const char line_columns[] = "at_ms;took_ms;rank;|what;|why then";

/* The link that holds up the first of its calls that is held up; NULL: none. */
static const char *link_of(const struct stretch *s)
{
	for (size_t i = 0; i < s->num; i++)
		if (s->first[i].call && s->first[i].call->link)
			return s->first[i].call->link;
	return NULL;
}

/* What a stretch does. */
static void describe(const struct stretch *s, char *text, size_t size)
{
	const struct dist__trace_call *call = s->first->call;
	const struct dist__leg *last = s->first + s->num - 1;
	char number[32] = "", bytes[24] = "", by[32] = "", link[64] = "";

	if (s->first->kind == DIST__LEG_COMPUTE)
		snprintf(text, size, "computes %.40s", s->first->label);
	if (s->first->kind == DIST__LEG_OTHER)
		snprintf(text, size, "does what is not told");
	if (s->first->kind != DIST__LEG_MOVE)
		return;
	if (dist__trace_is_p2p(call))
		snprintf(number, sizeof number, " %s %d",
			 strcmp(call->op, "send") == 0 ? "to" : "from",
			 call->peer);
	else if (s->num > 1)
		snprintf(number, sizeof number, " %u to %u",
			 (unsigned)call->seq, (unsigned)last->call->seq);
	else
		snprintf(number, sizeof number, " %u", (unsigned)call->seq);
	if (s->bytes > 0)
		dist__size_text(bytes, sizeof bytes, s->bytes);
	if (call->algorithm)
		snprintf(by, sizeof by, " by %.27s", call->algorithm);
	if (link_of(s))
		snprintf(link, sizeof link, ", held up by %.45s", link_of(s));
	snprintf(text, size, "%.32s%s%s%s%s%s", call->op, number,
		 *bytes ? ", " : "", bytes, by, link);
}

/* Why it was then that it began. */
static void explain(const struct dist__leg *leg, char *text, size_t size)
{
	if (leg->kind != DIST__LEG_MOVE)
		*text = '\0';
	else if (leg->queued)
		snprintf(text, size, "issued %.3f ms before, waited its turn",
			 ms(leg->started_ns - leg->call->issued_ns));
	else if (came_late(leg))
		snprintf(text, size, "came last, %.3f ms after the first",
			 ms(leg->call->started_ns - leg->first_ns));
	else
		snprintf(text, size, "%s",
			 leg->untold ? "other ranks' traces would tell"
				     : "all came together");
}

/* Legs from i to end, a line each or less. */
static void add_lines(struct dist__rows *table, const struct dist__path *path,
		      size_t i, size_t end, int64_t from_ns)
{
	while (i < end) {
		const struct stretch s = stretch_at(path, i, end);
		const struct dist__leg *first = s.first,
				       *last = first + s.num - 1;
		char what[192], why[64];

		describe(&s, what, sizeof what);
		explain(first, why, sizeof why);
		ADD_ROW(table, cell_fixed(3, ms(first->started_ns - from_ns)),
			cell_fixed(3, ms(last->ended_ns - first->started_ns)),
			cell_int(first->rank), cell_copy(what), cell_copy(why));
		i += s.num;
	}
}

/* The repeats of the round at leg i, in one line. */
static void add_repeats(struct dist__rows *table, const struct dist__path *path,
			size_t i, struct round round, int64_t from_ns)
{
	const struct dist__leg *first = &path->legs[i + round.num];
	const struct dist__leg *last = first + round.num * round.repeats - 1;
	char what[64];

	snprintf(what, sizeof what, "the same %zu times more", round.repeats);
	ADD_ROW(table, cell_fixed(3, ms(first->started_ns - from_ns)),
		cell_fixed(3, ms(last->ended_ns - first->started_ns)),
		cell_int(CELL_UNKNOWN), cell_copy(what), cell_text(""));
}

/* Prints the sums, then the table, which it releases. */
static int print_below_sums(const struct dist__path *path,
			    struct dist__rows *table, enum dist__form form,
			    FILE *out)
{
	int status;
	int64_t compute_ns = sum(path, DIST__LEG_COMPUTE);
	int64_t move_ns = sum(path, DIST__LEG_MOVE);
	int64_t other_ns = sum(path, DIST__LEG_OTHER);

	fprintf(out,
		"critical path: %.3f ms = %.3f ms computing + %.3f ms moving",
		ms(compute_ns + move_ns + other_ns), ms(compute_ns),
		ms(move_ns));
	if (other_ns > 0)
		fprintf(out, " + %.3f ms not told", ms(other_ns));
	fputc('\n', out);
	if (form == FORM_MARKDOWN)
		fputc('\n', out);
	status = dist__rows_print(table, form, out);
	dist__rows_release(table);
	return status;
}

int critical_print(const struct dist__path *path, int64_t from_ns,
		   enum dist__form form, FILE *out)
{
	struct dist__rows table = {.columns = line_columns, .unknown = ""};
	size_t told = 0; /* legs before this one */

	if (path->num_legs == 0) {
		fputs(path->is_remote
			      ? "no critical path: remote calls are in the "
				"trace, and a path through them is not found\n"
			      : "no critical path: no call is in the trace\n",
		      out);
		return 0;
	}
	for (size_t i = 0; i < path->num_legs;) {
		struct round round = round_at(path, i);

		if (round.num == 0) {
			i++;
			continue;
		}
		add_lines(&table, path, told, i + round.num, from_ns);
		add_repeats(&table, path, i, round, from_ns);
		i += round.num * (1 + round.repeats);
		told = i;
	}
	add_lines(&table, path, told, path->num_legs, from_ns);
	return print_below_sums(path, &table, form, out);
}

/* ---- parts ------------------------------------------------------------- */

#define MOST_PARTS 64

/* Legs that do the same but for numbers. */
struct part {
	char what[96];
	size_t times;
	int64_t ns;
};

/* Copies text without its words that are numbers. */
static void copy_without_numbers(const char *text, char *to, size_t size)
{
	size_t used = 0;

	while (*text && used + 1 < size) {
		size_t len = strcspn(text, " "), word = len;

		if (strcspn(text, "0123456789") < len)
			word = 0;
		if (word >= size - used)
			word = size - used - 1;
		if (word && used)
			to[used++] = ' ';
		if (word >= size - used)
			word = size - used - 1;
		memcpy(to + used, text, word);
		used += word;
		text += len + strspn(text + len, " ");
	}
	to[used] = '\0';
}

static void add_part(struct part parts[MOST_PARTS], size_t *num,
		     const struct dist__leg *leg)
{
	char what[96];
	size_t i = 0;
	const struct stretch alone = {.first = leg, .num = 1};
	char words[80] = "";

	if (leg->kind == DIST__LEG_COMPUTE) {
		copy_without_numbers(leg->label, words, sizeof words);
		/* "backward layer mb": whose number is gone, too. */
		if (strlen(words) > 3 &&
		    strcmp(words + strlen(words) - 3, " mb") == 0)
			words[strlen(words) - 3] = '\0';
		snprintf(what, 96, "computes %s", words);
	} else if (leg->kind == DIST__LEG_MOVE) {
		const char *link = link_of(&alone);

		copy_without_numbers(leg->call->group ? leg->call->group : "",
				     words, sizeof words);
		snprintf(what, 96, "%.32s%s%.20s%s%.32s", leg->call->op,
			 *words ? " of " : "", words,
			 link ? ", held up by " : "", link ? link : "");
	} else {
		snprintf(what, 96, "does what is not told");
	}
	while (i < *num && strcmp(parts[i].what, what) != 0)
		i++;
	if (i == MOST_PARTS - 1 && i == *num)
		snprintf(what, sizeof what, "others");
	if (i == MOST_PARTS)
		i--;
	if (i == *num)
		snprintf(parts[(*num)++].what, sizeof parts[0].what, "%s",
			 what);
	parts[i].times++;
	parts[i].ns += leg->ended_ns - leg->started_ns;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *left = a, *right = b;

	return left->ns < right->ns ? 1 : -(left->ns > right->ns);
}

/* The line of sums, and one for each group of legs that differ only in numbers
 * ("computes backward layer"), the longest first. */
static int print_parts(const struct dist__path *path, enum dist__form form,
		       FILE *out)
{
	struct dist__rows table = {.columns = "what;times;took_ms;share"};
	struct part parts[MOST_PARTS] = {{.times = 0}};
	int64_t whole = sum(path, DIST__LEG_COMPUTE) +
			sum(path, DIST__LEG_MOVE) + sum(path, DIST__LEG_OTHER);
	size_t num = 0;

	for (size_t i = 0; i < path->num_legs; i++)
		add_part(parts, &num, &path->legs[i]);
	qsort(parts, num, sizeof parts[0], compare_parts);
	for (size_t i = 0; i < num; i++)
		ADD_ROW(&table, cell_text(parts[i].what),
			cell_size(parts[i].times),
			cell_fixed(3, ms(parts[i].ns)),
			cell_percent((double)parts[i].ns / (double)whole));
	return print_below_sums(path, &table, form, out);
}

/* ---- for machines ------------------------------------------------------ */

static const char leg_columns[] = "kind;rank;at_ms;took_ms;label;op;group;seq;"
				  "bytes;algorithm;queued;late_ms;issued_ms";

static void add_leg(struct dist__rows *table, const struct dist__leg *leg,
		    int64_t from_ns)
{
	static const char *const kinds[] = {"compute", "move", "other"};
	static const struct dist__trace_call none = {.bytes = CELL_UNKNOWN};
	bool moves = leg->kind == DIST__LEG_MOVE;
	const struct dist__trace_call *call = moves ? leg->call : &none;

	ADD_ROW(table, cell_text(kinds[leg->kind]), cell_int(leg->rank),
		cell_fixed(3, ms(leg->started_ns - from_ns)),
		cell_fixed(3, ms(leg->ended_ns - leg->started_ns)),
		cell_text(leg->kind == DIST__LEG_COMPUTE ? leg->label : NULL),
		cell_text(call->op), cell_text(call->group),
		cell_int(moves ? (int64_t)call->seq : CELL_UNKNOWN),
		cell_int(call->bytes), cell_text(call->algorithm),
		cell_json(moves ? json_boolean(leg->queued) : json_null()),
		cell_real(moves ? ms(call->started_ns - leg->first_ns) : NAN),
		cell_real(moves ? ms(call->issued_ns - from_ns) : NAN));
}

struct dist__rows critical_legs(const struct dist__path *path, int64_t from_ns)
{
	struct dist__rows legs = {.columns = leg_columns};

	for (size_t i = 0; i < path->num_legs; i++)
		add_leg(&legs, &path->legs[i], from_ns);
	return legs;
}

json_t *critical_json(const struct dist__path *path, int64_t from_ns)
{
	struct dist__rows legs = critical_legs(path, from_ns);
	json_t *object = json_pack("{s:f, s:f, s:f, s:o}", "compute_ms",
				   ms(sum(path, DIST__LEG_COMPUTE)), "move_ms",
				   ms(sum(path, DIST__LEG_MOVE)), "other_ms",
				   ms(sum(path, DIST__LEG_OTHER)), "legs",
				   dist__rows_json(&legs));

	dist__rows_release(&legs);
	return object;
}

/* ---- of a predicted step ------------------------------------------------ */

/* What the steps of all workloads begin after: the last barrier of all. */
static int64_t find_start(const struct dist__trace *trace)
{
	int64_t start_ns = 0;

	for (size_t i = 0; i < trace->num_calls; i++) {
		const struct dist__trace_call *call = &trace->calls[i];

		if (strcmp(call->op, "barrier") == 0 &&
		    call->ended_ns > start_ns)
			start_ns = call->ended_ns;
	}
	return start_ns;
}

enum dist_error explanation_make(struct explanation *explanation, int ranks,
				 int64_t step_ns)
{
	explanation->ranks = ranks;
	explanation->from_ns = find_start(&explanation->trace);
	return dist__path_find(&explanation->trace, explanation->from_ns,
			       explanation->from_ns + step_ns,
			       &explanation->path);
}

int explanation_print(const struct explanation *explanation, bool in_parts,
		      enum dist__form form, FILE *out)
{
	if (explanation->ranks == 0)
		return 0;
	fprintf(out, "\nwith %d ranks, ", explanation->ranks);
	return in_parts ? print_parts(&explanation->path, form, out)
			: critical_print(&explanation->path,
					 explanation->from_ns, form, out);
}

json_t *explanation_json(const struct explanation *explanation)
{
	json_t *object;

	if (explanation->ranks == 0)
		return NULL;
	object = critical_json(&explanation->path, explanation->from_ns);
	if (object)
		json_object_set_new(object, "world_size",
				    json_integer(explanation->ranks));
	return object;
}

void explanation_release(struct explanation *explanation)
{
	dist__path_release(&explanation->path);
	dist__trace_release(&explanation->trace);
	memset(explanation, 0, sizeof *explanation);
}
