/* turns.c - ranks that share processors, on one of them. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "tests/support/turns.h"

#include <sched.h>
#include <unistd.h>

void turns_take(int world_size)
{
	cpu_set_t all, one;
	int nth, cpu = 0;

	if (sched_getaffinity(0, sizeof all, &all) ||
	    world_size <= CPU_COUNT(&all))
		return;
	/* Tests side by side have other numbers. */
	nth = getpid() % CPU_COUNT(&all);
	while (!CPU_ISSET(cpu, &all) || nth-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)sched_setaffinity(0, sizeof one, &one);
}
