/* Dumps of Flight Recorders: what a pickle may hold, and what becomes of those
 * that are none. tests/cli/recorder.sh has the verdicts. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/printable.h"
#include "base/random.h"
#include "check/recorder/plain.h"
#include "check/recorder/recorder.h"
#include "tests/support/board.h"
#include "tests/support/okay.h"

/* ---- pickles ------------------------------------------------------------ */

static void print(FILE *out, const struct plain *value)
{
	switch (value->kind) {
	case PLAIN_NONE:
		fputs("None", out);
		break;
	case PLAIN_BOOL:
		fputs(value->integer ? "True" : "False", out);
		break;
	case PLAIN_INTEGER:
		fprintf(out, "%lld", (long long)value->integer);
		break;
	case PLAIN_REAL:
		fprintf(out, "%g", value->real);
		break;
	case PLAIN_TEXT:
		fprintf(out, "'%.*s'", (int)value->size, value->text);
		break;
	case PLAIN_LIST:
	case PLAIN_DICT:
		fputc(value->kind == PLAIN_LIST ? '[' : '{', out);
		for (uint32_t i = 0; i < value->size; i++) {
			fputs(i ? " " : "", out);
			print(out, value->items[i]);
		}
		fputc(value->kind == PLAIN_LIST ? ']' : '}', out);
		break;
	default:
		cr_assert_fail("a mark in a container");
	}
}

/* What the pickle holds, as text, or why it is refused. */
static void expect_pickle(const char *bytes, size_t size, const char *expected)
{
	struct plain_arena arena = {.blocks = NULL};
	char why[PLAIN_WHY], *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	const struct plain *value =
		check_plain_read_pickle(&arena, bytes, size, why);

	if (value)
		print(out, value);
	else
		fputs(why, out);
	fclose(out);
	cr_expect_str_eq(text, expected);
	free(text);
	check_plain_release(&arena);
}

#define EXPECT(bytes, expected)                                                \
	expect_pickle(bytes, sizeof(bytes) - 1, expected)

Test(recorder, pickles_of_every_protocol)
{
	/* {'a': [1, -2, 300, 70000], 'b': (None, True, 1.5, 'é'), 'c': 2**40}
	 */
	EXPECT("(dp0\nVa\np1\n(lp2\nI1\naI-2\naI300\naI70000\nasVb\np3\n(NI01\n"
	       "F1.5\nV\\xe9\np4\ntp5\nsVc\np6\nL1099511627776L\ns.",
	       "{'a' [1 -2 300 70000] 'b' [None True 1.5 'é'] 'c' "
	       "1099511627776}");
	EXPECT("\x80\x02}q\x00(X\x01\x00\x00\x00"
	       "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00"
	       "eX\x01\x00\x00\x00"
	       "bq\x03(N\x88G?\xf8\x00\x00\x00\x00\x00\x00X\x02\x00\x00\x00"
	       "\xc3\xa9q\x04tq\x05X\x01\x00\x00\x00"
	       "cq\x06\x8a\x06\x00\x00\x00\x00\x00\x01u.",
	       "{'a' [1 -2 300 70000] 'b' [None True 1.5 'é'] 'c' "
	       "1099511627776}");
	EXPECT("\x80\x04\x95\x0e\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi\x94h\x00"
	       "\x89\x87.",
	       "['hi' 'hi' False]");
	EXPECT("\x80\x05"
	       "C\x02hi\x8a\x00\x86.",
	       "['hi' 0]");
	EXPECT("\x8a\x01\xff.", "-1");
	EXPECT("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", "inf");
	EXPECT("S'it''s'\n.", "'it''s'");
}

Test(recorder, pickles_that_would_run_code)
{
	EXPECT("cos\nsystem\n.", "byte 0: expected plain containers, not "
				 "GLOBAL, which would run code");
	EXPECT("\x80\x04\x8c\x02os\x8c\x06system\x93.",
	       "byte 14: expected plain containers, not STACK_GLOBAL, which "
	       "would run code");
	EXPECT("N)R.", "byte 2: expected plain containers, not REDUCE, which "
		       "would run code");
	EXPECT("NNb.", "byte 2: expected plain containers, not BUILD, which "
		       "would run code");
	EXPECT("(ios\nsystem\n.", "byte 1: expected plain containers, not "
				  "INST, which would run code");
	EXPECT("N)\x81.", "byte 2: expected plain containers, not NEWOBJ, "
			  "which would run code");
	EXPECT("NQ.", "byte 1: expected plain containers, not BINPERSID, which "
		      "would run code");
	EXPECT("\x8f.", "byte 0: expected a pickle of plain containers, not "
			"instruction 0x8f");
}

Test(recorder, pickles_that_are_none)
{
	EXPECT("", "byte 0: expected a pickle that does not end here");
	EXPECT(".", "byte 0: expected a value on the stack");
	EXPECT("(.", "byte 1: expected a value on the stack");
	EXPECT("\x80\x06N.", "byte 0: expected a pickle of protocol 0 to 5");
	EXPECT("X\xff\xff\xff\xffhi.",
	       "byte 0: expected a pickle that does not end here");
	EXPECT("Na.", "byte 1: expected a container on the stack");
	EXPECT("NNa.", "byte 2: expected a list on the stack");
	EXPECT("(Na.", "byte 2: expected a list on the stack");
	EXPECT("e.", "byte 0: expected a mark on the stack");
	EXPECT("}(Nu.", "byte 3: expected a value for each key");
	EXPECT("h\x07.", "byte 0: expected a value that was remembered");
	EXPECT("Nr\xff\xff\xff\x00.",
	       "byte 1: expected a number for the memo, not so large");
	EXPECT("Ix\n.", "byte 0: expected an integer");
	EXPECT("I1", "byte 0: expected a line that ends");
	EXPECT("N0.", "byte 2: expected a value on the stack");
}

