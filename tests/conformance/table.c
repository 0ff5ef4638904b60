/*
 * The conformance table on every back end, algorithm and world size; and the
 * bytes of sim held against those of tcp.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/cases.h"

#define PLATFORM "tests/support/star16.xml"

struct setup {
	char algorithms[160];
	int world_size;
};

/* Runs the table on backend in a child of its own: one simulation a process. */
static void run_table(const char *backend, const struct setup *setup,
		      struct cases_outcome *outcome)
{
	int status, rank;
	pid_t child;

	fflush(NULL);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0)
		_exit(cases_run(backend, PLATFORM, setup->algorithms,
				setup->world_size, outcome));
	cr_assert_eq(waitpid(child, &status, 0), child);
	for (rank = 0; rank < setup->world_size; rank++)
		cr_expect_eq(outcome->failures[rank], 0, "%s: %s", backend,
			     outcome->first[rank]);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		  "%s, %s, world size %d: status %#x", backend,
		  setup->algorithms, setup->world_size, (unsigned)status);
	cr_assert_gt(outcome->count, 2000);
	cr_assert_lt(outcome->count, CASES_MAX);
}

ParameterizedTestParameters(conformance, sim_and_tcp_agree)
{
	static const char *const algorithms[] = {
		"all_reduce=ring,all_gather=ring,reduce_scatter=ring,"
		"all_to_all=pairwise,gather=binomial,scatter=linear",
		"all_reduce=recursive_doubling,all_gather=recursive_doubling,"
		"reduce_scatter=recursive_halving,all_to_all=linear,"
		"gather=linear,scatter=binomial",
		"all_reduce=halving_doubling,all_gather=bruck",
		"all_reduce=binomial_tree",
	};
	static const int worlds[] = {1, 2, 3, 4, 5, 7, 8, 16};
	static struct setup setups[4 * 8];
	size_t n = 0;

	for (int a = 0; a < 4; a++)
		for (int w = 0; w < 8; w++, n++) {
			strcpy(setups[n].algorithms, algorithms[a]);
			setups[n].world_size = worlds[w];
		}
	return cr_make_param_array(struct setup, setups, n);
}

ParameterizedTest(struct setup *setup, conformance, sim_and_tcp_agree,
		  .timeout = 300)
{
	struct cases_outcome *sim = cases_outcome_new();
	struct cases_outcome *tcp = cases_outcome_new();

	cr_assert(sim && tcp);
	run_table("sim", setup, sim);
	run_table("tcp", setup, tcp);
	cr_assert_eq(sim->count, tcp->count);
	for (int rank = 0; rank < setup->world_size; rank++)
		for (uint32_t i = 0; i < sim->count; i++)
			cr_expect_eq(sim->digest[rank][i], tcp->digest[rank][i],
				     "%s, world size %d: case %u on rank %d: "
				     "sim and tcp differ",
				     setup->algorithms, setup->world_size, i,
				     rank);
	fprintf(stderr, "%u cases x 2 back ends: %s, world size %d\n",
		sim->count, setup->algorithms, setup->world_size);
	cases_outcome_free(sim);
	cases_outcome_free(tcp);
}
