/* output.h - a text file that appears whole or not at all. */
#ifndef LOCKSTEP_BASE_OUTPUT_H
#define LOCKSTEP_BASE_OUTPUT_H

#include <stddef.h>

#include "lockstep/dist.h"

struct dist__output;

/*
 * dist__output_open starts the file that will be path: one without a name, or
 * where there is no such thing a temporary beside it, compressed by gzip when
 * path ends in ".gz". Something that exists and is no
 * regular file (a device, a pipe, a symbolic link) is written in place. On
 * success *output is the caller's until close or abandon. Errors: IO,
 * NO_MEMORY; message says what.
 */
enum dist_error dist__output_open(const char *path,
				  struct dist__output **output,
				  struct dist_message *message);

/* dist__output_bytes appends len bytes, dist__output_text a text. A failure is
 * kept and reported by close. */
void dist__output_bytes(struct dist__output *output, const char *bytes,
			size_t len);
void dist__output_text(struct dist__output *output, const char *text);

/* dist__output_print appends as printf does, up to 1,023 bytes at a time. A
 * failure is kept and reported by close. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void dist__output_print(struct dist__output *output, const char *format, ...);

/* dist__output_close gives the file its name and frees output; after a failure
 * there is no file, and what was there before is untouched. Errors: IO. */
enum dist_error dist__output_close(struct dist__output *output,
				   struct dist_message *message);

/* dist__output_abandon removes the temporary and frees output. NULL allowed. */
void dist__output_abandon(struct dist__output *output);

#endif
