/*
 * Platform files that we read ourselves: SimGrid finds the same in them, to the
 * last bit; and those that are left to it.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/cluster/description.h"
#include "sim/engine/shim.h"
#include "sim/platform/read.h"
#include "sim/platform/show.h"
#include "sim/platform/state.h"
#include "tests/support/okay.h"

#define MOST_LINKS 256
#define MOST_WAYS  4096 /* of a platform; others are passed over */

/* ---- the same ways ---------------------------------------------------- */

static void write_way(const struct dist__platform *p, int from, int to,
		      FILE *out)
{
	uint32_t links[MOST_LINKS];
	double latency_s = 0;
	size_t num = p->graph->find_way(p->graph, dist__platform_host(p, from),
					dist__platform_host(p, to), links,
					MOST_LINKS, &latency_s);

	fprintf(out, "%s %s %zu %a", dist__platform_host_name(p, from),
		dist__platform_host_name(p, to), num, latency_s);
	for (size_t i = 0; i < num && num <= MOST_LINKS; i++) {
		const struct dist__graph_link *link =
			&p->graph->links[links[i]];

		fprintf(out, " %s %d %d %a %a", link->name, link->is_shared,
			link->is_on, link->bandwidth_Bps, link->latency_s);
	}
	fputc('\n', out);
}

/* All that matters of a platform, as text. */
static void write_platform(const struct dist__platform *p, FILE *out)
{
	static const char *const properties[] = {"gpu", "intra", "queues"};
	struct dist__rows links = dist__platform_links(p);
	int n = p->num_ranks, step = 1;
	const char *zones[8];

	while ((long)(n / step) * n > MOST_WAYS)
		step++;
	for (int i = 0; i < n; i++) {
		const struct dist__seat *seat =
			&p->seats[dist__platform_seat(p, i)];
		size_t num = dist__graph_zones(p->graph, seat->host, zones, 8);

		fprintf(out, "%s of %s", seat->name, seat->node);
		for (size_t k = 0; k < num; k++)
			fprintf(out, " in %s", zones[k]);
		fprintf(out, " pace %a speed %a ranks %d\n", seat->pace,
			p->graph->hosts[seat->host].speed, seat->ranks);
	}
	for (int i = 0; i < n; i++)
		for (int k = i % step; k < n; k += step)
			write_way(p, i, k, out);
	for (size_t i = 0; i < p->num_facts; i++)
		if (strcmp(p->facts[i].key, "SimGrid") != 0)
			fprintf(out, "%s %s\n", p->facts[i].key,
				p->facts[i].value);
	for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
		const char *text =
			dist__graph_zone_property(p->graph, properties[i]);

		fprintf(out, "%s %s\n", properties[i], text ? text : "-");
	}
	cr_assert_eq(dist__rows_section(&links, "", FORM_TEXT, out), 0);
}

static void load(const char *path, struct dist__plain *plain, FILE *out)
{
	struct dist__platform *platform;
	struct dist_message message = {""};

	okay_or(dist__platform_load(path, plain, 1, NULL, &platform, &message),
		message);
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

static void expect_same(const char *path)
{
	struct dist_message message;
	struct dist__plain *plain;
	size_t size, same = 0, begin = 0;
	char *theirs, *ours;
	FILE *out;

	plain = dist__platform_read(path);
	cr_assert_not_null(plain, "%s is not plain", path);
	cr_assert(dist__engine_open(message.text, sizeof message.text), "%s",
		  message.text);
	theirs = read_by_simgrid(path);
	out = open_memstream(&ours, &size);
	cr_assert_not_null(out);
	load(path, plain, out);
	fclose(out);
	while (ours[same] && ours[same] == theirs[same])
		begin = ours[same++] == '\n' ? same : begin;
	/* All of it is more than Criterion can carry. */
	cr_assert(ours[same] == theirs[same], "ours: %.300s\ntheirs: %.300s",
		  ours + begin, theirs + begin);
	free(ours);
	free(theirs);
}

struct file {
	char name[64];
};

/* All files that come with us, but for those with topologies of SimGrid's. */
ParameterizedTestParameters(plain_platform, ways_of_files)
{
	static struct file files[64];
	size_t num = 0;
	glob_t found;

	cr_assert_eq(glob("scenarios/platforms/*.xml", 0, NULL, &found), 0);
	cr_assert_eq(glob("tests/support/*.xml", GLOB_APPEND, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!strstr(found.gl_pathv[i], "/fat-tree-64.xml"))
			snprintf(files[num++].name, sizeof files[0].name, "%s",
				 found.gl_pathv[i]);
	globfree(&found);
	return cr_make_param_array(struct file, files, num);
}

ParameterizedTest(struct file *file, plain_platform, ways_of_files)
{
	expect_same(file->name);
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
	okay_or(platform_read_topology(cluster->topology, &d.fabric, &message),
		message);
	if (cluster->intra[0])
		okay_or(platform_read_intra(cluster->intra, &d.nodes[0].intra,
					    &message),
			message);
	if (cluster->inter[0])
		okay_or(platform_read_inter(cluster->inter, &d.nodes[0].inter,
					    &message),
			message);
	okay_or(platform_check(&d, &message), message);
	okay(platform_write(&d, "t", "c", out, &message));
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
#define CLUSTER(list, more)                                                    \
	"<cluster id=\"c\" prefix=\"h\" suffix=\".x\" radical=\"" list         \
	"\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" " more "/></platform>\n"

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
		HEAD CLUSTER("0-3",
			     "topology=\"TORUS\" topo_parameters=\"2,2\""),
		HEAD CLUSTER("0-3", "core=\"4\""),
		HEAD CLUSTER("3-0", ""),
		HEAD CLUSTER("0-3,2", ""),
		HEAD CLUSTER("0-3,", ""),
		HEAD CLUSTER("", ""),
		HEAD CLUSTER("0-3", "bb_lat=\"1us\""),
		HEAD "<zone id=\"z\" routing=\"Floyd\">" HOSTS LINK ROUTE END,
		HEAD ZONE HOSTS LINK "<route src=\"a\" dst=\"b\">"
				     "<link_ctn id=\"&#108;\"/></route>" END,
	};

	cr_assert(is_plain(HEAD ZONE HOSTS LINK ROUTE END));
	cr_assert(is_plain(HEAD CLUSTER("0-3", "")));
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
		cr_assert_not(is_plain(odd[i]), "%zu is plain", i);
}

/* A loader that reads everything twice, or looks links up by name zone by zone,
 * takes ten times as long. */
Test(plain_platform, no_child_is_needed)
{
	struct dist__platform *platform;
	struct dist_message message = {""};

	okay_or(dist__platform_open("scenarios/platforms/fat-tree-ndr-16x8.xml",
				    128, NULL, false, &platform, &message),
		message);
	cr_assert_eq(waitpid(-1, NULL, 0), -1);
	dist__platform_close(platform);
}
