/*
 * log_line.h - lines of a log, without what terminals and launchers put around
 * them. Private to model/measured/log*.c.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LOG_LINE_H
#define LOCKSTEP_MODEL_MEASURED_LOG_LINE_H

#include <stddef.h>

/* Where a reader is in a text, which it changes. */
struct log_cursor {
	char *at, *end; /* *end is zero */
	int line;       /* of the one that log_line_next() returned, from 1 */
};

/* log_line_next returns the next line as text: colours, carriage returns and
 * other control characters are blanks or gone. NULL: there is none. */
char *log_line_next(struct log_cursor *cursor);

/* log_line_split cuts line at its blanks; of more than `most` words the rest is
 * left out. Returns how many there are. */
size_t log_line_split(char *line, char **words, size_t most);

/* log_line_word returns the next word from *at on and its length, and moves *at
 * behind it; NULL: there is none. */
const char *log_line_word(const char **at, size_t *len);

/*
 * log_line_skip returns what follows what a launcher puts before each line
 * ("[1,0]<stdout>:", "0:", a time): text like prefix, but for its numbers and
 * blanks. NULL: line does not begin so.
 */
char *log_line_skip(char *line, const char *prefix);

#endif
