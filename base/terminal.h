/* terminal.h - colour and width of a terminal. */
#ifndef LOCKSTEP_BASE_TERMINAL_H
#define LOCKSTEP_BASE_TERMINAL_H

#include <stddef.h>
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

/* dist__terminal_width returns the columns of the terminal that out is, 100 if
 * it does not say; SIZE_MAX: out is none. */
size_t dist__terminal_width(FILE *out);

/* How text is broken into lines, between words and after newlines. */
struct terminal_wrap {
	size_t width, indent;
	const char *lead;   /* a line after the first begins with it, filled up
			       with blanks to indent */
	const char *broken; /* stands at the end of a line that was broken */
};

/* dist__terminal_wrap writes text from column on and ends the line. */
void dist__terminal_wrap(FILE *out, const char *text, size_t column,
			 const struct terminal_wrap *wrap);

#endif
