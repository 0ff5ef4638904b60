/*
 * source.h - finds the source line of an instruction of this process, by the
 * debug information of the file that it was loaded from.
 */
#ifndef LOCKSTEP_CHECK_WATCH_SOURCE_H
#define LOCKSTEP_CHECK_WATCH_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dist__source {
	char file[256]; /* as the compiler was given it; "": not known */
	int line;
	/* The function, or "prog+0x12ab" without symbols; "": not known.
	 */
	char function[40];
};

/*
 * dist__source_find finds the program's innermost one of num instructions, with
 * zeros at their end: not one of the C library or a sanitizer, which act for
 * the program. Takes some milliseconds; not for handlers.
 */
struct dist__source dist__source_find(const uintptr_t *frames, size_t num);

/* dist__source_of does the same in another process, but finds the line that
 * called one of our functions, if one of them led to the instruction. */
struct dist__source dist__source_of(pid_t process, const uintptr_t *frames,
				    size_t num);

#endif