/* A list that holds itself is read, and hurts nobody. */
Test(recorder, a_list_in_itself)
{
	static const char bytes[] = "]q\x00h\x00"
				    "a.";
	struct plain_arena arena = {.blocks = NULL};
	char why[PLAIN_WHY];
	const struct plain *value =
		check_plain_read_pickle(&arena, bytes, sizeof bytes - 1, why);

	cr_assert(value);
	cr_expect_eq(value->size, 1);
	cr_expect_eq(value->items[0], value);
	cr_expect_null(check_plain_find(value, "version"));
	check_plain_release(&arena);
}

/* A few bytes that stand for more calls, or shapes, than there is time for. */
Test(recorder, what_is_in_many_places_costs_no_more)
{
	struct check_recorder *recorder = check_recorder_new();
	size_t size = 1 << 20, len = 0;
	char *bytes = malloc(size + 256), message[256];

	/* An entry whose sizes are a list of itself, over and over. */
	len += (size_t)sprintf(bytes + len, "}(Vversion\nV2.10\nVentries\n](}"
					    "p1\n(Vprocess_group\n(V0\nV\nt"
					    "Vprofiling_name\nVnccl:all_reduce"
					    "\nVinput_sizes\n]p2\n(");
	while (len < size / 2)
		len += (size_t)sprintf(bytes + len, "g2\n");
	len += (size_t)sprintf(bytes + len, "eu");
	while (len < size)
		len += (size_t)sprintf(bytes + len, "g1\n");
	len += (size_t)sprintf(bytes + len, "eu.");
	cr_expect_not(check_recorder_add(recorder, 0, bytes, len, 0, message));
	cr_expect_str_eq(message, "entries: expected fewer values");
	free(bytes);
	check_recorder_free(recorder);
}

Test(recorder, the_rank_is_in_the_name)
{
	uint32_t rank;

	cr_assert(check_recorder_rank("/tmp/nccl_trace_rank_12", &rank));
	cr_expect_eq(rank, 12);
	cr_assert(check_recorder_rank("a.1/comm_lib_trace_rank_0", &rank));
	cr_expect_eq(rank, 0);
	cr_assert(check_recorder_rank("trace_3.json", &rank));
	cr_expect_eq(rank, 3);
	cr_expect_not(check_recorder_rank("/tmp/9/trace.json", &rank));
	cr_expect_not(check_recorder_rank("trace_999999", &rank));
	cr_expect_not(check_recorder_rank("trace_4294967297", &rank));
}

/* ---- mutants ------------------------------------------------------------ */

#define MUTANTS 500

static void mutate(uint64_t *state, char *bytes, size_t *len)
{
	uint64_t changes = 1 + dist__random_next(state) % 4;

	for (; changes > 0 && *len > 1; changes--) {
		size_t at = dist__random_next(state) % *len;
		size_t num = 1 + dist__random_next(state) % 8;

		if (num > *len - at)
			num = *len - at;
		switch (dist__random_next(state) % 4) {
		case 0: /* another byte */
			bytes[at] = (char)dist__random_next(state);
			break;
		case 1: /* fewer */
			memmove(bytes + at, bytes + at + num, *len - at - num);
			*len -= num;
			break;
		case 2: /* the same again elsewhere */
			memmove(bytes + dist__random_next(state) %
						(*len - num + 1),
				bytes + at, num);
			break;
		default: /* the end */
			if (dist__random_next(state) % 4 == 0)
				*len = at + 1;
			else
				bytes[at] ^= 1;
		}
	}
}

static void judge(struct check_recorder *recorder)
{
	struct check_diagnosis diagnosis = {.board = NULL};
	struct check_verdict verdict;

	if (check_recorder_fill(recorder, &diagnosis)) {
		verdict = check_diagnose(&diagnosis);
		free(board_report(diagnosis.board, &diagnosis.facts, &verdict));
	}
	check_diagnosis_release(&diagnosis);
}

/* Each is read, or refused in one line that a terminal only shows. */
static void expect_well_behaved(const char *bytes, size_t len, int *refused)
{
	struct check_recorder *recorder = check_recorder_new();
	char message[256] = "";

	cr_assert(recorder);
	if (check_recorder_add(recorder, 0, bytes, len, INT64_MAX, message)) {
		judge(recorder);
	} else {
		char shown[256];

		memcpy(shown, message, sizeof shown);
		cr_expect(message[0] &&
				  strcmp(dist__printable(shown), message) == 0,
			  "not a line: %s", shown);
		++*refused;
	}
	check_recorder_free(recorder);
}

Test(recorder, mutants_are_read_or_refused_in_a_line)
{
	uint64_t state = 1;
	int refused = 0;
	glob_t found;

	cr_assert_eq(glob("tests/fuzz/corpus/recorder/*", 0, NULL, &found), 0);
	for (int i = 0; i < MUTANTS; i++) {
		const char *path = found.gl_pathv[(size_t)i % found.gl_pathc];
		char *bytes;
		size_t len;

		okay(dist__input_read(path, &bytes, &len));
		mutate(&state, bytes, &len);
		expect_well_behaved(bytes, len, &refused);
		free(bytes);
	}
	globfree(&found);
	cr_expect_gt(refused, MUTANTS / 4);
	cr_expect_lt(refused, MUTANTS);
}
