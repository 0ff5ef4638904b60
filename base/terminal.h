/* terminal.h - colour on a terminal. */
#ifndef LOCKSTEP_BASE_TERMINAL_H
#define LOCKSTEP_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum terminal_style {
	TERMINAL_PLAIN,
	TERMINAL_BOLD, /* headings */
	TERMINAL_RED,  /* errors, bad verdicts */
	TERMINAL_GREEN /* good verdicts */
};

/* dist__terminal_shows returns whether out is a terminal with colours that its
 * user wants: not with NO_COLOR set, nor with TERM "dumb" or unset. */
bool dist__terminal_shows(FILE *out);

/* dist__terminal_style returns the bytes that begin a style on out, or end it
 * (PLAIN); "" without colour. */
const char *dist__terminal_style(FILE *out, enum terminal_style style);

#endif
