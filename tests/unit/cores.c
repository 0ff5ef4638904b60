#define _GNU_SOURCE /* sched_getaffinity */
#include <criterion/criterion.h>

#include <sched.h>

#include "realbackend/launch/cores.h"

/* The only processor that this thread may run on; -1: there are several. */
static int own_core(void)
{
	cpu_set_t set;
	int cpu = 0;

	cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
	if (CPU_COUNT(&set) != 1)
		return -1;
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

Test(cores, ranks_are_bound_by_turns)
{
	int cores = dist__cores(), first;
	cpu_set_t all;

	cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
	dist__cores_bind(0);
	first = own_core();
	cr_assert_geq(first, 0);
	for (int place = 1; place <= cores; place++) {
		cr_assert_eq(sched_setaffinity(0, sizeof all, &all), 0);
		dist__cores_bind(place);
		cr_assert_geq(own_core(), 0);
		cr_assert_eq(own_core() == first, place == cores, "place %d",
			     place);
	}
}

/* As a process that is a rank of one job and then of another. */
Test(cores, a_rank_of_a_second_job_has_all_again)
{
	int cores = dist__cores(), first;

	dist__cores_bind(0);
	first = own_core();
	cr_assert_eq(dist__cores(), cores);
	dist__cores_bind(1);
	cr_assert_eq(own_core() == first, cores == 1);
	cr_assert_eq(dist__cores(), cores);
}

Test(cores, what_others_bind_to_counts)
{
	cpu_set_t all, one;
	int cpu = 0;

	cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
	dist__cores_bind(0);
	while (!CPU_ISSET(cpu, &all) || cpu == own_core())
		if (++cpu == CPU_SETSIZE)
			cr_skip_test("one processor");
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
	cr_assert_eq(dist__cores(), 1);
}
