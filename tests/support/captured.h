/* captured.h - what is written to a descriptor meanwhile. */
#ifndef LOCKSTEP_TESTS_SUPPORT_CAPTURED_H
#define LOCKSTEP_TESTS_SUPPORT_CAPTURED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

struct captured {
	FILE *file;
	int fd, saved;
};

/* capture_begin has all that is written to fd, stdout's or stderr's, go to a
 * file; capture_end stores its beginning in text, of size bytes. */
static inline struct captured capture_begin(int fd)
{
	struct captured c = {tmpfile(), fd, dup(fd)};

	cr_assert(c.file && c.saved >= 0);
	fflush(NULL);
	dup2(fileno(c.file), fd);
	return c;
}

static inline void capture_end(struct captured *c, char *text, size_t size)
{
	fflush(NULL);
	dup2(c->saved, c->fd);
	close(c->saved);
	rewind(c->file);
	text[fread(text, 1, size - 1, c->file)] = '\0';
	fclose(c->file);
}

#endif
