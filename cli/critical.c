#include "cli/critical.h"

#include <string.h>

#include "cli/columns.h"

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

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether b goes on as a does, so that one line can tell of both. */
static bool goes_on(const struct dist__leg *a, const struct dist__leg *b)
{
	return b->kind == DIST__LEG_MOVE && b->queued &&
	       same_text(a->call->op, b->call->op) &&
	       same_text(a->call->algorithm, b->call->algorithm) &&
	       same_text(a->call->group, b->call->group);
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
		return same_text(a->label, b->label);
	return a->kind == DIST__LEG_OTHER ||
	       (same_text(a->call->op, b->call->op) &&
		same_text(a->call->algorithm, b->call->algorithm) &&
		same_text(a->call->group, b->call->group) &&
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

static void add_move(struct columns *columns, const struct stretch *s)
{
	const struct dist__trace_call *call = s->first->call;
	const struct dist__leg *last = s->first + s->num - 1;
	char number[48] = "", bytes[24] = "", by[48] = "";

	if (dist__trace_is_p2p(call))
		snprintf(number, sizeof(number), " %s %d",
			 strcmp(call->op, "send") == 0 ? "to" : "from",
			 call->peer);
	else if (s->num > 1)
		snprintf(number, sizeof(number), " %u to %u",
			 (unsigned)call->seq, (unsigned)last->call->seq);
	else
		snprintf(number, sizeof(number), " %u", (unsigned)call->seq);
	if (s->bytes > 0)
		columns_bytes_text(bytes, sizeof(bytes), s->bytes);
	if (call->algorithm)
		snprintf(by, sizeof(by), " by %.40s", call->algorithm);
	columns_add(columns, "%.32s%s%s%s%s", call->op, number,
		    *bytes ? ", " : "", bytes, by);
}

/* Why it was then that it began. */
static void add_reason(struct columns *columns, const struct dist__leg *leg)
{
	if (leg->kind != DIST__LEG_MOVE)
		columns_add(columns, "%s", "");
	else if (leg->queued)
		columns_add(columns, "issued %.3f ms before, waited its turn",
			    ms(leg->started_ns - leg->call->issued_ns));
	else if (came_late(leg))
		columns_add(columns, "came last, %.3f ms after the first",
			    ms(leg->call->started_ns - leg->first_ns));
	else
		columns_add(columns, "%s", "all came together");
}

static void add_line(struct columns *columns, const struct stretch *s,
		     int64_t from_ns)
{
	const struct dist__leg *last = s->first + s->num - 1;

	columns_add(columns, "%.3f", ms(s->first->started_ns - from_ns));
	columns_add(columns, "%.3f", ms(last->ended_ns - s->first->started_ns));
	columns_add(columns, "%d", s->first->rank);
	if (s->first->kind == DIST__LEG_MOVE)
		add_move(columns, s);
	else if (s->first->kind == DIST__LEG_COMPUTE)
		columns_add(columns, "computes %.40s", s->first->label);
	else
		columns_add(columns, "does what is not told");
	add_reason(columns, s->first);
}

/* Legs from i to end, a line each or less. */
static void add_lines(struct columns *columns, const struct dist__path *path,
		      size_t i, size_t end, int64_t from_ns)
{
	while (i < end) {
		const struct stretch s = stretch_at(path, i, end);

		add_line(columns, &s, from_ns);
		i += s.num;
	}
}

/* The repeats of the round at leg i, in one line. */
static void add_repeats(struct columns *columns, const struct dist__path *path,
			size_t i, struct round round, int64_t from_ns)
{
	const struct dist__leg *first = &path->legs[i + round.num];
	const struct dist__leg *last = first + round.num * round.repeats - 1;

	columns_add(columns, "%.3f", ms(first->started_ns - from_ns));
	columns_add(columns, "%.3f", ms(last->ended_ns - first->started_ns));
	columns_add(columns, "%s", "");
	columns_add(columns, "the same %zu times more", round.repeats);
	columns_add(columns, "%s", "");
}

static void print_sums(const struct dist__path *path, FILE *out)
{
	int64_t compute_ns = sum(path, DIST__LEG_COMPUTE);
	int64_t move_ns = sum(path, DIST__LEG_MOVE);
	int64_t other_ns = sum(path, DIST__LEG_OTHER);

	fprintf(out,
		"critical path: %.3f ms = %.3f ms computing + %.3f ms "
		"moving",
		ms(compute_ns + move_ns + other_ns), ms(compute_ns),
		ms(move_ns));
	if (other_ns > 0)
		fprintf(out, " + %.3f ms not told", ms(other_ns));
	fputc('\n', out);
}

int critical_print(const struct dist__path *path, int64_t from_ns, FILE *out)
{
	static const char *const names[] = {">at_ms", ">took_ms", ">rank",
					    "what",   "why then", NULL};
	struct columns columns;
	size_t told = 0; /* legs before this one */
	int status;

	columns_init(&columns, names);
	for (size_t i = 0; i < path->num_legs;) {
		struct round round = round_at(path, i);

		if (round.num == 0) {
			i++;
			continue;
		}
		add_lines(&columns, path, told, i + round.num, from_ns);
		add_repeats(&columns, path, i, round, from_ns);
		i += round.num * (1 + round.repeats);
		told = i;
	}
	add_lines(&columns, path, told, path->num_legs, from_ns);
	print_sums(path, out);
	status = columns_print(&columns, out);
	columns_release(&columns);
	return status;
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *json_leg(const struct dist__leg *leg, int64_t from_ns)
{
	static const char *const kinds[] = {"compute", "move", "other"};
	const struct dist__trace_call *call = leg->call;
	json_t *object = json_pack("{s:s, s:i, s:f, s:f}", "kind",
				   kinds[leg->kind], "rank", leg->rank, "at_ms",
				   ms(leg->started_ns - from_ns), "took_ms",
				   ms(leg->ended_ns - leg->started_ns));

	if (leg->kind == DIST__LEG_COMPUTE)
		json_object_set_new(object, "label", json_string(leg->label));
	if (leg->kind != DIST__LEG_MOVE)
		return object;
	json_object_update_new(
		object,
		json_pack("{s:s, s:s, s:I, s:I, s:b, s:f, s:f}", "op", call->op,
			  "group", call->group, "seq", (json_int_t)call->seq,
			  "bytes", (json_int_t)call->bytes, "queued",
			  leg->queued, "late_ms",
			  ms(call->started_ns - leg->first_ns), "issued_ms",
			  ms(call->issued_ns - from_ns)));
	if (call->algorithm)
		json_object_set_new(object, "algorithm",
				    json_string(call->algorithm));
	return object;
}

json_t *critical_json(const struct dist__path *path, int64_t from_ns)
{
	json_t *legs = json_array();

	for (size_t i = 0; i < path->num_legs; i++)
		json_array_append_new(legs, json_leg(&path->legs[i], from_ns));
	return json_pack("{s:f, s:f, s:f, s:o}", "compute_ms",
			 ms(sum(path, DIST__LEG_COMPUTE)), "move_ms",
			 ms(sum(path, DIST__LEG_MOVE)), "other_ms",
			 ms(sum(path, DIST__LEG_OTHER)), "legs", legs);
}
