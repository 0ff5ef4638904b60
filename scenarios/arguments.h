/*
 * arguments.h - the options of a program: one table, from which they are read,
 * explained by --help, written into the manual page and completed by shells.
 */
#ifndef LOCKSTEP_SCENARIOS_ARGUMENTS_H
#define LOCKSTEP_SCENARIOS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lockstep/dist.h"

/* What an option sets, in the struct that the program fills. */
enum option_kind {
	OPTION_SWITCH,  /* int, to 1; takes no value */
	OPTION_TEXT,    /* const char *, to what argv has */
	OPTION_CHOICE,  /* the same, one of those that value lists */
	OPTION_COUNT,   /* int */
	OPTION_NUMBER,  /* double */
	OPTION_PERCENT, /* double, the fraction: 10% or 10 */
	OPTION_SIZE,    /* size_t, bytes: 8, 64K, 4MiB */
	OPTION_EACH     /* nothing: the manual's take is called each time */
};

struct option {
	const char *name; /* without --; '_' may stand for its '-' */
	enum option_kind kind;
	size_t offset;     /* of the field, in the struct of its group */
	const char *value; /* "FILE", "shm|tcp"; NULL of a switch */
	const char *help;  /* a phrase: no capital, no stop */
	const char *usual; /* the default in words; NULL: none to tell */
	char letter;       /* 0: none */

	/* Of counts and numbers: the least, the most (0: no bound); above: the
	 * least itself is out. Of sizes: the least. */
	double min, max;
	bool above;

	/* The kinds that take it, between spaces, of programs that have
	 * several; NULL: all. */
	const char *takers;

	/* What `lockstep list` calls the values, for completion. */
	const char *list;

	/* What others call it, between bars, for who asks so. */
	const char *also;
};

/* Options that stand together in --help. */
struct option_group {
	const char *title;            /* NULL: Options */
	const struct option *options; /* ended by one without a name */
	size_t offset; /* of their struct, in that of the program */
};

/* The groups of a manual. */
#define GROUPS(...)                                                            \
	((const struct option_group[]){__VA_ARGS__, {.options = NULL}})

#define MANUAL_EXAMPLES 4

struct manual {
	const char *usage; /* what stands behind argv[0]; a line each */
	const char *about; /* what it does, paragraphs; NULL: nothing */
	const char *examples[MANUAL_EXAMPLES];
	const struct option_group *groups; /* ended by one without options */

	/* How many words it takes beside options; what is said when there are
	 * fewer. They begin behind all options, or if ends_at_word is set end
	 * them. */
	int least_words, most_words;
	const char *missing;
	bool ends_at_word;

	/* What the first of them may be: "show|gantt|path", or what `lockstep
	 * list` calls it; for completion. */
	const char *choices;

	const char *taker; /* the kind that is asked for; NULL: any */

	/* Takes the value of an OPTION_EACH into line; message says what was
	 * expected instead. */
	bool (*take)(void *line, const struct option *option, const char *text,
		     struct dist_message *message);
};

/* No bound on the words of a program. */
#define ANY_WORDS 0x7fffffff

/*
 * arguments_parse reads argv by the manual into line, which has its defaults,
 * and leaves the words alone in argv, behind argv[0] and ended by NULL; texts
 * stay those of argv. Returns false when there is nothing more to do, with the
 * exit status: OK after --help, USAGE after one line on stderr about an option
 * that there is not, with the one that was probably meant; a value that cannot
 * be; a word too many or too few.
 */
bool arguments_parse(const struct manual *manual, int *argc, const char **argv,
		     void *line, int *status);

/* arguments_read does the same without a word: *helped is set after --help;
 * message says what was expected. */
bool arguments_read(const struct manual *manual, int *argc, const char **argv,
		    void *line, bool *helped, struct dist_message *message);

/* arguments_print_help writes what --help says, in 80 columns. */
void arguments_print_help(const struct manual *manual, const char *program,
			  FILE *out);

/* option_find returns the option that is called by name, len characters long,
 * and its group, among those that the manual's taker takes; NULL: there is
 * none. */
const struct option *option_find(const struct manual *manual, const char *name,
				 size_t len, const struct option_group **group);

/* option_set sets an option of the group in line as "--name=text" would, a
 * switch by "true" or "false". Returns false where message says what was
 * expected. */
bool option_set(const struct manual *manual, void *line,
		const struct option_group *group, const struct option *option,
		const char *text, struct dist_message *message);

/* option_is_taken returns whether taker, NULL: any, takes the option. */
bool option_is_taken(const struct option *option, const char *taker);

/* option_peek returns the last value of a text option in argv, before anything
 * is read; NULL: it is not given. */
const char *option_peek(int argc, const char **argv, const char *name);

#endif
