/*
 * What joins ranks: of a measured machine, of a platform, and that a platform
 * written of a machine has the machine's fabric.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/cluster/machine.h"
#include "sim/platform/platform.h"
#include "tests/support/okay.h"

static void load_machine(const char *name, struct machine *machine)
{
	char path[256];
	struct dist_message message;

	snprintf(path, sizeof path, "%s/machines/%s.yaml", "scenarios", name);
	okay_or(machine_load(machine, path, &message), message);
}

/* Writes the platform of a machine and opens it. */
static struct dist__platform *open_written(const struct machine *machine,
					   const char *transport, int nodes,
					   int node_ranks, const char *worn)
{
	struct platform_description d = {.nodes = {{.count = nodes}},
					 .kinds = 1};
	char path[] = "/tmp/lockstep-fabric-XXXXXX";
	struct dist__platform *platform;
	struct dist_message message = {""};
	int file = mkstemp(path);
	FILE *out = fdopen(file, "w");

	cr_assert_not_null(out);
	okay(platform_read_topology("star", &d.fabric, &message));
	okay_or(platform_of_machine(machine, transport, node_ranks, &d.nodes[0],
				    &message),
		message);
	if (worn)
		okay(platform_read_change("--degrade", worn, d.degraded,
					  &d.num_degraded, &message));
	okay_or(platform_check(&d, &message), message);
	okay(platform_write(&d, "t", "c", out, &message));
	cr_assert_eq(fclose(out), 0);
	okay_or(dist__platform_open(path, nodes * node_ranks, NULL, false,
				    &platform, &message),
		message);
	unlink(path);
	return platform;
}

struct place {
	char machine[32], transport[32];
	int nodes, node_ranks;
};

ParameterizedTestParameters(fabric, of_a_written_machine)
{
	static struct place places[] = {
		{"aws-p5", "efa", 2, 8},
		{"aws-p5", "efa", 3, 1},
		{"aws-p4de", "efa", 2, 8},
		{"alps-gh200", "tcp", 2, 4},
		{"mn5-acc", "ib", 16, 4},
		{"dgx-1", "ib", 2, 8},
		{"dgx-2", "", 1, 12},
		{"hkbu-2080ti", "ib", 8, 4},
		{"mn5-gpp", "ib", 32, 1},
		{"server-1gbe", "tcp", 2, 1},
		{"a100-pcie-4", "", 1, 4},
		{"oci-a100", "roce", 2, 8},
		{"gb200-nvl72", "nvlink", 18, 4},
	};

	return cr_make_param_array(struct place, places,
				   sizeof places / sizeof places[0]);
}

static bool is_close(double a, double b)
{
	return a - b < 1e-6 * b && b - a < 1e-6 * b;
}

static void same_figure(double got, double wanted, const char *what)
{
	cr_expect(got == wanted || is_close(got, wanted), "%g %s, not %g", got,
		  what, wanted);
}

ParameterizedTest(struct place *place, fabric, of_a_written_machine)
{
	const char *transport = place->transport[0] ? place->transport : NULL;
	struct dist_message message = {""};
	struct dist__platform *platform;
	struct fabric wanted, got;
	struct machine machine;

	load_machine(place->machine, &machine);
	okay_or(machine_fabric(&machine, transport, place->nodes,
			       place->node_ranks, &wanted, &message),
		message);
	platform = open_written(&machine, transport, place->nodes,
				place->node_ranks, NULL);
	okay(dist__platform_fabric(platform, NULL,
				   place->nodes * place->node_ranks, &got));
	dist__platform_close(platform);
	cr_expect_eq(got.nodes, wanted.nodes);
	cr_expect_eq(got.node_ranks, wanted.node_ranks);
	cr_expect_str_eq(got.gpu, wanted.gpu);
	cr_expect_eq(got.intra, wanted.intra);
	cr_expect_str_eq(got.transport, wanted.transport);
	cr_expect_eq(got.cards, wanted.cards, "%d cards, not %d", got.cards,
		     wanted.cards);
	same_figure(got.intra_Bps, wanted.intra_Bps, "B/s inside");
	same_figure(got.socket_Bps, wanted.socket_Bps, "B/s between sockets");
	same_figure(got.intra_latency_ns, wanted.intra_latency_ns, "ns inside");
	same_figure(got.card_Bps, wanted.card_Bps, "B/s a card");
	same_figure(got.inter_latency_ns, wanted.inter_latency_ns,
		    "ns between nodes");
}

