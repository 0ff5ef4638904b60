/*
 * arguments.h - the options of a program: one table, used for reading them,
 * --help, the manual page and shell completion.
 */
#ifndef LOCKSTEP_SCENARIOS_ARGUMENTS_H
#define LOCKSTEP_SCENARIOS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lockstep/dist.h"

/* The type of the field that an option sets. */
enum option_kind {
	OPTION_SWITCH,  /* int, to 1; takes no value */
	OPTION_TEXT,    /* const char *, pointing into argv */
	OPTION_CHOICE,  /* the same, one of the values that value lists */
	OPTION_COUNT,   /* int */
	OPTION_NUMBER,  /* double */
	OPTION_PERCENT, /* double, the fraction: 10% or 10 */
	OPTION_RATE,    /* double, above 0, FLOP/s: 6e13 or 60T */
	OPTION_SIZE,    /* size_t, bytes: 8, 64K, 4MiB */
	OPTION_EACH     /* none: the manual's take() is called each time */
};

struct option {
	const char *name; /* without --; users may write '_' for '-' */
	enum option_kind kind;
	size_t offset;     /* of the field in the struct of its group */
	const char *value; /* "FILE", "shm|tcp"; NULL of a switch */
	const char *help;  /* a phrase: no capital, no stop */
	const char *usual; /* text of the default; NULL: not shown */
	char letter;       /* 0: none */

	/* Bounds of counts and numbers (max 0: no bound), min for sizes; above:
	 * more than min. */
	double min, max;
	bool above;
	bool kilo; /* of a count: 8k is 8192, 1M 1048576 */

	/* In programs of several kinds: the kinds that have the option,
	 * separated by spaces; NULL: all. */
	const char *takers;

	/* The list of `lockstep list` with the values, for completion. */
	const char *list;

	/* What others call it, between bars, for who asks so. */
	const char *also;
};

/* Options that are shown together in --help. */
struct option_group {
	const char *title;            /* NULL: Options */
	const struct option *options; /* the last has no name */
	size_t offset; /* of their struct in that of the program */
};

/* The groups of a manual. */
#define GROUPS(...)                                                            \
	((const struct option_group[]){__VA_ARGS__, {.options = NULL}})

#define MANUAL_EXAMPLES 4

struct manual {
	const char *usage; /* what stands behind argv[0]; a line each */
	const char *about; /* what it does, in paragraphs; NULL: none */
	const char *examples[MANUAL_EXAMPLES];
	const struct option_group *groups; /* the last has no options */

	/* The number of arguments besides options, and the message if there are
	 * fewer. Options may come after arguments, unless ends_at_word: then
	 * the first argument ends the options. */
	int least_words, most_words;
	const char *missing;
	bool ends_at_word;

	/* The values of the first argument: "show|gantt|path", or a list of
	 * `lockstep list`; for completion. */
	const char *choices;

	const char *taker; /* the kind whose options are read; NULL: all */

	/* Options that are read and not shown, each between spaces: what
	 * another command has of them says nothing here. NULL: none. */
	const char *unshown;

	/* Stores the value of an OPTION_EACH in line. Returns false with a
	 * message of what was expected. */
	bool (*take)(void *line, const struct option *option, const char *text,
		     struct dist_message *message);
};

/* No bound on the number of arguments. */
#define ANY_WORDS 0x7fffffff

/*
 * arguments_parse reads options from argv by manual into line, which holds the
 * defaults, and removes them from argv: argv[0], the arguments and NULL remain.
 * Texts point into argv. Returns false, with the exit status, if there is
 * nothing more to do: OK after --help; USAGE after one line on stderr about an
 * unknown option (with a similar one), a bad value, or too many or too few
 * arguments.
 */
bool arguments_parse(const struct manual *manual, int *argc, const char **argv,
		     void *line, int *status);

/* arguments_read does the same without printing: *helped is set for --help, and
 * message says what was expected. */
bool arguments_read(const struct manual *manual, int *argc, const char **argv,
		    void *line, bool *helped, struct dist_message *message);

/* arguments_print_help writes the text of --help, in 80 columns. */
void arguments_print_help(const struct manual *manual, const char *program,
			  FILE *out);

/* option_find returns the option called name, of len characters, and its group,
 * among the options of manual->taker; NULL: none. */
const struct option *option_find(const struct manual *manual, const char *name,
				 size_t len, const struct option_group **group);

/* option_set sets an option of group in line, like "--name=text"; a switch by
 * "true" or "false". Returns false with a message of what was expected. */
bool option_set(const struct manual *manual, void *line,
		const struct option_group *group, const struct option *option,
		const char *text, struct dist_message *message);

/* option_is_shown returns whether --help and completion have the option. */
bool option_is_shown(const struct manual *manual, const struct option *option);

/* option_is_taken returns whether the kind taker (NULL: any) has the option. */
bool option_is_taken(const struct option *option, const char *taker);

/* option_at returns the option with a value, "--name=text" or "--name text", at
 * argv[i], its text, and of how many words it consists; NULL: there is none. */
const struct option *option_at(const struct manual *manual, int argc,
			       const char **argv, int i, const char **text,
			       int *words);

/* option_given returns the first option of a table whose field in line is not 0
 * or NULL; NULL: there is none. */
const struct option *option_given(const struct option *options,
				  const void *line);

/* option_peek returns the last value of a text option in argv, without reading
 * others; NULL: not given. */
const char *option_peek(int argc, const char **argv, const char *name);

#endif
