/* Platforms from words: what options mean, and what is refused. */
#include <math.h>
#include <string.h>

#include "model/cluster/description.h"
#include "tests/support/okay.h"

static struct dist_message message;

/* ---- what options mean ------------------------------------------------ */

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

Test(platform, a_bandwidth_has_a_unit)
{
	static const struct {
		const char *text;
		double Bps;
	} good[] = {{"ib:400G", 50e9},       {"ib:100Gbps", 12.5e9},
		    {"ib:1T", 125e9},        {"ib:1.5GB/s", 1.5e9},
		    {"tcp:100M", 12.5e6},    {"tcp:3.125GBps", 3.125e9},
		    {"roce:0.1TB/s", 100e9}, {"tcp:8K", 1e3}};
	struct platform_inter inter;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		okay_or(platform_read_inter(good[i].text, &inter, &message),
			message);
		cr_expect(near(inter.nic.bandwidth_Bps, good[i].Bps), "%s: %g",
			  good[i].text, inter.nic.bandwidth_Bps);
	}
}

Test(platform, cards_are_counted_and_may_be_bonded)
{
	struct platform_inter inter;

	okay(platform_read_inter("ib:8x200G", &inter, &message));
	cr_expect_eq(inter.nics, 8);
	cr_expect_not(inter.bonded);
	cr_expect(near(inter.nic.latency_s, 0.85e-6));
	okay(platform_read_inter("efa:32x100G,lat=30us,bonded", &inter,
				 &message));
	cr_expect_eq(inter.nics, 32);
	cr_expect(inter.bonded);
	cr_expect(near(inter.nic.latency_s, 15e-6));
}

Test(platform, a_cube_mesh_has_six_links_a_gpu)
{
	struct platform_intra intra;

	okay(platform_read_intra("cube-mesh:25GB/s", &intra, &message));
	for (int i = 0; i < 8; i++) {
		int links = 0;

		for (int j = 0; j < 8; j++) {
			links += intra.links[i][j];
			cr_expect_eq(intra.links[i][j], intra.links[j][i]);
		}
		cr_expect_eq(links, 6);
	}
}

Test(platform, a_topology_has_a_shape)
{
	struct platform_fabric fabric;

	okay(platform_read_topology("fat-tree:16x8x4,taper=2,hop=1us", &fabric,
				    &message));
	cr_expect_eq(fabric.levels, 3);
	cr_expect_eq(fabric.shape[0], 16);
	cr_expect_eq(fabric.shape[1], 8);
	cr_expect_eq(fabric.shape[2], 4);
	cr_expect_eq(fabric.taper, 2);
	cr_expect(near(fabric.hop_s, 1e-6));
}

/* ---- what is refused -------------------------------------------------- */

static void expect_refusal(enum dist_error error, const char *text,
			   const char *says)
{
	cr_expect_eq(error, DIST_ERR_INVALID_ARGUMENT, "%s: accepted", text);
	cr_expect_not_null(strstr(message.text, says), "%s: %s", text,
			   message.text);
	cr_expect_null(strchr(message.text, '\n'));
}

