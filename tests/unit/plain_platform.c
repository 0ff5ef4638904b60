/*
 * Platform files that we read ourselves: SimGrid, which reads them too, finds
 * the same ways; and those that are left to it.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/host.h>
#include <simgrid/link.h>

#include "model/cluster/description.h"
#include "sim/engine/shim.h"
#include "sim/platform/read.h"
#include "sim/platform/state.h"

#define MOST_LINKS 256
#define MOST_WAYS  4096 /* of a platform; others are passed over */

/* ---- the same ways ---------------------------------------------------- */

static void write_way(const struct dist__platform *p, int from, int to,
		      FILE *out)
{
	sg_host_t a = dist__platform_host(p, from);
	sg_host_t b = dist__platform_host(p, to);
	sg_link_t links[MOST_LINKS];
	size_t num = dist__engine_route_links(a, b, links, MOST_LINKS);
	double latency_s = 0;

	if (a != b)
		cr_assert(dist__engine_route(a, b, &latency_s, NULL, NULL));
	fprintf(out, "%s %s %a", sg_host_get_name(a), sg_host_get_name(b),
		latency_s);
	for (size_t i = 0; i < num; i++)
		fprintf(out, " %s %d %a", sg_link_get_name(links[i]),
			sg_link_is_shared(links[i]),
			sg_link_get_bandwidth(links[i]));
	fputc('\n', out);
}

/* All that matters of a platform, as text. */
static void write_platform(const struct dist__platform *p, FILE *out)
{
	int n = p->num_ranks, step = 1;
	const char *zones[8];

	while ((long)(n / step) * n > MOST_WAYS)
		step++;
	for (int i = 0; i < n; i++) {
		sg_host_t host = dist__platform_host(p, i);
		size_t num = dist__engine_zones(host, zones, 8);

		fprintf(out, "%s of %s", sg_host_get_name(host),
			dist__platform_node_name(host));
		for (size_t k = 0; k < num; k++)
			fprintf(out, " in %s", zones[k]);
		fprintf(out, " pace %a\n", dist__platform_pace(p, i));
	}
	for (int i = 0; i < n; i++)
		for (int k = i % step; k < n; k += step)
			write_way(p, i, k, out);
	for (size_t i = 0; i < p->num_facts; i++)
		fprintf(out, "%s %s\n", p->facts[i].key, p->facts[i].value);
	fprintf(out, "gpu %s\n",
		dist__engine_property("gpu") ? dist__engine_property("gpu")
					     : "");
}

static void load(const char *path, struct dist__plain *plain, FILE *out)
{
	struct dist__platform *platform;
	struct dist_message message = {""};

	cr_assert_eq(
		dist__platform_load(path, plain, 1, NULL, &platform, &message),
		DIST_OK, "%s", message.text);
	write_platform(platform, out);
	dist__platform_close(platform);
}

