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
	if (!sim && c->sim_only)
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
