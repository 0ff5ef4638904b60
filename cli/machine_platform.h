/*
 * machine_platform.h - platforms of a measured machine
 * (model/measured/machine.h) for any number of its ranks: in an unnamed file,
 * which disappears with the process.
 */
#ifndef LOCKSTEP_CLI_MACHINE_PLATFORM_H
#define LOCKSTEP_CLI_MACHINE_PLATFORM_H

#include <stdio.h>

#include "coll/profile.h"
#include "core/fidelity.h"
#include "model/measured/machine.h"
#include "sim/platform/platform.h"

struct machine_platform {
	struct machine machine;
	char name[512];       /* as given, without the transport */
	char transport[32];   /* "": its first network's */
	int ranks_per_node;   /* 0: one a GPU, or one without GPUs */
	const char *topology; /* of its switches; borrowed. NULL: star */
	bool may_guess;       /* unknown rates may be guessed */
	double card_Bps;      /* for an unknown rate; 0: not given */
	double intra_Bps;     /* likewise, of a GPU's link within its node */
	FILE *file;           /* of the last platform; NULL: none yet */
	char path[32];        /* its path, for this process and its children */
};

/* machine_platform_open reads "NAME[:TRANSPORT]" and loads the machine. Errors:
 * as dist__data_find and machine_load; INVALID_ARGUMENT (message: the machine
 * has no such network, or the name is too long). */
DIST_MUST_CHECK enum dist_error
machine_platform_open(struct machine_platform *platform, const char *words,
		      struct dist_message *message);

/* machine_platform_rewire takes the rates, not factors, of overrides for those
 * that the machine's description does not have. */
void machine_platform_rewire(struct machine_platform *platform,
			     const struct dist__link_overrides *overrides);

/* machine_platform_library returns the default profile of its ranks: "nccl" for
 * NVIDIA's and AMD's GPUs; NULL: the built-in one. */
const char *machine_platform_library(const struct machine_platform *platform);

/* machine_platform_calibration describes the calibration of the profile's
 * library for so many ranks, like library_calibration_describe, or says that
 * there is none. If there is one, unknown rates do not make a platform of so
 * many ranks refused. */
void machine_platform_calibration(struct machine_platform *platform,
				  const struct dist__profile *profile,
				  int ranks, char *text, size_t size);

/* machine_platform_title writes "NAME:TRANSPORT", or "NAME" for a machine
 * without networks. */
void machine_platform_title(const struct machine_platform *platform, char *text,
			    size_t size);

/* machine_platform_node_ranks returns the ranks on a node when there are
 * `ranks` in all. */
int machine_platform_node_ranks(const struct machine_platform *platform,
				int ranks);

/* machine_platform_check checks that the machine can have so many ranks.
 * Errors: INVALID_ARGUMENT (message: there is no network for more than one
 * node). */
DIST_MUST_CHECK enum dist_error
machine_platform_check(const struct machine_platform *platform, int ranks,
		       struct dist_message *message);

/* machine_platform_allows checks that the topology, if one is given, makes a
 * difference at the fidelity. Errors: INVALID_ARGUMENT (by formula, no). */
DIST_MUST_CHECK enum dist_error
machine_platform_allows(const struct machine_platform *platform,
			enum dist__fidelity fidelity,
			struct dist_message *message);

/* machine_platform_write writes the platform for so many ranks, which replaces
 * the last one, and stores its path in platform->path. It has all nodes or, if
 * `any`, only those that represent them. Errors: INVALID_ARGUMENT (message: a
 * rate that is not known, and the option that gives it; more nodes than a
 * platform may have), IO, NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
machine_platform_write(struct machine_platform *platform, int ranks, bool any,
		       struct dist_message *message);

/* machine_platform_close removes the file. */
void machine_platform_close(struct machine_platform *platform);

#endif
