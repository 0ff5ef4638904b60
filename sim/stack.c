/*
 * stack.c - how much stack a rank has.
 *
 * The system gives memory to a stack page by page as it is touched, so that it
 * costs nothing to have as much as a process has by itself. But where a limit
 * is set to the address space, or the system promises no more memory than it
 * has, what nobody touches counts.
 */
#include "sim/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/quantity.h"

#define USUAL_BYTES ((uint64_t)8 << 20)
#define LEAST_BYTES ((uint64_t)256 << 10)
#define PAGE        ((uint64_t)4096)

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

enum dist_error dist__sim_stack_choose(struct dist__sim_world *world,
				       const char *text,
				       struct dist_message *message)
{
	uint64_t share = address_space() / 4 / (uint64_t)world->present;

	world->stack_bytes = USUAL_BYTES;
	if (share < USUAL_BYTES)
		world->stack_bytes =
			share > LEAST_BYTES ? share / PAGE * PAGE : LEAST_BYTES;
	if (!text || !*text || dist__stack_read(text, &world->stack_bytes))
		return DIST_OK;
	snprintf(message->text, sizeof message->text,
		 "LOCKSTEP_STACK_SIZE: expected " DIST__STACK_WORDS
		 ", not \"%.40s\"",
		 text);
	return DIST_ERR_INVALID_ARGUMENT;
}
