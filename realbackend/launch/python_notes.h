/* python_notes.h - what Python ranks write for their launcher: their stacks on
 * request (status_request.c), and the exception that ended them. Private to
 * realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_PYTHON_NOTES_H
#define LOCKSTEP_LAUNCH_PYTHON_NOTES_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* Asks for the stacks. Programs have uses for SIGUSR2; hardly any for the last
 * but one. */
#define DIST__NOTES_SIGNAL (SIGRTMAX - 1)

/* dist__notes_new returns a descriptor, closed on exec, for one rank; -1: see
 * errno. */
int dist__notes_new(void);

/* dist__notes_pass passes fd to the program that this process, the rank, is
 * about to exec: LOCKSTEP_NOTES, "FD:PROCESS:SIGNAL". */
bool dist__notes_pass(int fd);

/* dist__notes_any returns whether there are lines to print; fd may be -1. */
bool dist__notes_any(int fd);

/* dist__notes_append adds ": " and the first line that a rank wrote to text (of
 * size bytes), cut with "..."; nothing if there is none, or it is not ASCII. fd
 * may be -1. */
void dist__notes_append(int fd, char *text, size_t size);

/* dist__notes_print prints the lines that a rank wrote: `before` comes before
 * the first, `between` before each other. */
void dist__notes_print(FILE *out, int fd, const char *before,
		       const char *between);

#endif