Test(platform, bad_values_of_options_are_refused)
{
	static const struct {
		char option; /* Intra, inter (X) or Topology */
		const char *text, *says;
	} bad[] = {
		{'I', "", "nvswitch:BANDWIDTH"},
		{'I', "nvswitch", "bandwidth with its unit"},
		{'I', "nvswitch:300", "bandwidth with its unit"},
		{'I', "nvswitch:-3GB/s", "bandwidth with its unit"},
		{'I', "nvswitch:infGB/s", "bandwidth with its unit"},
		{'I', "nvswitch:3GB/s,sockets=2", "no word \"sockets\""},
		{'I', "nvswitch:3GB/s,lat=0us", "above 0"},
		{'I', "nvswitch:3GB/s,lat=5", "time with its unit"},
		{'I', "nvswitch:3GB/s,lat=1us,lat=1us", "twice"},
		{'I', "pcie:3GB/s,sockets=0", "expected 1 to 8"},
		{'I', "pcie:3GB/s,sockets=2", "socket: expected a bandwidth"},
		{'I', "nvswitch:3G,a,b,c,d,e,f,g,h,i", "too many commas"},
		{'X', "myrinet:8x400G", "ib, roce, efa or tcp"},
		{'X', "ib", "CARDSx"},
		{'X', "ib:8x", "CARDSx"},
		{'X', "ib:0x400G", "1 to 256 cards"},
		{'X', "ib:257x400G", "1 to 256 cards"},
		{'X', "efa:4x100G", "expected lat=TIME"},
		{'X', "ib:400G,pcie=fast", "pcie: expected a bandwidth"},
		{'T', "mesh", "expected star"},
		{'T', "star:4", "nothing behind"},
		{'T', "leaf-spine:4,uplink=400G", "LEAVESxSPINES"},
		{'T', "leaf-spine:4x2", "uplink: expected a bandwidth"},
		{'T', "fat-tree:0x4", "1 to 65536"},
		{'T', "fat-tree:4x4x4x4", "up to 3 numbers"},
		{'T', "fat-tree:4x4x", "up to 3 numbers"},
		{'T', "fat-tree:4x4,taper=0.5", "expected 1 to 64"},
		{'T', "dragonfly:4x4x4,local=25G", "global: expected"},
	};
	struct platform_fabric fabric;
	struct platform_intra intra;
	struct platform_inter inter;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const char *text = bad[i].text;

		expect_refusal(
			bad[i].option == 'I'
				? platform_read_intra(text, &intra, &message)
			: bad[i].option == 'X'
				? platform_read_inter(text, &inter, &message)
				: platform_read_topology(text, &fabric,
							 &message),
			text, bad[i].says);
	}
}

Test(platform, bad_changes_are_refused)
{
	static const char *const bad[] = {"",     "node0",  ":0.5",
					  "a:",   "a:0",    "a:1.5",
					  "a:-1", "a:0.5x", "a:nan"};
	struct platform_change changes[PLATFORM_CHANGES];
	int n = 0;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		expect_refusal(platform_read_change("--slow", bad[i], changes,
						    &n, &message),
			       bad[i], "expected");
	cr_expect_eq(n, 0);
	okay(platform_read_change("--slow", "node0:1", changes, &n, &message));
	expect_refusal(platform_read_change("--slow", "node0:0.5", changes, &n,
					    &message),
		       "again", "twice");
}

Test(platform, parts_that_do_not_fit_are_refused)
{
	static const struct {
		int nodes, gpus;
		const char *intra, *inter, *topology, *says;
	} bad[] = {
		{1, 2, NULL, NULL, "star", "expected --intra"},
		{2, 1, NULL, NULL, "star", "expected --inter"},
		{1, 4, "cube-mesh:25GB/s", NULL, "star", "mesh"},
		{1, 200, "cube-mesh:25GB/s", NULL, "star", "mesh"},
		{1, 3, "pcie:9GB/s,sockets=2,socket=9GB/s", NULL, "star",
		 "2 sockets"},
		{2, 8, "nvswitch:9GB/s", "ib:3x1G", "star", "3 cards"},
		{5, 1, NULL, "ib:1G", "fat-tree:2x2", "room for 4 nodes"},
		{9, 1, NULL, "ib:1G", "dragonfly:2x2x2,local=1G,global=1G",
		 "room for 8 nodes"},
		{129, 1, NULL, "ib:1G", "star",
		 "room for 128 nodes (128 under each of 1 switches), not for "
		 "129: expected one with room, such as lockstep platform new "
		 "--topology fat-tree:128x2"},
		{2, 1, NULL, "ib:1G", "fat-tree:129x2", "1 to 128"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct platform_description d = {.kinds = 1};
		struct platform_nodes *n = &d.nodes[0];

		n->count = bad[i].nodes;
		n->gpus = bad[i].gpus;
		if (bad[i].intra)
			okay(platform_read_intra(bad[i].intra, &n->intra,
						 &message));
		if (bad[i].inter)
			okay(platform_read_inter(bad[i].inter, &n->inter,
						 &message));
		okay(platform_read_topology(bad[i].topology, &d.fabric,
					    &message));
		expect_refusal(platform_check(&d, &message), bad[i].says,
			       bad[i].says);
	}
}
