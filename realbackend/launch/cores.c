#define _GNU_SOURCE /* sched_getaffinity */
#include "realbackend/launch/cores.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

/* A process that was bound to a core may become a rank again. It then chooses
 * from the processors that it had before. */
static struct {
	bool is_bound;
	cpu_set_t before, after;
} binding;

/* Stores the processors that this thread may run on but for our own binding;
 * false: more than the set has room for. */
static bool find_all(cpu_set_t *all)
{
	if (sched_getaffinity(0, sizeof *all, all) != 0)
		return false;
	if (binding.is_bound && CPU_EQUAL(all, &binding.after))
		*all = binding.before;
	return true;
}

int dist__cores(void)
{
	long online;
	cpu_set_t all;

	if (find_all(&all))
		return CPU_COUNT(&all);
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (int)online : 1;
}

void dist__cores_bind(int place)
{
	cpu_set_t all, one;
	int cpu = -1;

	if (!find_all(&all))
		return;
	place %= CPU_COUNT(&all);
	do
		cpu++;
	while (!CPU_ISSET(cpu, &all) || place-- > 0);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0)
		return;
	binding.is_bound = true;
	binding.before = all;
	binding.after = one;
}
