/*
 * A ring all-reduce on platforms that are written from a description: simulated
 * time against the closed form. All ranks take 2 (P - 1) steps, each as long as
 * the slowest way between neighbours: its latency and a P-th of the bytes.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "tests/support/described.h"

#define ERROR 1e-6
#define BYTES (48 << 20) /* shares out among all the worlds below */

/* Options, and what the slowest way between neighbours has. */
struct setup {
	int nodes, gpus;
	char intra[64], inter[64], topology[64], degrade[32];
	double latency_us, GBps;
};

ParameterizedTestParameters(platforms, ring)
{
	static struct setup setups[] = {
		{1, 8, "nvswitch:235.3GB/s", "", "star", "", 0.6, 235.3},
		{1, 8, "nvswitch:300GB/s,lat=1us", "", "star",
		 "node0.gpu3.nvlink:0.25", 1, 75},
		{1, 4, "pcie:12GB/s", "", "star", "", 1, 12},
		{1, 4, "pcie:12GB/s,sockets=2,socket=8GB/s", "", "star", "",
		 1.5, 8},
		{6, 1, "", "tcp:25G", "star", "", 22.2, 3.125},
		{4, 1, "", "efa:4x100G,lat=15us", "star", "", 16, 50},
		{4, 1, "", "ib:400G,pcie=31GB/s", "star", "", 2.7, 31},
		{2, 2, "nvswitch:300GB/s", "ib:2x200G", "star", "", 2.7, 25},
		{2, 2, "nvswitch:300GB/s", "ib:2x200G,bonded", "star", "", 2.3,
		 50},
		{2, 4, "pcie:12GB/s,sockets=2,socket=8GB/s", "roce:100G",
		 "star", "", 3.2, 8},
		{4, 1, "", "ib:200G", "fat-tree:2x2,taper=4,hop=1us", "", 4.7,
		 12.5},
		{8, 1, "", "ib:200G", "fat-tree:2x2x2,hop=1us", "", 6.7, 25},
		{4, 1, "", "ib:200G", "leaf-spine:2x1,uplink=100G,hop=1us", "",
		 4.7, 12.5},
		{4, 1, "", "ib:200G",
		 "dragonfly:2x2x1,local=50G,global=400G,hop=1us", "", 4.7,
		 6.25},
		{4, 1, "", "ib:200G", "star", "node2.nic0:0.5", 2.7, 12.5},
	};

	return cr_make_param_array(struct setup, setups,
				   sizeof setups / sizeof setups[0]);
}

/* Stores the time at which the last rank is done. */
static int all_reduce(void *arg)
{
	int64_t *end_ns = arg;
	struct dist_group *group;

	if (dist_init_process_group(NULL, &group) ||
	    dist_all_reduce(group, dist_tensor(NULL, BYTES / 4, DIST_FLOAT32),
			    DIST_SUM, NULL))
		return 1;
	if (dist_now_ns(group) > *end_ns)
		*end_ns = dist_now_ns(group);
	return dist_destroy_process_group(group) != DIST_OK;
}

ParameterizedTest(struct setup *setup, platforms, ring)
{
	char path[] = "/tmp/lockstep-model-XXXXXX";
	int ranks = setup->nodes * setup->gpus;
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = path,
		.world_size = ranks,
		.algorithm = "all_reduce=ring",
		.timeout_ns = DIST_TIMEOUT_DEFAULT,
	};
	const struct described described = {
		.nodes = setup->nodes,
		.gpus = setup->gpus,
		.intra = setup->intra,
		.inter = setup->inter,
		.topology = setup->topology,
		.degrade = setup->degrade,
	};
	double step_ns =
		setup->latency_us * 1e3 + (double)BYTES / ranks / setup->GBps;
	double want = 2 * (ranks - 1) * step_ns;
	int64_t end_ns = 0;
	int status;

	described_write(&described, path);
	status = dist_launch(&options, all_reduce, &end_ns);
	unlink(path);
	cr_assert_eq(status, DIST_EXIT_OK);
	cr_expect(fabs((double)end_ns - want) <= ERROR * want + 2,
		  "%d x %d %s %s %s: formula %.0f ns, simulated %.0f ns",
		  setup->nodes, setup->gpus, setup->intra, setup->inter,
		  setup->topology, want, (double)end_ns);
}
