/* Command lines, read by the table of their options. */
#include "scenarios/arguments.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

struct line {
	const char *file, *way;
	int loud, count;
	double number;
	size_t size;
	char taken[64];
};

#define AT(field) offsetof(struct line, field)

static const struct option options[] = {
	{"file", OPTION_TEXT, AT(file), "FILE", .help = "a file", .letter = 'f',
	 .also = "path|records"},
	{"loud", OPTION_SWITCH, AT(loud), NULL, .letter = 'l'},
	{"own-way", OPTION_CHOICE, AT(way), "shm|tcp", .help = "say"},
	{"count", OPTION_COUNT, AT(count), "N", .letter = 'n', .min = 1,
	 .max = 9},
	{"number", OPTION_NUMBER, AT(number), "X", .above = true},
	{"size", OPTION_SIZE, AT(size), "SIZE", .help = "say"},
	{"each", OPTION_EACH, 0, "X", .help = "say"},
	{"zero", OPTION_COUNT, AT(count), "N", .takers = " fsdp or ps "},
	{.name = NULL}};
static const struct option_group groups[] = {{.options = options},
					     {.options = NULL}};

static bool take(void *line, const struct option *option, const char *text,
		 struct dist_message *message)
{
	(void)option;
	strcat(((struct line *)line)->taken, text);
	if (*text != '!')
		return true;
	strcpy(message->text, "--each: expected another");
	return false;
}

static struct manual manual = {.groups = groups, .most_words = 2, .take = take};

#define MOST_WORDS 12

static struct {
	struct line line;
	const char *argv[MOST_WORDS];
	int argc;
	bool helped;
	struct dist_message message;
} got;

/* Reads words, which stand behind the program's name. */
static bool reads(const char *const *text)
{
	memset(&got, 0, sizeof got);
	got.argv[0] = "program";
	for (got.argc = 1; text[got.argc - 1]; got.argc++)
		got.argv[got.argc] = text[got.argc - 1];
	return arguments_read(&manual, &got.argc, got.argv, &got.line,
			      &got.helped, &got.message);
}

#define READS(...) reads((const char *const[]){__VA_ARGS__, NULL})

static void expect_refusal(bool good, const char *said)
{
	cr_expect_not(good);
	cr_expect_str_eq(got.message.text, said);
}

Test(arguments, options_and_words_mix)
{
	cr_assert(READS("a", "--file", "x", "-ln5", "--own_way=tcp", "b"));
	cr_expect_str_eq(got.line.file, "x");
	cr_expect_str_eq(got.line.way, "tcp");
	cr_expect_eq(got.line.loud, 1);
	cr_expect_eq(got.line.count, 5);
	cr_expect_eq(got.argc, 3);
	cr_expect_str_eq(got.argv[1], "a");
	cr_expect_str_eq(got.argv[2], "b");
	cr_expect_null(got.argv[3]);
	cr_assert(READS("--size", "64K", "--number=1e-3", "--", "--loud"));
	cr_expect_eq(got.line.size, 65536);
	cr_expect_eq(got.line.number, 1e-3);
	cr_expect_eq(got.line.loud, 0);
	cr_expect_str_eq(got.argv[1], "--loud");
	cr_assert(READS("--each", "a", "--each=b", "-n=3", "-"));
	cr_expect_str_eq(got.line.taken, "ab");
	cr_expect_eq(got.line.count, 3);
	cr_expect_str_eq(got.argv[1], "-");
}

Test(arguments, options_can_end_at_a_word)
{
	manual.ends_at_word = true;
	manual.most_words = ANY_WORDS;
	cr_assert(READS("--loud", "program", "--file", "x"));
	cr_expect_eq(got.line.loud, 1);
	cr_expect_null(got.line.file);
	cr_expect_eq(got.argc, 4);
	cr_expect_str_eq(got.argv[2], "--file");
}

Test(arguments, what_cannot_be_is_refused_by_name)
{
	expect_refusal(READS("--fil", "x"),
		       "--fil: unknown option; did you mean \"--file\"?");
	expect_refusal(READS("--frob=1"), "--frob=1: unknown option");
	expect_refusal(
		READS("--tcp"),
		"--tcp: unknown option; did you mean \"--own-way tcp\"?");
	expect_refusal(READS("--records=x"),
		       "--records=x: unknown option; did you mean \"--file\"?");
	expect_refusal(READS("-x"), "-x: unknown option");
	expect_refusal(READS("--file"), "--file: missing argument, FILE");
	expect_refusal(READS("--loud=1"),
		       "--loud: expected no value, not \"1\"");
	expect_refusal(READS("a", "b", "--loud", "1"),
		       "--loud: expected no value, not \"1\"");
	expect_refusal(READS("--hepl"),
		       "--hepl: unknown option; did you mean \"--help\"?");
	expect_refusal(READS("--count="),
		       "--count: expected a whole number from 1 to 9, not "
		       "\"\"");
	expect_refusal(READS("-n", "10"),
		       "-n: expected a whole number from 1 to 9, not \"10\"");
	expect_refusal(READS("--number", "0"),
		       "--number: expected a number above 0, not \"0\"");
	expect_refusal(READS("--own-way", "tpc"),
		       "--own-way: expected shm or tcp, not \"tpc\"; did you "
		       "mean \"tcp\"?");
	expect_refusal(READS("--file="), "--file: expected FILE, not \"\"");
	expect_refusal(READS("--each", "!"), "--each: expected another");
	expect_refusal(READS("a", "b", "c"), "unexpected argument \"c\"");
	manual.least_words = 1;
	expect_refusal(READS("--loud"), "expected an argument; see --help");
}

Test(arguments, of_other_kinds_are_unknown)
{
	cr_expect(READS("--zero", "3"));
	manual.taker = "ps";
	cr_expect(READS("--zero", "3"));
	manual.taker = "ddp_step";
	expect_refusal(READS("--zero", "3"),
		       "--zero: expected with fsdp or ps, not ddp_step");
}

/* Every line of help is within 80 columns, an example keeps its meaning. */
Test(arguments, help_is_as_wide_as_a_terminal)
{
	static const struct manual wide = {
		.usage = "[--file FILE] [--a-rather-long-option VALUE] "
			 "[--another-long-option VALUE] WORD\n--list",
		.about = "Some sentences, so that a line is not enough for "
			 "them all; and some more of them, to be sure.",
		.examples = {"program --file some-file --count 5 --number "
			     "1e-3 --size 64K --own-way tcp word"},
		.groups = groups};
	char *text = NULL, *line, *rest = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	arguments_print_help(&wide, "program", out);
	fclose(out);
	cr_expect_neq(strstr(text, "Usage: program [--file FILE]"), NULL);
	cr_expect_neq(strstr(text, "\n   or: program --list\n"), NULL);
	cr_expect_neq(strstr(text, "\n  -f, --file FILE"), NULL);
	cr_expect_neq(strstr(text, " \\\n      "), NULL);
	cr_expect_null(strchr(text, '\033'));
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		cr_expect_leq(strlen(line), 79, "%s", line);
	free(text);
}
