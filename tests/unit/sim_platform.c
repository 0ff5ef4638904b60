/*
 * Platforms: what is refused and in which words, where ranks sit, what the
 * table shows.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend.h"
#include "sim/platform/platform.h"
#include "sim/launch.h"
#include "tests/support/okay.h"
#include "tests/support/captured.h"

#define STAR4 "tests/support/star4.xml"

#define XML                                                                    \
	"<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM "                  \
	"\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
#define PROP(name, value) "<prop id=\"" name "\" value=\"" value "\"/>"
#define CONFIG(model)                                                          \
	"<config>" PROP("network/model", model)                                \
		PROP("network/crosstraffic", "0")                              \
			PROP("network/TCP-gamma", "0") "</config>\n"
/* Up to here four lines: what follows begins on line 5. */
#define HEAD       XML CONFIG("CM02")
#define ZONE       "<zone id=\"z\" routing=\"Full\">\n"
#define HOST(name) "<host id=\"" name "\" speed=\"1Gf\"/>\n"
#define LINK(name, bandwidth, latency)                                         \
	"<link id=\"" name "\" bandwidth=\"" bandwidth "\" latency=\"" latency \
	"\"/>\n"
#define ROUTE(src, dst, link)                                                  \
	"<route src=\"" src "\" dst=\"" dst "\"><link_ctn id=\"" link          \
	"\"/></route>\n"
#define END "</zone>\n</platform>\n"

/* A file of the test's own, overwritten by each call. */
static char file_name[] = "/tmp/lockstep-platform-XXXXXX";

