/* terminal.h - colour, where somebody sees it. */
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

/* dist__terminal_shows returns whether out is a terminal that knows colours and
 * its user wants them: not with NO_COLOR set, nor with TERM "dumb" or unset. */
bool dist__terminal_shows(FILE *out);

/* terminal_style returns what begins a style on out, PLAIN ends it; "" where
 * there is no colour. */
const char *dist__terminal_style(FILE *out, enum terminal_style style);

#endif
