/* arguments.h - reading the command line of a rank program, with popt. */
#ifndef LOCKSTEP_SCENARIOS_ARGUMENTS_H
#define LOCKSTEP_SCENARIOS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <popt.h>

/*
 * arguments_parse reads argv by table; usage stands behind the program's name
 * in --help, which it prints before it ends the process (popt's way). Returns
 * false after one line on stderr about an unknown option, a bad value, or an
 * argument too many.
 */
bool arguments_parse(int argc, const char **argv,
		     const struct poptOption *table, const char *usage);

/* arguments_parse_word is arguments_parse for a program that takes one word
 * beside its options, which it stores in *word: one of argv. Also returns false
 * after a line when there is none. */
bool arguments_parse_word(int argc, const char **argv,
			  const struct poptOption *table, const char *usage,
			  const char **word);

/* arguments_refuse prints one line on stderr about what poptGetNextOpt() did
 * not take, rc, with the option that was probably meant; who: the program. */
void arguments_refuse(const char *who, poptContext context, int rc);

/* arguments_size reads a size in bytes with an optional suffix K, M or G
 * (powers of 1024), as nccl-tests does. Returns false when text is none. */
bool arguments_size(const char *text, size_t *bytes);

#endif
