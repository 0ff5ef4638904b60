/*
 * dump.h - the records of one rank as a file that needs no other: all that a
 * verdict needs, and which rank wrote it. docs/dumps.md describes it.
 */
#ifndef LOCKSTEP_CHECK_DUMP_H
#define LOCKSTEP_CHECK_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check/cause.h"
#include "check/record.h"

/* Of the format; increased when a field changes its meaning or is removed. */
#define CHECK_DUMP_VERSION 1
/* A larger world is taken as an error: its records would need more than
 * 3 GiB. */
#define CHECK_DUMP_MAX_WORLD (1u << 17)
/* The end of the names of dumps in a folder. */
#define CHECK_DUMP_SUFFIX ".dump.json"

struct check_dump {
	char job[64];  /* the same for all ranks of the job, and no others */
	char world[8]; /* "tcp", "nccl" */
	uint32_t rank, world_size;
	uint32_t attempt;   /* earlier starts of the world */
	int64_t time_ns;    /* when it was written, since 1970 */
	int64_t clock_ns;   /* the same on the clock of the calls */
	int64_t timeout_ns; /* deadline in force; 0: unknown */
	/* What the launcher knows; weight 0: nothing. */
	struct check_cause cause;
	struct check_slot slot;
};

/* check_dump_print writes the dump as JSON; false: no memory. */
bool check_dump_print(FILE *out, const struct check_dump *dump);

/* check_dump_read reads a dump; false: in is no dump, or one of another
 * version, and message says what was expected. */
bool check_dump_read(FILE *in, struct check_dump *dump, char message[256]);

/* check_dump_path makes the path of rank's dump from pattern: each %r becomes
 * the rank; a pattern without %r is a folder. False: path is too long. */
bool check_dump_path(const char *pattern, uint32_t rank, char *path,
		     size_t size);

/* check_dump_prepare makes the folder of pattern if it does not exist. False:
 * it cannot be written to; see errno. */
bool check_dump_prepare(const char *pattern);

/* check_dump_save writes the dump to its path from pattern, completely or not
 * at all. False: it failed; see errno. */
bool check_dump_save(const char *pattern, const struct check_dump *dump);

#endif
