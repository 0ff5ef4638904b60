/*
 * Flows that rank 0 runs for all, and those that show that it cannot. Each test
 * is one simulation.
 */
#define _DEFAULT_SOURCE /* mkstemp, fdopen */
#include <stdio.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "model/cluster/description.h"
#include "sim/launch.h"
#include "sim/tally.h"
#include "tests/support/okay.h"

#define NODES 8
#define GPUS  4

static int runs; /* rank programs, of one test */

static int reduce_all(void *arg)
{
	struct dist_group *group;
	struct dist_tensor gradients = dist_tensor(NULL, 8 << 20, DIST_FLOAT32);
	enum dist_error error;

	(void)arg;
	runs++;
	okay(dist_init_process_group(NULL, &group));
	error = dist_all_reduce(group, gradients, DIST_SUM, NULL);
	return dist_destroy_process_group(group) || error;
}

static const struct dist__tally *simulate(const char *algorithm,
					  const char *topology)
{
	struct platform_description d = {
		.nodes = {{.count = NODES, .gpus = GPUS}}, .kinds = 1};
	char path[] = "/tmp/flow-for-all-XXXXXX";
	const struct dist__sim_options more = {.are_alike = true};
	const struct dist_launch_options options = {.backend = "sim",
						    .world_size = NODES * GPUS,
						    .platform = path,
						    .algorithm = algorithm,
						    .fidelity = "flow",
						    .timeout_ns =
							    DIST_TIMEOUT_NEVER};
	struct dist_message message;
	FILE *out = fdopen(mkstemp(path), "w");

	cr_assert(out);
	cr_assert_not(platform_read_intra("nvswitch:300GB/s", &d.nodes[0].intra,
					  &message));
	cr_assert_not(
		platform_read_inter("ib:4x50G", &d.nodes[0].inter, &message));
	cr_assert_not(platform_read_topology(topology, &d.fabric, &message));
	cr_assert_not(platform_write(&d, NULL, "test", out, &message));
	cr_assert_eq(fclose(out), 0);
	cr_assert_eq(dist__sim_launch(&options, &more, reduce_all, NULL), 0);
	(void)unlink(path);
	cr_assert_eq(runs, 1);
	return dist__sim_tally();
}

Test(flow_for_all, chunks_on_links_of_their_own)
{
	const struct dist__tally *tally =
		simulate("all_reduce=hierarchical", "fat-tree:2x4");

	cr_assert_not(tally->has_parted);
	/* Inside every node, across by every place, inside. */
	cr_assert_eq(tally->flows, NODES + GPUS + NODES);
}

Test(flow_for_all, chunks_that_share_uplinks)
{
	cr_assert(simulate("all_reduce=hierarchical", "fat-tree:2x4,taper=4")
			  ->has_parted);
}

Test(flow_for_all, ends_that_differ)
{
	cr_assert(simulate("all_reduce=double_tree", "star")->has_parted);
}

/* By a tree, message by message. */
Test(flow_for_all, messages)
{
	cr_assert(simulate("all_reduce=binomial_tree", "star")->has_parted);
}
