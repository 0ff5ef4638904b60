/* python_notes.h - what ranks in Python let their launcher know: their stacks
 * when it asks, and the exception that they end by. Private to
 * realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_PYTHON_NOTES_H
#define LOCKSTEP_LAUNCH_PYTHON_NOTES_H

#include <stdbool.h>
#include <stdio.h>

struct dist__child;

/* dist__notes_new returns a descriptor, closed on exec, for one rank; -1: the
 * system refused (errno). */
int dist__notes_new(void);

/* dist__notes_pass gives fd to the program that this process, the rank, is
 * about to become: LOCKSTEP_NOTES, "FD:PROCESS:SIGNAL". */
bool dist__notes_pass(int fd);

/* dist__notes_any returns whether there is anything to print; fd may be -1. */
bool dist__notes_any(int fd);

/* dist__notes_append adds ": " and the first line that a rank wrote to text (of
 * size bytes), with "..." for what has no room; nothing where there is none, or
 * it is not ASCII. fd may be -1. */
void dist__notes_append(int fd, char *text, size_t size);

/* dist__notes_print prints the lines that a rank wrote, with `before` before
 * the first and `between` before each other. */
void dist__notes_print(FILE *out, int fd, const char *before,
		       const char *between);

/* dist__notes_print_stacks asks those ranks that would answer for the stacks of
 * their threads and prints them: blocks for some 40 ms, a second at most. */
void dist__notes_print_stacks(FILE *out, const struct dist__child *children,
			      int num_children);

#endif