static const char *write_file(const char *text)
{
	static bool made;
	FILE *file;

	if (!made) {
		int fd = mkstemp(file_name);

		cr_assert_geq(fd, 0);
		close(fd);
		made = true;
	}
	file = fopen(file_name, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	return file_name;
}

static void remove_file(void)
{
	unlink(file_name);
}

static int nobody(void *arg)
{
	(void)arg;
	return 0;
}

static int launch(const char *platform, int ranks, int (*program)(void *arg),
		  void *arg)
{
	struct dist_launch_options options = {
		.world_size = ranks,
		.platform = platform,
		.timeout_ns = DIST_TIMEOUT_DEFAULT,
	};

	return dist__sim_world.launch(&options, program, arg);
}

/* ---- what is refused ------------------------------------------------ */

struct bad {
	const char *name;
	const char *text;
	const char *place; /* after the file's name; NULL: not looked at */
	const char *says;
};

static const struct bad bad_platforms[] = {
	{"an empty file", "", ":1: ", "Invalid XML"},
	{"no XML", "hello\nthere\n", ":1: ", "Invalid XML"},
	{"other XML", "<?xml version=\"1.0\"?>\n<html/>\n",
	 ":2: ", "Invalid XML"},
	{"an unclosed element", HEAD ZONE "<host id=\"a\" speed=\"1Gf\">\n",
	 ":7: ", "Premature EOF"},
	{"a wrong tag", HEAD ZONE "<hots id=\"a\"/>\n" END,
	 ":6: ", "Invalid XML"},
	{"a missing attribute", HEAD ZONE "<host id=\"a\"/>\n" END,
	 ":6: ", "speed"},
	{"a bad number", HEAD ZONE "<host id=\"a\" speed=\"fast\"/>\n" END,
	 ":6: ", "fast"},
	{"a bad unit", HEAD ZONE HOST("a") LINK("l", "1GBpss", "1us") END,
	 ":7: ", "GBpss"},
	{"two hosts of one name", HEAD ZONE HOST("a") HOST("a") END,
	 ":7: ", "second host"},
	{"two links of one name", /* aborts SimGrid */
	 HEAD ZONE HOST("a") LINK("l", "1GBps", "1us") LINK("l", "1GBps", "1us")
		 END,
	 ":8: ", "several times"},
	{"an unknown routing", /* aborts SimGrid */
	 HEAD "<zone id=\"z\" routing=\"Fool\">\n" HOST("a") END,
	 ":5: ", "Not a valid model"},
	{"an unknown link",
	 HEAD ZONE HOST("a") HOST("b") ROUTE("a", "b", "l") END,
	 ":8: ", "Link not found: l"},
	{"a route to nowhere",
	 HEAD ZONE HOST("a") LINK("l", "1GBps", "1us") ROUTE("a", "c", "l") END,
	 ":8: ", "'c'"},
	{"an unknown network model", /* aborts SimGrid */
	 XML CONFIG("CM99") ZONE HOST("a") END, ":4: ", "CM99"},
	{"an unknown setting",
	 XML "<config>" PROP("network/modell",
			     "CM02") "</config>\n" ZONE HOST("a") END,
	 ":4: ", "network/modell"},
	{"a torus of too few hosts", /* aborts SimGrid */
	 HEAD ZONE
	 "<cluster id=\"c\" topology=\"TORUS\" topo_parameters=\"2,3\" "
	 "prefix=\"h\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" "
	 "bw=\"1GBps\" lat=\"1us\"/>\n" END,
	 ":6: ", "Insufficient"},
	{"no zone", HEAD "</platform>\n", ": ", "no zone"},
	{"no host", HEAD ZONE END, ": ", "no host"},
	{"a link of no bandwidth",
	 HEAD ZONE HOST("a") LINK("l", "0", "1us") END, ": ", "bandwidth"},
	{"a link of next to no bandwidth",
	 HEAD ZONE HOST("a") LINK("l", "1e-300Bps", "1us") END, ": ",
	 "bandwidth is 1e-300 B/s: expected 1 or more"},
	{"a link that takes for ever",
	 HEAD ZONE HOST("a") LINK("l", "1GBps", "1e12s") END, ": ",
	 "latency is 1e+12 s: expected 0 to 1000"},
	{"a host of no speed", HEAD ZONE "<host id=\"a\" speed=\"nan\"/>\n" END,
	 ": ", "host a: speed is nan flop/s: expected more than 0"},
	{"a byte order mark", "\xEF\xBB\xBF" HEAD ZONE HOST("a") END,
	 ":1: ", "expected XML in UTF-8 without a byte order mark"},
	{"a model left to default", XML ZONE HOST("a") END, ": ",
	 "network/model"},
	{"a model half stated",
	 XML "<config>" PROP("network/model",
			     "CM02") "</config>\n" ZONE HOST("a") END,
	 ": ", "network/crosstraffic"},
	{"factors left to default", XML CONFIG("LV08") ZONE HOST("a") END, ": ",
	 "network/latency-factor"},
	{"a window that is no number",
	 XML "<config>" PROP("network/model", "CM02") PROP(
		 "network/crosstraffic", "0") PROP("network/TCP-gamma", "nan")
		 PROP("network/weight-S", "0") "</config>\n" ZONE HOST("a") END,
	 ": ", "network/TCP-gamma nan: expected 0 or more"},
	{"a latency that goes back",
	 XML "<config>" PROP("network/model", "CM02") PROP(
		 "network/crosstraffic", "0") PROP("network/TCP-gamma", "0")
		 PROP("network/latency-factor",
		      "-1") "</config>\n" ZONE HOST("a") END,
	 ": ", "network/latency-factor -1: expected 0 or more"},
	{"a factor of no bandwidth",
	 XML "<config>" PROP("network/model", "CM02") PROP(
		 "network/crosstraffic", "0") PROP("network/TCP-gamma", "0")
		 PROP("network/bandwidth-factor",
		      "0") "</config>\n" ZONE HOST("a") END,
	 ": ", "network/bandwidth-factor 0: expected more than 0"},
	{"no route", HEAD ZONE HOST("a") HOST("b") END, ": ",
	 "no route from host a to host b"},
	{"no route between zones",
	 HEAD "<zone id=\"w\" routing=\"Full\">\n" ZONE
		 HOST("a") "</zone>\n<zone id=\"y\" routing=\"Full\">\n" HOST(
			 "b") "</zone>\n" END,
	 ": ", "no route from host a to host b"},
	{"too few hosts", HEAD ZONE HOST("a") END, NULL,
	 "has 1 hosts, 2 ranks need 2"},
	{"a property that is no number",
	 HEAD ZONE
	 "<host id=\"a\" speed=\"1Gf\">" PROP("ranks", "many") "</host>\n" END,
	 ": ", "\"ranks\" is \"many\""},
	{"a host that stands still",
	 HEAD ZONE
	 "<host id=\"a\" speed=\"1Gf\">" PROP("pace", "0") "</host>\n" END,
	 ": ", "\"pace\" is \"0\": expected 1e-06 to 1e+06"},
	{"two hosts of one rank",
	 HEAD ZONE "<host id=\"a\" speed=\"1Gf\">" PROP(
		 "rank", "1") "</host>\n<host id=\"b\" "
			      "speed=\"1Gf\">" PROP("rank", "1") "</"
								 "host>\n" END,
	 ": ", "same property \"rank\""},
};

/* Launches two ranks on a bad platform and reads what it said. */
static void refuse(const char *path, char *said, size_t size)
{
	struct captured captured = capture_begin(STDERR_FILENO);
	int status = launch(path, 2, nobody, NULL);

	capture_end(&captured, said, size);
	cr_expect_eq(status, DIST_EXIT_USAGE, "%s: status %d", said, status);
}

static void expect_refused(const struct bad *bad)
{
	const char *path = write_file(bad->text);
	char said[2048], start[256];

	refuse(path, said, sizeof said);
	snprintf(start, sizeof start, "lockstep: %s%s", path,
		 bad->place ? bad->place : "");
	if (bad->place)
		cr_expect_eq(strncmp(said, start, strlen(start)), 0,
			     "%s: \"%s\"", bad->name, said);
	cr_expect_not_null(strstr(said, bad->says), "%s: \"%s\"", bad->name,
			   said);
	cr_expect_eq(strchr(said, '\n'), said + strlen(said) - 1,
		     "%s: not one line: \"%s\"", bad->name, said);
}

Test(sim_platform, bad_ones_are_refused_in_one_line, .fini = remove_file)
{
	for (size_t i = 0; i < sizeof bad_platforms / sizeof bad_platforms[0];
	     i++)
		expect_refused(&bad_platforms[i]);
}

Test(sim_platform, what_is_no_file_is_refused)
{
	char said[2048];

	refuse("/no/such/platform.xml", said, sizeof said);
	cr_expect_not_null(strstr(said, "/no/such/platform.xml"));
	refuse("/tmp/", said, sizeof said);
	cr_expect_not_null(strstr(said, "not a file"));
	refuse(NULL, said, sizeof said);
	cr_expect_not_null(strstr(said, "--platform"));
}

/* Of four hosts, b and d have no way to each other: that is not looked at
 * before a message wants to go there. */
static const char b_and_d_apart[] = HEAD ZONE HOST("a") HOST("b") HOST("c")
	HOST("d") LINK("l", "1GBps", "1us") ROUTE("a", "b", "l")
		ROUTE("a", "c", "l") ROUTE("a", "d", "l") ROUTE("b", "c", "l")
			ROUTE("c", "d", "l") END;

static int from_b_to_d(void *arg)
{
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct dist__message m = {.peer = 3};
	struct dist__request *request;
	struct dist__place place;
	enum dist_error error = DIST_OK;

	(void)arg;
	if (dist__sim_world.attach(&options, &place, &message))
		return 1;
	if (place.rank == 1) {
		(void)place.transport->ops->compute(place.transport, 1000);
		error = place.transport->ops->isend(place.transport, &m,
						    &request);
	}
	if (place.rank == 0) {
		m.peer = 2;
		error = place.transport->ops->irecv(place.transport, &m,
						    &request);
		cr_expect_eq(error, DIST_OK);
		error = place.transport->ops->wait(place.transport, request,
						   DIST_TIMEOUT_NEVER);
	}
	if (place.rank < 2)
		cr_expect_eq(error, DIST_ERR_IO);
	place.transport->ops->free(place.transport);
	return 0;
}

Test(sim_platform, a_route_found_missing_ends_the_job, .fini = remove_file)
{
	cr_redirect_stderr();
	cr_assert_eq(launch(write_file(b_and_d_apart), 4, from_b_to_d, NULL),
		     DIST_EXIT_USAGE);
}

/* ---- where ranks sit ------------------------------------------------ */

/* Rank 0 sends nothing to each other rank: the latencies tell who is where. */
static int ask_latencies(void *arg)
{
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct dist__request *request;
	struct dist__transport *t;
	struct dist__place place;
	int64_t *latencies = arg, start_ns;

	if (dist__sim_world.attach(&options, &place, &message))
		return 1;
	t = place.transport;
	for (int peer = 1; peer < place.world_size; peer++) {
		struct dist__message m = {.tag = 0};

		start_ns = t->ops->now_ns(t);
		if (place.rank == 0) {
			m.peer = peer;
			if (t->ops->isend(t, &m, &request))
				return 1;
		} else if (place.rank != peer || t->ops->irecv(t, &m, &request))
			continue;
		if (t->ops->wait(t, request, DIST_TIMEOUT_NEVER))
			return 1;
		if (place.rank == 0)
			latencies[peer] = t->ops->now_ns(t) - start_ns;
	}
	t->ops->free(t);
	return 0;
}

/* Hosts h1, h2, h10 with links of 1, 2 and 10 us to the middle of a star. */
#define NODE(name, properties)                                                 \
	"<host id=\"h" name "\" speed=\"1Gf\">" properties "</host>\n"
#define WAY(name) ROUTE("h" name, "center", "l" name)
#define STAR_LINKS                                                             \
	LINK("l1", "1GBps", "1us")                                             \
	LINK("l2", "1GBps", "2us") LINK("l10", "1GBps", "10us")
#define STAR_NODES(first, second, third)                                       \
	NODE("10", third) NODE("2", second) NODE("1", first)
#define STAR(first, second, third)                                             \
	HEAD "<zone id=\"z\" routing=\"Floyd\">\n" STAR_NODES(                 \
		first, second,                                                 \
		third) "<router id=\"center\"/>\n" STAR_LINKS WAY("1")         \
		WAY("2") WAY("10") END

/* Of the three hosts in text ranks ask for their latencies. */
static void expect_latencies(const char *text, int wanted, int64_t *latencies)
{
	struct dist_message message;
	int hosts = 0, ranks = 0;

	okay(dist__platform_hosts(write_file(text), &hosts, &ranks, &message));
	cr_expect_eq(hosts, 3);
	cr_expect_eq(ranks, wanted);
	cr_assert_eq(launch(file_name, ranks, ask_latencies, latencies),
		     DIST_EXIT_OK);
}

Test(sim_platform, ranks_sit_in_natural_order_of_names, .fini = remove_file)
{
	int64_t latencies[3] = {0};

	expect_latencies(STAR("", "", ""), 3, latencies);
	cr_expect_eq(latencies[1], 3000);
	cr_expect_eq(latencies[2], 11000);
}

Test(sim_platform, the_property_rank_seats_ranks, .fini = remove_file)
{
	const char *text = STAR(PROP("rank", "5"), "", PROP("rank", "3"));
	int64_t latencies[2] = {0};

	expect_latencies(text, 2, latencies);
	cr_expect_eq(latencies[1], 11000);
}

Test(sim_platform, a_host_holds_as_many_ranks_as_it_says, .fini = remove_file)
{
	const char *text = STAR(PROP("ranks", "2"), PROP("ranks", "0"), "");
	int64_t latencies[3] = {0};

	expect_latencies(text, 3, latencies);
	cr_expect_eq(latencies[1], 0, "the loopback's latency is 0");
	cr_expect_eq(latencies[2], 11000);
}

/* ---- who shares a node ---------------------------------------------- */

/* Stores what rank 0 is told about all. */
static int ask_nodes(void *arg)
{
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct dist__place place;
	int *nodes = arg;

	if (dist__sim_world.attach(&options, &place, &message))
		return 1;
	for (int rank = 0; place.rank == 0 && rank < place.world_size; rank++)
		nodes[rank] = place.nodes ? place.nodes[rank] : -1;
	place.transport->ops->free(place.transport);
	return 0;
}

Test(sim_platform, ranks_of_a_host_or_a_property_share_a_node,
     .fini = remove_file)
{
	const char *text =
		STAR(PROP("node", "x"), PROP("ranks", "2"), PROP("node", "x"));
	int nodes[4] = {0};

	write_file(text);
	cr_assert_eq(launch(file_name, 4, ask_nodes, nodes), DIST_EXIT_OK);
	cr_expect_eq(nodes[0], 0);
	cr_expect_eq(nodes[1], 1);
	cr_expect_eq(nodes[2], 1);
	cr_expect_eq(nodes[3], 0);
}

/* Stores how long each rank takes for what it declares as one millisecond. */
static int compute_1_ms(void *arg)
{
	struct dist_group *group;
	int64_t *took_ns = arg, start_ns;

	if (dist_init_process_group(NULL, &group))
		return 1;
	start_ns = dist_now_ns(group);
	if (dist_compute(group, 1000000, NULL))
		return 1;
	took_ns[dist_get_rank(group)] = dist_now_ns(group) - start_ns;
	return dist_destroy_process_group(group) != DIST_OK;
}

Test(sim_platform, a_host_computes_at_its_pace, .fini = remove_file)
{
	const char *text = STAR(PROP("pace", "0.5"), "", PROP("pace", "0.8"));
	int64_t took_ns[3] = {0};

	write_file(text);
	cr_assert_eq(launch(file_name, 3, compute_1_ms, took_ns), DIST_EXIT_OK);
	cr_expect_eq(took_ns[0], 2000000);
	cr_expect_eq(took_ns[1], 1000000);
	cr_expect_eq(took_ns[2], 1250000);
}

Test(sim_platform, elsewhere_every_rank_has_a_node, .fini = remove_file)
{
	const char *text = STAR(PROP("node", "x"), "", PROP("node", "x"));
	int nodes[2] = {0};

	write_file(text);
	cr_assert_eq(launch(file_name, 2, ask_nodes, nodes), DIST_EXIT_OK);
	cr_expect_eq(nodes[0], -1);
	cr_expect_eq(nodes[1], -1);
}

/* ---- what is shown -------------------------------------------------- */

Test(sim_platform, the_table_shows_model_links_and_routes)
{
	static char text[8192];
	FILE *out = tmpfile();
	struct dist_message message = {""};
	size_t len;

	cr_assert_not_null(out);
	okay_or(dist__platform_show(STAR4, FORM_TEXT, out, &message), message);
	rewind(out);
	len = fread(text, 1, sizeof text - 1, out);
	text[len] = '\0';
	fclose(out);
	cr_expect_not_null(strstr(text, "network/model              CM02\n"));
	cr_expect_not_null(strstr(text, "hosts                      4\n"));
	cr_expect_not_null(strstr(text, "100  12.5           1\n"));
	cr_expect_not_null(strstr(text, "host-0 -> host-1"));
}

Test(sim_platform, there_is_one_simulation_a_process)
{
	static char said[2048];

	cr_assert_eq(launch(STAR4, 2, nobody, NULL), DIST_EXIT_OK);
	refuse(STAR4, said, sizeof said);
	cr_expect_not_null(strstr(said, "one simulation per process"));
}

/* Four hosts behind one uplink each way of two switches: the ring crosses it
 * twice, once forth and once back. */
Test(sim_platform, the_narrowest_link_of_a_ring, .fini = remove_file)
{
	/* clang-format off */
	const char *path = write_file(
		HEAD "<zone id=\"z\" routing=\"Dijkstra\">\n"
		HOST("a0") HOST("a1") HOST("b0") HOST("b1")
		"<router id=\"x\"/><router id=\"y\"/>\n"
		LINK("l0", "10GBps", "1us") LINK("l1", "10GBps", "1us")
		LINK("l2", "10GBps", "1us") LINK("l3", "9GBps", "1us")
		LINK("up", "12GBps", "1us")
		ROUTE("a0", "x", "l0") ROUTE("a1", "x", "l1")
		ROUTE("b0", "y", "l2") ROUTE("b1", "y", "l3")
		ROUTE("x", "y", "up") END);
	/* clang-format on */
	struct dist__platform *platform;
	struct dist__narrowest narrowest;
	struct dist_message message;

	okay_or(dist__platform_open(path, 4, NULL, false, &platform, &message),
		message);
	okay(dist__platform_narrowest(platform, 4, &narrowest));
	cr_assert_str_eq(narrowest.name, "l3");
	cr_assert_eq(narrowest.hops, 2);
	cr_assert_eq(narrowest.links, 1);
	cr_assert_float_eq(narrowest.hop_Bps, 4.5e9, 1);
	okay(dist__platform_narrowest(platform, 1, &narrowest));
	cr_assert_eq(narrowest.links, 0);
	dist__platform_close(platform);
}
