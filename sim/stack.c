/*
 * stack.c - how much stack a rank has.
 *
 * The system gives memory to a stack page by page as it is touched, so that it
 * costs nothing to have as much as a process has by itself. But where a limit
 * is set to the address space, or the system promises no more memory than it
 * has, what nobody touches counts.
 */
#include "sim/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/refuse.h"
#include "base/quantity.h"

#define USUAL_BYTES ((uint64_t)8 << 20)
#define LEAST_BYTES ((uint64_t)256 << 10)
#define PAGE        ((uint64_t)4096)

/* Of address space: a stack with its guard, and that of the rank's lane. */
#define GUARDED(bytes) ((bytes) / 4 * 5)
#define LANE_BYTES     GUARDED((uint64_t)256 << 10)

/* Of a stack and its guard; a rank may have a lane with a stack beside its
 * own. All else takes fewer maps than OTHER_MAPS. */
#define MAPS       2
#define STACKS     2
#define OTHER_MAPS 4096

/* What a rank takes at least: pages of its stack and of its records. Measured,
 * with 65536 that only make a barrier. */
#define TOUCHED_BYTES ((uint64_t)24 << 10)

/* The number behind word, which begins a line of a file of the system; 0: there
 * is none. */
static uint64_t read_number(const char *path, const char *word)
{
	size_t len = strlen(word);
	char line[128], *end;
	uint64_t number = 0;
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, word, len) == 0) {
			number = strtoull(line + len, &end, 10);
			break;
		}
	if (file)
		fclose(file);
	return number;
}

/* What all that a process may ever touch may take; UINT64_MAX: anything. */
static uint64_t address_space(void)
{
	uint64_t most = UINT64_MAX;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY)
		most = limit.rlim_cur;
	if (read_number("/proc/sys/vm/overcommit_memory", "") == 2) {
		uint64_t promised =
			1024 * read_number("/proc/meminfo", "CommitLimit:");

		most = promised < most ? promised : most;
	}
	return most;
}

/* What to do about more ranks than there is room for. */
#define FEWER                                                                  \
	"or simulate fewer ranks, or rank 0 for all (--represent, fidelity "   \
	"formula)"

/* Lets stacks be without guards where their maps would be too many. Threads,
 * under sanitizers, cannot do without. */
static enum dist_error fit_maps(const struct dist__sim_world *world,
				struct dist_message *message)
{
	uint64_t most = read_number("/proc/sys/vm/max_map_count", "");
	uint64_t maps = OTHER_MAPS + MAPS * STACKS * (uint64_t)world->present;

	if (most == 0 || maps <= most)
		return DIST_OK;
	if (dist__platform_can_copy()) {
		dist__platform_drop_guards(world->platform);
		return DIST_OK;
	}
	return dist__refuse_as(message, DIST_ERR_NO_MEMORY,
			       "%d ranks that are threads take up to %" PRIu64
			       " memory maps, the system allows %" PRIu64
			       ": raise sysctl vm.max_map_count, " FEWER,
			       world->present, maps, most);
}

static enum dist_error fit_memory(const struct dist__sim_world *world,
				  struct dist_message *message)
{
	uint64_t there = 1024 * read_number("/proc/meminfo", "MemAvailable:");
	uint64_t touched = TOUCHED_BYTES * (uint64_t)world->present;
	uint64_t each = GUARDED(world->stack_bytes) + LANE_BYTES;
	uint64_t space = each * (uint64_t)world->present;
	uint64_t most = address_space();

	if (there > 0 && touched > there)
		snprintf(message->text, sizeof message->text,
			 "%d ranks take at least %.1f GiB of memory, of which "
			 "%.1f are there: expected more, " FEWER,
			 world->present, (double)touched / 0x1p30,
			 (double)there / 0x1p30);
	else if (space > most)
		snprintf(message->text, sizeof message->text,
			 "%d ranks take %.1f GiB of address space for their "
			 "stacks, the limit is %.1f: raise ulimit -v or "
			 "vm.overcommit_ratio, " FEWER,
			 world->present, (double)space / 0x1p30,
			 (double)most / 0x1p30);
	else
		return DIST_OK;
	return DIST_ERR_NO_MEMORY;
}

enum dist_error dist__sim_stack_choose(struct dist__sim_world *world,
				       const char *text,
				       struct dist_message *message)
{
	uint64_t share = address_space() / 4 / (uint64_t)world->present;

	world->stack_bytes = USUAL_BYTES;
	if (share < USUAL_BYTES)
		world->stack_bytes =
			share > LEAST_BYTES ? share / PAGE * PAGE : LEAST_BYTES;
	if (!text || !*text || dist__stack_read(text, &world->stack_bytes)) {
		enum dist_error error = fit_maps(world, message);

		return error ? error : fit_memory(world, message);
	}
	return dist__refuse(message,
			    "LOCKSTEP_STACK_SIZE: expected " DIST__STACK_WORDS
			    ", not \"%.40s\"",
			    text);
}
