/*
 * log_line.h - lines of a log, without what terminals and launchers add.
 * Private to model/measured/log*.c.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LOG_LINE_H
#define LOCKSTEP_MODEL_MEASURED_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* The position of a reader in a text, which it changes. */
struct log_cursor {
	char *at, *end; /* *end is zero */
	int line;       /* number of the line that log_line_next() returned,
			   from 1 */
};

/* log_line_next returns the next line, with colours, carriage returns and other
 * control characters removed or replaced by blanks. NULL: no more lines. */
char *log_line_next(struct log_cursor *cursor);

/* log_type_find finds nccl-tests' word for a type; *name is ours, NULL if we
 * have no such type. Returns whether it is a word for one. */
bool log_type_find(const char *word, const char **name);

/* log_line_split splits line at its blanks into at most `most` words, and
 * ignores the rest. Returns their number. */
size_t log_line_split(char *line, char **words, size_t most);

/* log_line_word returns the next word after *at with its length, and moves *at
 * behind it; NULL: none. */
const char *log_line_word(const char **at, size_t *len);

/*
 * log_line_skip returns the part of line after a launcher's prefix
 * ("[1,0]<stdout>:", "0:", a time) like prefix, with any numbers and blanks.
 * NULL: line does not begin so.
 */
char *log_line_skip(char *line, const char *prefix);

#endif