/* SimGrid has one platform a process. */
static char *read_by_simgrid(const char *path)
{
	FILE *out = tmpfile();
	pid_t child;
	char *text;
	long size;
	int status;

	cr_assert_not_null(out);
	child = fork();
	if (child == 0) {
		load(path, NULL, out);
		fflush(out);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert_eq(fseek(out, 0, SEEK_END), 0);
	size = ftell(out);
	text = calloc((size_t)size + 1, 1);
	cr_assert_not_null(text);
	rewind(out);
	cr_assert_eq(fread(text, 1, (size_t)size, out), (size_t)size);
	fclose(out);
	return text;
}

/* From release 3.34 on SimGrid reads all platforms itself. */
static void need_building(void)
{
	struct dist_message message;

	cr_assert(dist__engine_open(message.text, sizeof message.text));
	if (!dist__engine_can_build())
		cr_skip_test("platforms are not built in this SimGrid");
}

static void expect_same(const char *path)
{
	struct dist__plain *plain;
	char *theirs, *ours;
	size_t size;
	FILE *out;

	need_building();
	plain = dist__platform_read(path);
	cr_assert_not_null(plain, "%s is not plain", path);
	theirs = read_by_simgrid(path);
	out = open_memstream(&ours, &size);
	cr_assert_not_null(out);
	load(path, plain, out);
	fclose(out);
	cr_assert_str_eq(ours, theirs);
	free(ours);
	free(theirs);
}

struct file {
	char name[32];
};

ParameterizedTestParameters(plain_platform, ways_of_scenarios)
{
	static struct file files[] = {
		{"dragonfly-hdr-36x4"}, {"efa-p4d-8x8"},
		{"efa-p5-8x8"},         {"fat-tree-hdr-16x8"},
		{"h100-nvswitch-8"},    {"leaf-spine-roce-16x4"},
		{"pcie3-v100-4"},       {"tcp-10g-8x4"},
		{"v100-cube-mesh-8"},   {"v100-nvswitch-16"},
	};

	return cr_make_param_array(struct file, files,
				   sizeof files / sizeof files[0]);
}

ParameterizedTest(struct file *file, plain_platform, ways_of_scenarios)
{
	char path[128];

	snprintf(path, sizeof path, "scenarios/platforms/%s.xml", file->name);
	expect_same(path);
}

struct cluster {
	int nodes, gpus;
	char intra[64], inter[64], topology[64];
};

ParameterizedTestParameters(plain_platform, ways_of_clusters)
{
	static struct cluster clusters[] = {
		{1, 4, "pcie:16GB/s,sockets=2,socket=20GB/s", "", "star"},
		{4, 8, "pcie:16GB/s,sockets=4,socket=20GB/s", "ib:2x100G",
		 "leaf-spine:2x2,uplink=100G"},
		{3, 8, "cube-mesh:25GB/s", "ib:4x100G", "star"},
		{4, 8, "nvswitch:300GB/s", "ib:8x400G,bonded",
		 "fat-tree:2x2,taper=2"},
		{12, 2, "nvswitch:300GB/s", "ib:2x400G",
		 "fat-tree:2x2x3,taper=2"},
		{20, 1, "", "tcp:10G,bonded",
		 "dragonfly:3x4x2,local=100G,global=50G"},
		{126, 1, "", "roce:100G", "star"},
	};

	return cr_make_param_array(struct cluster, clusters,
				   sizeof clusters / sizeof clusters[0]);
}

ParameterizedTest(struct cluster *cluster, plain_platform, ways_of_clusters)
{
	struct platform_description d = {
		.nodes = {{.count = cluster->nodes,
			   .gpus = cluster->gpus,
			   .gpu = "\"H100\" <80 & more>"}},
		.kinds = 1,
		.slow = {{"node0", 0.5}},
		.num_slow = 1};
	char path[] = "/tmp/lockstep-plain-XXXXXX";
	struct dist_message message = {""};
	FILE *out = fdopen(mkstemp(path), "w");

	cr_assert_not_null(out);
	cr_assert_eq(
		platform_read_topology(cluster->topology, &d.fabric, &message),
		DIST_OK, "%s", message.text);
	if (cluster->intra[0])
		cr_assert_eq(platform_read_intra(cluster->intra,
						 &d.nodes[0].intra, &message),
			     DIST_OK, "%s", message.text);
	if (cluster->inter[0])
		cr_assert_eq(platform_read_inter(cluster->inter,
						 &d.nodes[0].inter, &message),
			     DIST_OK, "%s", message.text);
	cr_assert_eq(platform_check(&d, &message), DIST_OK, "%s", message.text);
	cr_assert_eq(platform_write(&d, "t", "c", out, &message), DIST_OK);
	cr_assert_eq(fclose(out), 0);
	expect_same(path);
	unlink(path);
}

/* ---- what is left to SimGrid ------------------------------------------ */

#define HEAD                                                                   \
	"<?xml version='1.0'?>\n<platform version=\"4.1\"><config>"            \
	"<prop id=\"network/model\" value=\"CM02\"/>"                          \
	"<prop id=\"network/crosstraffic\" value=\"0\"/>"                      \
	"<prop id=\"network/TCP-gamma\" value=\"0\"/></config>"
#define ZONE  "<zone id=\"z\" routing=\"Dijkstra\">"
#define HOSTS "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>"
#define LINK  "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>"
#define ROUTE "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>"
#define END   "</zone></platform>\n"

static bool is_plain(const char *text)
{
	char path[] = "/tmp/lockstep-plain-XXXXXX";
	FILE *out = fdopen(mkstemp(path), "w");
	struct dist__plain *plain;

	cr_assert_not_null(out);
	fputs(text, out);
	cr_assert_eq(fclose(out), 0);
	plain = dist__platform_read(path);
	unlink(path);
	dist__plain_free(plain);
	return plain != NULL;
}

Test(plain_platform, what_is_odd_is_left_to_simgrid)
{
	static const char *const odd[] = {
		"",
		HEAD,
		HEAD ZONE HOSTS LINK END,             /* no way */
		HEAD ZONE HOSTS LINK ROUTE ROUTE END, /* two */
		HEAD ZONE HOSTS LINK LINK ROUTE END,
		HEAD ZONE HOSTS HOSTS LINK ROUTE END,
		HEAD ZONE HOSTS ROUTE LINK END,
		HEAD ZONE HOSTS LINK ROUTE END "<a/>",
		HEAD ZONE "<!-- -->" HOSTS LINK ROUTE "</zone>",
		HEAD ZONE HOSTS LINK
		"<route src=\"a\" dst=\"c\"><link_ctn id=\"l\"/></route>" END,
		HEAD ZONE HOSTS LINK
		"<route src=\"a\" dst=\"b\"><link_ctn id=\"m\"/></route>" END,
		HEAD ZONE HOSTS LINK
		"<route src=\"a\" dst=\"b\">"
		"<link_ctn id=\"l\" direction=\"UP\"/></route>" END,
		HEAD ZONE HOSTS LINK
		"<route src=\"a\" dst=\"b\" "
		"symmetrical=\"NO\"><link_ctn id=\"l\"/></route>" END,
		HEAD ZONE HOSTS
		"<link id=\"l\" bandwidth=\"0Bps\" latency=\"1us\"/>" ROUTE END,
		HEAD ZONE HOSTS
		"<link id=\"l\" bandwidth=\"1\" latency=\"1us\"/>" ROUTE END,
		HEAD ZONE "<host id=\"a\" speed=\"1Gf\" core=\"4\"/>"
			  "<host id=\"b\" speed=\"1Gf\"/>" LINK ROUTE END,
		HEAD "<cluster id=\"c\"/></platform>",
		HEAD "<zone id=\"z\" routing=\"Floyd\">" HOSTS LINK ROUTE END,
		"<platform version=\"4.1\"><config><prop id=\"network/model\" "
		"value=\"CM02\"/></config>" ZONE HOSTS LINK ROUTE END,
		HEAD ZONE
		"<prop id=\"nodes\" value=\"any\"/>" HOSTS LINK ROUTE END,
		HEAD ZONE
		"<host id=\"a\" speed=\"1Gf\"><prop id=\"pace\" "
		"value=\"0\"/></host><host id=\"b\" speed=\"1Gf\"/>" LINK ROUTE
			END,
		HEAD ZONE
		"<host id=\"a\" speed=\"1Gf\"><prop id=\"ranks\" "
		"value=\"2\"/></host><host id=\"b\" speed=\"1Gf\"/>" LINK ROUTE
			END,
		HEAD ZONE HOSTS LINK "<route src=\"a\" dst=\"b\">"
				     "<link_ctn id=\"&#108;\"/></route>" END,
	};

	need_building();
	cr_assert(is_plain(HEAD ZONE HOSTS LINK ROUTE END));
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
		cr_assert_not(is_plain(odd[i]), "%zu is plain", i);
}

/* A loader that reads everything twice, or looks links up by name zone by zone,
 * takes ten times as long. */
Test(plain_platform, no_child_is_needed)
{
	struct dist__platform *platform;
	struct dist_message message = {""};

	need_building();
	cr_assert_eq(
		dist__platform_open("scenarios/platforms/fat-tree-ndr-16x8.xml",
				    128, NULL, &platform, &message),
		DIST_OK, "%s", message.text);
	cr_assert_eq(waitpid(-1, NULL, 0), -1);
	dist__platform_close(platform);
}

/* What GPU a platform names is the same where SimGrid is not asked. */
Test(plain_platform, names_its_gpu_without_simgrid)
{
	size_t named = 0;
	glob_t files;

	cr_assert_eq(glob("scenarios/platforms/*.xml", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		char read[64], loaded[64];
		struct dist_message message;
		int hosts;

		cr_assert_eq(dist__platform_gpu_named(files.gl_pathv[i], read,
						      &message),
			     DIST_OK);
		cr_assert_eq(dist__platform_gpu(files.gl_pathv[i], NULL, &hosts,
						NULL, loaded, &message),
			     DIST_OK);
		cr_expect_str_eq(read, loaded, "%s", files.gl_pathv[i]);
		named += *read != '\0';
	}
	cr_expect(named > 5 && named < files.gl_pathc, "%zu of %zu", named,
		  files.gl_pathc);
	globfree(&files);
}
