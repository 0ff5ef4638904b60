/* terminal.h - colour on a terminal. */
#ifndef LOCKSTEP_BASE_TERMINAL_H
#define LOCKSTEP_BASE_TERMINAL_H

#include <stdio.h>

enum terminal_style {
	TERMINAL_PLAIN,
	TERMINAL_BOLD, /* headings */
	TERMINAL_RED   /* errors, bad verdicts */
};

/* dist__terminal_style returns the bytes that begin a style on out, or end it
 * (PLAIN); "" unless out is a terminal with colours that its user wants: not
 * with NO_COLOR set, nor with TERM "dumb" or unset. */
const char *dist__terminal_style(FILE *out, enum terminal_style style);

#endif