Test(fabric, figures_of_a_machine)
{
	struct dist_message message = {""};
	struct machine machine;
	struct fabric fabric;

	load_machine("alps-gh200", &machine);
	okay(machine_fabric(&machine, "slingshot", 2, 4, &fabric, &message));
	cr_expect_eq(fabric.intra, FABRIC_NVLINK);
	cr_expect(is_close(fabric.intra_Bps, 450e9));
	cr_expect(is_close(fabric.intra_latency_ns, 600));
	cr_expect_eq(fabric.cards, 4);
	cr_expect(is_close(fabric.card_Bps, 25e9));
	cr_expect(is_close(fabric.inter_latency_ns, 3800 + 1000));
	refused_with(machine_fabric(&machine, "ib", 2, 4, &fabric, &message),
		     message, "slingshot or tcp");
	cr_expect_eq(machine_fabric(&machine, NULL, 1, 5, &fabric, &message),
		     DIST_ERR_INVALID_ARGUMENT);
}

Test(fabric, what_is_not_known_is_a_guess)
{
	struct dist_message message = {""};
	struct machine machine;
	struct fabric fabric;

	load_machine("aws-ena", &machine);
	okay(machine_fabric(&machine, "tcp", 4, 1, &fabric, &message));
	cr_expect(fabric.guessed);
	cr_expect(is_close(fabric.card_Bps, 1.25e9));
	cr_expect_eq(fabric.gpu[0], '\0');
	/* Processors have no PCIe on their way. */
	cr_expect(is_close(fabric.inter_latency_ns, 21200));
}

Test(fabric, of_some_ranks)
{
	static const int rail[] = {1, 9, 17}, node[] = {8, 9, 10};
	struct dist__platform *platform;
	struct machine machine;
	struct fabric fabric;

	load_machine("oci-a100", &machine);
	platform = open_written(&machine, "roce", 3, 8, NULL);
	okay(dist__platform_fabric(platform, rail, 3, &fabric));
	cr_expect_eq(fabric.nodes, 3);
	cr_expect_eq(fabric.node_ranks, 1);
	cr_expect_eq(fabric.intra, FABRIC_ALONE);
	cr_expect_eq(fabric.cards, 2);
	cr_expect(is_close(fabric.card_Bps, 12.5e9));
	okay(dist__platform_fabric(platform, node, 3, &fabric));
	cr_expect_eq(fabric.nodes, 1);
	cr_expect_eq(fabric.node_ranks, 3);
	cr_expect_eq(fabric.intra, FABRIC_NVSWITCH);
	cr_expect_eq(fabric.cards, 0);
	dist__platform_close(platform);
}

ParameterizedTestParameters(fabric, what_is_worn_does_not_count)
{
	static char worn[][32] = {"node0.nic0:0.1", "node1.nic0:0.1",
				  "node0.gpu0.nvlink:0.1"};

	return cr_make_param_array(char[32], worn, 3);
}

/* Whichever part is worn, a library takes the cluster to be what it was. */
ParameterizedTest(char *worn, fabric, what_is_worn_does_not_count)
{
	static const int ones[] = {0, 8, 16, 24};
	struct dist__platform *platform;
	struct fabric fabric, rail;
	struct machine machine;

	load_machine("dgx-a100", &machine);
	platform = open_written(&machine, "ib", 4, 8, worn);
	okay(dist__platform_fabric(platform, NULL, 32, &fabric));
	okay(dist__platform_fabric(platform, ones, 4, &rail));
	dist__platform_close(platform);
	same_figure(fabric.intra_Bps, 300e9, worn);
	same_figure(fabric.card_Bps, 25e9, worn);
	same_figure(rail.card_Bps, 25e9, worn);
}

Test(fabric, of_bonded_cards_in_a_platform_that_comes_with_us)
{
	struct dist_message message = {""};
	struct dist__platform *platform;
	struct fabric fabric;

	okay_or(dist__platform_open("scenarios/platforms/dgx-a100-8x8.xml", 64,
				    NULL, false, &platform, &message),
		message);
	okay(dist__platform_fabric(platform, NULL, 64, &fabric));
	dist__platform_close(platform);
	cr_expect_eq(fabric.intra, FABRIC_NVSWITCH);
	cr_expect(fabric.intra_reached);
	cr_expect_str_eq(fabric.transport, "ib");
	cr_expect_eq(fabric.cards, 8);
	cr_expect(is_close(fabric.card_Bps, 196.6e9 / 8));
}
