/* output.h - writes a text file completely or not at all. */
#ifndef LOCKSTEP_BASE_OUTPUT_H
#define LOCKSTEP_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lockstep/dist.h"

struct dist__output;

/*
 * dist__output_open begins the file that will be path: a file without a name
 * or, where the system has none, a temporary beside path; compressed by gzip if
 * path ends in ".gz". A path that exists and is no regular file (a device, a
 * pipe, a symbolic link) is written directly. The caller owns *output until
 * close or abandon. Errors: IO, NO_MEMORY; message explains, and errno.
 */
enum dist_error dist__output_open(const char *path,
				  struct dist__output **output,
				  struct dist_message *message);

/* dist__output_bytes appends len bytes, dist__output_text a text. close reports
 * their failures. */
void dist__output_bytes(struct dist__output *output, const char *bytes,
			size_t len);
void dist__output_text(struct dist__output *output, const char *text);

/* dist__output_print appends like printf, up to 1,023 bytes at a time. close
 * reports its failure. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void dist__output_print(struct dist__output *output, const char *format, ...);

/* dist__output_close gives the file its name and frees output. After a failure
 * there is no new file, and an earlier one is unchanged. Errors: IO. */
enum dist_error dist__output_close(struct dist__output *output,
				   struct dist_message *message);

/* dist__output_save writes text to the file, to stdout where path is NULL.
 * Errors: IO, NO_MEMORY. */
enum dist_error dist__output_save(const char *path, const char *text,
				  struct dist_message *message);

/* dist__output_write does so with what print(out, arg) prints; it returns
 * whether it succeeded. */
enum dist_error dist__output_write(const char *path,
				   bool (*print)(FILE *out, const void *arg),
				   const void *arg,
				   struct dist_message *message);

/* dist__output_abandon removes the temporary and frees output. NULL allowed. */
void dist__output_abandon(struct dist__output *output);

#endif
