/*
 * Random graphs of remote calls end as they must, and alike in both worlds.
 * PROGRAMS and SEED choose how many, and from where on.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/property/graph.h"

#define USUAL 40

static bool is_right(const struct forked *forked, int status)
{
	return forked->status == status && (status || !forked->text[0]);
}

static void run_all(const char *backend)
{
	const char *from = getenv("SEED"), *number = getenv("PROGRAMS");
	uint64_t seed = from ? strtoull(from, NULL, 0) : 1;
	uint64_t n = number ? strtoull(number, NULL, 0) : USUAL;
	int well = 0, deadlocks = 0, left = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct forked forked;
		struct graph graph;
		int status;

		graph_draw(&graph, seed + i);
		status = graph_status(&graph);
		well += status == DIST_EXIT_OK;
		deadlocks += status == DIST_EXIT_DEADLOCK;
		left += status == DIST_EXIT_LEFT;
		graph_run(&graph, backend, &forked);
		cr_expect(is_right(&forked, status),
			  "seed %llu, %s, %d ranks, %d calls: status %d, "
			  "expected %d\n%s",
			  (unsigned long long)graph.seed, backend,
			  graph.world_size, graph.num_nodes, forked.status,
			  status, forked.text);
	}
	fprintf(stderr, "%s: %d graphs well, %d deadlocks, %d left\n", backend,
		well, deadlocks, left);
	cr_expect(n < USUAL || (well && deadlocks && left));
}

Test(graphs, end_as_they_must_in_simulation)
{
	run_all("sim");
}

Test(graphs, end_as_they_must_over_tcp)
{
	run_all("tcp");
}
