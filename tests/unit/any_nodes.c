/*
 * Platforms whose nodes stand for any number of them, where rank 0 runs for
 * all. Each test is one simulation.
 */
#define _DEFAULT_SOURCE /* mkstemp, fdopen */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "model/cluster/description.h"
#include "tests/support/okay.h"

#define RANKS 4096

static int runs; /* rank programs, of one test */

/* Writes the platform of two nodes of 8, and runs rank_main on it. */
static int simulate(const char *fidelity, int ranks, int (*rank_main)(void *))
{
	struct platform_description d = {.nodes = {{.count = 2, .gpus = 8}},
					 .kinds = 1,
					 .any_nodes = true};
	char path[] = "/tmp/any-nodes-XXXXXX";
	struct dist_message message;
	struct dist_launch_options options = {.backend = "sim",
					      .world_size = ranks,
					      .platform = path,
					      .algorithm = "ring",
					      .fidelity = fidelity};
	FILE *out = fdopen(mkstemp(path), "w");
	int status;

	cr_assert(out);
	cr_assert_not(platform_read_intra("nvswitch:100GB/s", &d.nodes[0].intra,
					  &message));
	cr_assert_not(platform_read_inter("ib:8x200G,lat=1us",
					  &d.nodes[0].inter, &message));
	cr_assert_not(platform_read_topology("star", &d.fabric, &message));
	cr_assert_not(platform_write(&d, NULL, "test", out, &message));
	cr_assert_eq(fclose(out), 0);
	status = dist_launch(&options, rank_main, NULL);
	(void)unlink(path);
	return status;
}

static struct dist_tensor phantom(size_t numel)
{
	return dist_tensor(NULL, numel, DIST_FLOAT32);
}

static struct dist_group *join(void)
{
	struct dist_group *group;

	runs++;
	okay(dist_init_process_group(NULL, &group));
	return group;
}

/* ---- what one rank can do for all -------------------------------------- */

static int all_alike(void *arg)
{
	struct dist_group *group = join(), *half;
	static float all[RANKS];
	double data = 2.5;
	float own = 7;
	int64_t start_ns;

	(void)arg;
	cr_expect_eq(dist_get_rank(group), 0);
	cr_expect_eq(dist_get_world_size(group), RANKS);
	okay(dist_barrier(group, NULL));
	start_ns = dist_now_ns(group);
	okay(dist_all_reduce(group, phantom(RANKS * 1000), DIST_SUM, NULL));
	cr_expect_gt(dist_now_ns(group), start_ns);
	okay(dist_all_reduce(group, dist_tensor(&data, 1, DIST_FLOAT64),
			     DIST_AVG, NULL));
	cr_expect_eq(data, 2.5);
	okay(dist_reduce(group, dist_tensor(&data, 1, DIST_FLOAT64), 0,
			 DIST_SUM, NULL));
	cr_expect_eq(data, 2.5 * RANKS);
	okay(dist_all_gather_single(group,
				    dist_tensor(all, RANKS, DIST_FLOAT32),
				    dist_tensor(&own, 1, DIST_FLOAT32), NULL));
	cr_expect_eq(all[RANKS - 1], 7);
	okay(dist_new_subgroups(group, RANKS / 2, NULL, &half));
	cr_expect_eq(dist_get_world_size(half), RANKS / 2);
	okay(dist_all_reduce(half, phantom(8), DIST_SUM, NULL));
	return dist_destroy_process_group(group) != DIST_OK;
}

Test(any_nodes, rank_0_runs_for_all)
{
	cr_assert_eq(simulate(NULL, RANKS, all_alike), DIST_EXIT_OK);
	cr_expect_eq(runs, 1);
}

/* ---- what it cannot ---------------------------------------------------- */

static int sends(void *arg)
{
	struct dist_group *group = join();

	(void)arg;
	cr_expect_eq(dist_send(group, phantom(1), 1, 0), DIST_ERR_IO);
	return dist_destroy_process_group(group) != DIST_OK;
}

Test(any_nodes, a_message_is_refused)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate(NULL, RANKS, sends), DIST_EXIT_USAGE);
}

static int scales(void *arg)
{
	struct dist_group *group = join();
	enum dist_reduce_op twice;
	float own = 1;

	(void)arg;
	okay(dist_make_premul_sum(group, 2, &twice));
	cr_expect_eq(dist_all_reduce(group, dist_tensor(&own, 1, DIST_FLOAT32),
				     twice, NULL),
		     DIST_ERR_IO);
	return dist_destroy_process_group(group) != DIST_OK;
}

Test(any_nodes, a_scaled_sum_of_data_is_refused)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate("formula", RANKS, scales), DIST_EXIT_USAGE);
}

Test(any_nodes, messages_cannot_be_simulated)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate("message", RANKS, all_alike), DIST_EXIT_USAGE);
	cr_expect_eq(runs, 0);
}
