/*
 * dump.h - the records of one rank as a file that needs no other: what the
 * engine judges, and who wrote it. docs/dumps.md describes it.
 */
#ifndef LOCKSTEP_CHECK_DUMP_H
#define LOCKSTEP_CHECK_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check/cause.h"
#include "check/record.h"

/* Of the format; raised when a field changes its meaning or goes. */
#define CHECK_DUMP_VERSION 1
/* A world larger than this is taken for garbage: its records would take more
 * than 3 GiB. */
#define CHECK_DUMP_MAX_WORLD (1u << 17)
/* How the names of dumps in a folder end. */
#define CHECK_DUMP_SUFFIX ".dump.json"

struct check_dump {
	char job[64];  /* all ranks of a job, and no others, have the same */
	char world[8]; /* "tcp", "nccl" */
	uint32_t rank, world_size;
	uint32_t attempt;   /* starts of the world before this one */
	int64_t time_ns;    /* when it was taken, since 1970 */
	int64_t clock_ns;   /* the same by the clock of the calls */
	int64_t timeout_ns; /* deadline in force; 0: unknown */
	/* What the one who started the ranks knows; weight 0: nothing. */
	struct check_cause cause;
	struct check_slot slot;
};

/* check_dump_print writes the dump as JSON; false: no memory. */
bool check_dump_print(FILE *out, const struct check_dump *dump);

/* check_dump_read reads a dump; false: it is none, or of another version, and
 * message says what was expected. */
bool check_dump_read(FILE *in, struct check_dump *dump, char message[256]);

/* check_dump_path makes the name of rank's dump of pattern: each %r is the
 * rank's number; a pattern without is a folder. False: it does not fit. */
bool check_dump_path(const char *pattern, uint32_t rank, char *path,
		     size_t size);

/* check_dump_prepare makes the folder of pattern, if it is missing. False: it
 * cannot be written to, and errno says why. */
bool check_dump_prepare(const char *pattern);

/* check_dump_save writes the dump to its place by pattern, whole or not at all.
 * False: it could not, and errno says why. */
bool check_dump_save(const char *pattern, const struct check_dump *dump);

#endif
