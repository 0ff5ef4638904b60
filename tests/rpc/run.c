/*
 * The cases of torch's rpc_test that have a meaning in C, each in simulation
 * and over TCP. CASE=test_add runs that one alone.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rpc/bed.h"
#include "tests/support/forked.h"

struct job {
	const struct rpc_case *rpc_case;
	const char *backend;
};

static int launch(const void *arg)
{
	const struct job *job = arg;

	return bed_launch(job->rpc_case, job->backend);
}

static bool is_right(const struct rpc_case *c, const struct forked *forked)
{
	return forked->status == c->status &&
	       (c->text ? strstr(forked->text, c->text) != NULL
			: !forked->text[0]);
}

/* Sanitizers simulate ranks as threads, and an end of the process is its. */
static bool is_kept(const struct rpc_case *c, const char *backend)
{
	const char *sanitized = getenv("SANITIZED"), *only = getenv("CASE");

	bool sim = strcmp(backend, "sim") == 0;

	if (sim && c->ends_inside && sanitized && strcmp(sanitized, "yes") == 0)
		return false;
	return !only || strcmp(only, c->name) == 0;
}

/* Runs cases, and returns how many there are. */
static int run(const struct rpc_case *cases, const char *backend)
{
	struct forked forked;
	int n = 0;

	for (const struct rpc_case *c = cases; c->name; c++, n++) {
		const struct job job = {c, backend};

		if (!is_kept(c, backend))
			continue;
		fork_run(launch, &job, &forked);
		cr_expect(is_right(c, &forked),
			  "%s, %s: status %d, expected %d, \"%s\":\n%s",
			  c->name, backend, forked.status, c->status,
			  c->text ? c->text : "", forked.text);
	}
	return n;
}

static void run_all(const char *backend)
{
	const struct rpc_case *const all[] = {rpc_call_cases, rpc_future_cases,
					      rpc_rref_cases, rpc_life_cases,
					      rpc_error_cases};
	int n = 0;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		n += run(all[i], backend);
	cr_expect_geq(n, 60);
}

Test(rpc, cases_of_torch_in_simulation)
{
	run_all("sim");
}

Test(rpc, cases_of_torch_over_tcp)
{
	run_all("tcp");
}

/* ---- no case of torch's -------------------------------------------------- */

static int leave(void *arg)
{
	struct dist_group *group;
	struct dist_rpc *rpc;

	(void)arg;
	return dist_init_process_group(NULL, &group) ||
	       dist_rpc_init(group, NULL, &rpc);
}

static int launch_leavers(const void *arg)
{
	const struct dist_launch_options options = {
		.backend = arg,
		.platform = strcmp(arg, "sim") == 0
				    ? "scenarios/platforms/star-8.xml"
				    : NULL,
		.world_size = 2};

	return dist_launch(&options, leave, NULL);
}

Test(rpc, ranks_that_just_return_are_warned_of)
{
	static const char *const backends[] = {"sim", "tcp"};
	struct forked forked;

	for (int i = 0; i < 2; i++) {
		fork_run(launch_leavers, backends[i], &forked);
		cr_expect_eq(forked.status, DIST_EXIT_OK, "%s: %d", backends[i],
			     forked.status);
		cr_expect_str_eq(
			forked.text,
			"lockstep: warning: ranks 0-1 (2) left without "
			"rpc_shutdown: calls that were under way are lost\n",
			"%s: %s", backends[i], forked.text);
	}
}
