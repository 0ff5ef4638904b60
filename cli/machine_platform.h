/*
 * machine_platform.h - a machine that others measured
 * (model/measured/machine.h), as the platforms that predictions on so many of
 * its ranks need: a file without a name, which goes with the process, however
 * that ends.
 */
#ifndef LOCKSTEP_CLI_MACHINE_PLATFORM_H
#define LOCKSTEP_CLI_MACHINE_PLATFORM_H

#include <stdio.h>

#include "coll/profile.h"
#include "model/measured/machine.h"

struct machine_platform {
	struct machine machine;
	char name[512];       /* as given, without the transport */
	char transport[32];   /* "": its first network's */
	int ranks_per_node;   /* 0: one a GPU, or one where there are none */
	const char *topology; /* of its switches; borrowed. NULL: star */
	bool may_guess;       /* rates that are not known */
	FILE *file;           /* of the last platform; NULL: none yet */
	char path[32]; /* where it is, to this process and its children */
};

/* machine_platform_open parts "NAME[:TRANSPORT]", and loads the machine of that
 * name. Errors: as dist__data_find and machine_load; INVALID_ARGUMENT (message:
 * the machine has no such network, or the name is too long). */
DIST_MUST_CHECK enum dist_error
machine_platform_open(struct machine_platform *platform, const char *words,
		      struct dist_message *message);

/* machine_platform_library returns the profile that its ranks use where none is
 * asked for: NVIDIA's GPUs use "nccl"; NULL: the built-in one. */
const char *machine_platform_library(const struct machine_platform *platform);

/* machine_platform_calibration writes what was measured of the library of that
 * profile between so many ranks: as library_calibration_describe, or that there
 * is nothing. Where there is something, rates that nobody knows are no reason
 * to refuse a platform of so many. */
void machine_platform_calibration(struct machine_platform *platform,
				  const struct dist__profile *profile,
				  int ranks, char *text, size_t size);

/* machine_platform_title writes "NAME:TRANSPORT", or "NAME" of a machine
 * without networks. */
void machine_platform_title(const struct machine_platform *platform, char *text,
			    size_t size);

/* machine_platform_node_ranks returns the ranks of a node that has its share of
 * that many. */
int machine_platform_node_ranks(const struct machine_platform *platform,
				int ranks);

/* machine_platform_check looks whether so many ranks can be had. Errors:
 * INVALID_ARGUMENT (message: there is no network for more than one node). */
DIST_MUST_CHECK enum dist_error
machine_platform_check(const struct machine_platform *platform, int ranks,
		       struct dist_message *message);

/* machine_platform_write writes the platform for so many ranks, which replaces
 * the last one, and stores where it is in platform->path: with all their nodes;
 * or, if `any`, with those that stand for them. Errors: INVALID_ARGUMENT
 * (message: more nodes than a platform may have), IO, NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
machine_platform_write(struct machine_platform *platform, int ranks, bool any,
		       struct dist_message *message);

/* machine_platform_close removes the file. */
void machine_platform_close(struct machine_platform *platform);

#endif
