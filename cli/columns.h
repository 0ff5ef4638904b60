/* columns.h - a table of text for people, aligned; and times as they read
 * them. */
#ifndef LOCKSTEP_CLI_COLUMNS_H
#define LOCKSTEP_CLI_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COLUMNS_MOST 16
#define COLUMNS_CELL 64

struct columns {
	const char *const *names; /* ended by NULL; borrowed. One that begins
				     with '>' is aligned to the right. */
	size_t num;
	char (*cells)[COLUMNS_CELL];
	size_t used, room;
	int failed; /* memory ran out */
};

/* columns_init makes a table without rows. */
void columns_init(struct columns *columns, const char *const *names);

/* columns_add fills the next cell, row by row, as printf does; what is longer
 * than COLUMNS_CELL is cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void columns_add(struct columns *columns, const char *format, ...);

/* columns_add_time fills the next cell with a time: "12.35 ms". */
void columns_add_time(struct columns *columns, double ns);

/* columns_time_text writes a time in such words to text. */
void columns_time_text(char *text, size_t size, double ns);

/* columns_bytes_text writes a size in such words to text: "31.5 MB". */
void columns_bytes_text(char *text, size_t size, int64_t bytes);

/* columns_print writes the table under its names. Returns 0, or -1 when memory
 * had run out on the way here. */
int columns_print(const struct columns *columns, FILE *out);

/* columns_print_markdown writes it as a table of GitHub's Markdown; cells must
 * not have a '|'. Returns as columns_print(). */
int columns_print_markdown(const struct columns *columns, FILE *out);

/* columns_release frees the cells. */
void columns_release(struct columns *columns);

#endif
