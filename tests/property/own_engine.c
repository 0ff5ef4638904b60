#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/*
 * The own engine against SimGrid: the same transfers, drawn by seed, over the
 * same links, and when each is through by either. PATTERNS and SEED choose how
 * many and from where on.
 *
 * A pattern is a second in which up to 24 transfers begin at times of their
 * own; some are to themselves, some over many links at one rate.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/link.h>

#include "base/random.h"
#include "sim/engine/engine.h"
#include "sim/engine/own_net.h"
#include "sim/engine/shim.h"
#include "sim/platform/state.h"

#define USUAL      40 /* patterns of a platform */
#define MOST_MOVES 24
#define MOST_LINKS 128
#define TOLERANCE  1e-6

#define DRAWN_HOSTS 7
#define DRAWN_LINKS 12

/* ---- what is drawn ---------------------------------------------------------
 */

struct drawn {
	struct own_event event; /* first: a sleeper is what it begins */
	double at_s;
	struct dist__engine_transfer load;
	uint32_t links[MOST_LINKS]; /* of one over many */
	struct own_route *route;
	double simgrid_s, own_s; /* when it is through */
	double cap_Bps;
};

static struct {
	struct dist__graph_factors network;
	uint32_t num_links;
	size_t num_hosts;
	struct drawn *drawn;
	size_t count;
} here;

static double fraction(uint64_t *seed)
{
	return (double)(dist__random_next(seed) >> 11) * 0x1p-53;
}

/* ---- routes ----------------------------------------------------------------
 */

static void add_part(struct own_route *route, uint32_t link, double times)
{
	uint32_t i = 0;

	while (i < route->count && route->parts[i].link != link)
		i++;
	if (i == route->count)
		route->parts[route->count++] = (struct own_part){link, times};
	else if (dist__engine->link(link).is_shared)
		route->parts[i].times += times;
	else
		route->parts[i].times = fmax(route->parts[i].times, times);
}

static void find_route(struct drawn *d)
{
	uint32_t links[2 * MOST_LINKS];
	size_t count = d->load.num_links, back = 0;
	double latency_s = d->load.latency_s;

	d->route = calloc(1, sizeof *d->route +
				     2 * MOST_LINKS * sizeof(struct own_part));
	if (count > 0)
		memcpy(links, d->links, count * sizeof links[0]);
	else
		count = dist__engine_way(d->load.from, d->load.to, links,
					 MOST_LINKS, &latency_s);
	if (d->load.num_links == 0 && here.network.back_load > 0)
		back = dist__engine_way(d->load.to, d->load.from, links + count,
					MOST_LINKS, NULL);
	d->route->wait_s = latency_s * here.network.latency_factor;
	d->route->penalty = latency_s > 0 ? latency_s : 1;
	for (size_t i = 0; i < count + back; i++)
		add_part(d->route, links[i],
			 i < count ? 1 : here.network.back_load);
}

/* ---- drawing ---------------------------------------------------------------
 */

static uint32_t draw_shared_link(uint64_t *seed)
{
	uint32_t link;

	do
		link = (uint32_t)(dist__random_next(seed) % here.num_links);
	while (!dist__engine->link(link).is_shared);
	return link;
}

static void draw_pattern(uint64_t seed, double at_s)
{
	size_t num = 1 + dist__random_next(&seed) % MOST_MOVES;
	double window_s = 0.02 * fraction(&seed);
	size_t spread = dist__random_next(&seed) % 2 ? here.num_hosts : 6;

	if (dist__random_next(&seed) % 3 == 0)
		window_s = 0;
	for (size_t i = 0; i < num; i++) {
		struct drawn *d = &here.drawn[here.count++];

		*d = (struct drawn){.event.kind = OWN_SLEEPER};
		d->at_s = at_s + window_s * fraction(&seed);
		d->load.from = (uint32_t)(dist__random_next(&seed) % spread);
		d->load.to = (uint32_t)(dist__random_next(&seed) % spread);
		d->load.bytes = 1000000 + dist__random_next(&seed) % 50000000;
		if (dist__random_next(&seed) % 4 == 0)
			d->load.bytes = 20000000;
		if (dist__random_next(&seed) % 8 == 0) {
			d->load.links = d->links;
			d->load.num_links = 1 + dist__random_next(&seed) % 12;
			d->load.latency_s = 1e-6 + 1e-5 * fraction(&seed);
			for (size_t j = 0; j < d->load.num_links; j++)
				d->links[j] = draw_shared_link(&seed);
		}
	}
}

/* A platform of links that differ in everything: every way crosses one to four
 * of them. Some are not shared where all transfers have one weight: SimGrid
 * stops all of such a link as soon as one has its rate, which is no max-min
 * where weights differ (not_shared_limits_each_alone). */
static void write_platform(FILE *file, uint64_t seed, bool has_fat)
{
	static const double latencies[] = {1e-6, 5e-6, 5e-5, 1e-3};

	fprintf(file,
		"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
		"\"https://simgrid.org/simgrid.dtd\">\n"
		"<platform version='4.1'><config>"
		"<prop id='network/model' value='CM02'/>"
		"<prop id='network/crosstraffic' value='%d'/>"
		"<prop id='network/TCP-gamma' value='0'/>"
		"<prop id='network/latency-factor' value='1.5'/>"
		"<prop id='network/bandwidth-factor' value='0.9'/>"
		"</config>\n<zone id='z' routing='Full'>\n",
		has_fat ? 0 : (int)(dist__random_next(&seed) % 2));
	for (int i = 0; i < DRAWN_HOSTS; i++)
		fprintf(file, "<host id='h%d' speed='1Gf'/>\n", i);
	for (int i = 0; i < DRAWN_LINKS; i++) {
		fprintf(file,
			"<link id='l%d' bandwidth='%.0fBps' latency='%gs' "
			"sharing_policy='%s'/>\n",
			i, 1e8 + 1e10 * fraction(&seed),
			latencies[has_fat ? 2 : dist__random_next(&seed) % 4],
			has_fat && dist__random_next(&seed) % 4 == 0
				? "FATPIPE"
				: "SHARED");
	}
	for (int from = 0; from < DRAWN_HOSTS; from++)
		for (int to = 0; to < DRAWN_HOSTS; to++) {
			int num = has_fat ? 3
					  : 1 + (int)(dist__random_next(&seed) %
						      4);

			if (from == to)
				continue;
			fprintf(file,
				"<route src='h%d' dst='h%d' "
				"symmetrical='NO'>",
				from, to);
			for (int i = 0; i < num; i++)
				fprintf(file, "<link_ctn id='l%d'/>",
					(int)(dist__random_next(&seed) %
					      DRAWN_LINKS));
			fprintf(file, "</route>\n");
		}
	fprintf(file, "</zone></platform>\n");
	fclose(file);
}

/* ---- by SimGrid ------------------------------------------------------------
 */

static void move(void *arg)
{
	struct drawn *d = arg;
	struct dist__engine_end end = {NULL};
	bool well;

	dist__engine->sleep(d->at_s);
	dist__engine->start(&d->load, &end);
	well = dist__engine->wait(&end, -1) == DIST__ENGINE_DONE;
	d->simgrid_s = well ? dist__engine->now_s() : NAN;
}

static void advanced(void *arg)
{
	(void)arg;
}

static void run_simgrid(void)
{
	for (size_t i = 0; i < here.count; i++) {
		struct drawn *d = &here.drawn[i];

		dist__engine->spawn(0, 0, move, d);
	}
	dist__engine->run(advanced, NULL);
}

/* ---- by the own engine -----------------------------------------------------
 */

static void over(struct own_net *net, struct own_flow *flow)
{
	struct drawn *d = flow->owner;

	d->own_s = flow->failed ? NAN : net->now_s;
}

static void awake(struct own_net *net, struct own_event *event)
{
	struct drawn *d = (struct drawn *)event;

	(void)dist__own_net_start(net, d->route, (double)d->load.bytes,
				  INFINITY, d);
}

/* Returns how many classes are left. */
static uint32_t run_own(const double *Bps)
{
	struct own_net *net = dist__own_net_new(here.num_links);
	uint32_t left;
	double next_s;

	net->over = over;
	net->awake = awake;
	for (uint32_t i = 0; i < here.num_links; i++) {
		net->links[i].Bps = Bps[i] * here.network.bandwidth_factor;
		net->links[i].is_shared = dist__engine->link(i).is_shared;
	}
	for (size_t i = 0; i < here.count; i++)
		dist__own_net_sleep(net, &here.drawn[i].event,
				    here.drawn[i].at_s);
	while ((next_s = dist__own_net_next(net)) < INFINITY)
		dist__own_net_advance(net, next_s);
	left = net->num_classes;
	dist__own_net_free(net);
	return left;
}

/* ---- both ------------------------------------------------------------------
 */

struct outcome {
	uint64_t moves, differ, left;
	double worst;
	char text[512];
};

static void compare(struct outcome *outcome)
{
	for (size_t i = 0; i < here.count; i++) {
		const struct drawn *d = &here.drawn[i];
		double took_s = d->simgrid_s - d->at_s;
		double error = fabs(d->own_s - d->simgrid_s);

		if (error > 0)
			error /= took_s;
		outcome->moves++;
		if (error > outcome->worst || !(error >= 0))
			outcome->worst = error;
		if (error <= TOLERANCE)
			continue;
		outcome->differ++;
		if (outcome->differ == 1)
			snprintf(outcome->text, sizeof outcome->text,
				 "transfer %zu at %.9f: SimGrid %.12f, own "
				 "%.12f",
				 i, d->at_s, d->simgrid_s, d->own_s);
	}
}

static _Noreturn void run_both(const char *path, uint64_t seed, int patterns,
			       struct outcome *outcome)
{
	char drawn_path[] = "/tmp/lockstep-drawn-XXXXXX";
	struct dist__platform *platform;
	struct dist_message message;
	uint32_t *hosts;
	double *Bps;

	if (!path) {
		write_platform(fdopen(mkstemp(drawn_path), "w"), seed,
			       seed % 2);
		path = drawn_path;
	}
	if (!dist__engine_open(message.text, sizeof message.text) ||
	    dist__platform_load(path, NULL, 1, NULL, &platform, &message)) {
		snprintf(outcome->text, sizeof outcome->text, "%s",
			 message.text);
		_exit(1);
	}
	here.num_hosts = platform->graph->num_hosts;
	hosts = calloc(here.num_hosts, sizeof *hosts);
	for (uint32_t i = 0; i < here.num_hosts; i++)
		hosts[i] = i;
	(void)dist__engine_start(false, platform->graph, hosts, here.num_hosts);
	here.network = dist__graph_read_factors(platform->graph);
	here.num_links = (uint32_t)dist__engine_num_links();
	here.drawn = calloc((size_t)patterns * MOST_MOVES, sizeof *here.drawn);
	for (int i = 0; i < patterns; i++)
		draw_pattern(seed + (uint64_t)i, i * 1.0);
	if (path == drawn_path)
		(void)unlink(path);
	for (size_t i = 0; i < here.count; i++)
		find_route(&here.drawn[i]);
	Bps = calloc(here.num_links, sizeof *Bps);
	for (uint32_t i = 0; i < here.num_links; i++)
		Bps[i] = dist__engine->link(i).bandwidth_Bps;
	run_simgrid();
	outcome->left = run_own(Bps);
	compare(outcome);
	_exit(0);
}

static const char *const platforms[] = {
	"scenarios/platforms/star-8.xml",
	"scenarios/platforms/star-64.xml",
	"scenarios/platforms/fat-tree-64.xml",
	"scenarios/platforms/dragonfly-hdr-36x4.xml",
	"scenarios/platforms/leaf-spine-roce-16x4.xml",
	"scenarios/platforms/machine-16.xml",
	"scenarios/platforms/v100-cube-mesh-8.xml",
	"scenarios/platforms/efa-p4d-8x8.xml",
	NULL, /* drawn */
	NULL,
	NULL,
	NULL,
};

ParameterizedTestParameters(own_engine, agrees_with_simgrid)
{
	static int numbers[sizeof platforms / sizeof *platforms];
	size_t n = sizeof platforms / sizeof *platforms;

	for (size_t i = 0; i < n; i++)
		numbers[i] = (int)i;
	return cr_make_param_array(int, numbers, n);
}

static uint64_t number(const char *name, uint64_t usual)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : usual;
}

ParameterizedTest(const int *which, own_engine, agrees_with_simgrid)
{
	const char *path = platforms[*which];
	struct outcome *outcome =
		mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, patterns = (int)number("PATTERNS", USUAL);
	pid_t child;

	child = fork();
	if (child == 0)
		run_both(path, number("SEED", 1) + 1000003 * (uint64_t)*which,
			 patterns, outcome);
	(void)waitpid(child, &status, 0);
	path = path ? path : "drawn";
	cr_log_info("%s: %llu transfers, worst %.2g", path,
		    (unsigned long long)outcome->moves, outcome->worst);
	cr_expect_eq(status, 0, "%s: %s", path, outcome->text);
	cr_expect_eq(outcome->differ, 0, "%s: %llu of %llu differ: %s", path,
		     (unsigned long long)outcome->differ,
		     (unsigned long long)outcome->moves, outcome->text);
	cr_expect_gt(outcome->moves, 0);
	cr_expect_eq(outcome->left, 0);
}

/* ---- by hand ---------------------------------------------------------------
 */

/* Two links, one of 10 B/s to each transfer (0), one of 18 B/s to all (1). A
 * and b cross both, a with twice b's weight; c crosses the first alone, with a
 * hundred thousandth of b's. Of 18 B/s a would have 12, but the first link
 * gives it 10; so b has 8 until a ends, and then 10. C has 10. */
Test(own_engine, not_shared_limits_each_alone)
{
	static const double ends_s[] = {1, 1.2, 1}, penalties[] = {1, 2, 2e5};
	struct own_net *net = dist__own_net_new(2);
	struct drawn moves[3] = {0};
	double next_s;

	net->over = over;
	net->links[0].Bps = 10;
	net->links[0].is_shared = false;
	net->links[1].Bps = 18;
	for (size_t i = 0; i < 3; i++) {
		moves[i].route = calloc(1, sizeof *moves[i].route +
						   2 * sizeof(struct own_part));
		moves[i].route->penalty = penalties[i];
		moves[i].route->parts[0] = (struct own_part){0, 1};
		moves[i].route->parts[1] = (struct own_part){1, 1};
		moves[i].route->count = i < 2 ? 2 : 1;
		(void)dist__own_net_start(net, moves[i].route, 10, INFINITY,
					  &moves[i]);
	}
	while ((next_s = dist__own_net_next(net)) < INFINITY)
		dist__own_net_advance(net, next_s);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_float_eq(moves[i].own_s, ends_s[i], 1e-9,
				   "transfer %zu ends at %g", i,
				   moves[i].own_s);
		free(moves[i].route);
	}
	dist__own_net_free(net);
}

/* ---- solved in part, and as a whole ----------------------------------------
 */

#define CROWD       400
#define CROWD_LINKS 48
#define CROWD_PARTS 4

struct crowd {
	struct drawn moves[CROWD];
	double end_s[2][CROWD]; /* solved in part; as a whole */
};

/* Transfers of a few weights, some with caps, over links that differ: so many
 * flow at once that chains of links hold them. */
static void draw_crowd(struct crowd *crowd, struct own_net *net, uint64_t seed)
{
	for (uint32_t i = 0; i < CROWD_LINKS; i++) {
		net->links[i].Bps = 1e9 * (1 + 7 * fraction(&seed));
		net->links[i].is_shared = dist__random_next(&seed) % 16 > 0;
	}
	for (size_t i = 0; i < CROWD; i++) {
		struct drawn *d = &crowd->moves[i];
		size_t num = 1 + dist__random_next(&seed) % CROWD_PARTS;

		*d = (struct drawn){.event.kind = OWN_SLEEPER};
		d->at_s = 0.05 * fraction(&seed);
		d->load.bytes = 1000000 + dist__random_next(&seed) % 50000000;
		d->cap_Bps = dist__random_next(&seed) % 4
				     ? INFINITY
				     : 1e9 * fraction(&seed);
		d->route = calloc(1, sizeof *d->route +
					     num * sizeof(struct own_part));
		d->route->penalty = (double)(1 + dist__random_next(&seed) % 3);
		for (uint32_t j = 0; j < num; j++)
			d->route->parts[d->route->count++] = (struct own_part){
				(uint32_t)(dist__random_next(&seed) %
						   CROWD_LINKS / num * num +
					   j) %
					CROWD_LINKS,
				1};
	}
}

static void crowd_awake(struct own_net *net, struct own_event *event)
{
	struct drawn *d = (struct drawn *)event;

	(void)dist__own_net_start(net, d->route, (double)d->load.bytes,
				  d->cap_Bps, d);
}

static void run_crowd(struct crowd *crowd, uint64_t seed, bool as_a_whole)
{
	struct own_net *net = dist__own_net_new(CROWD_LINKS);
	double next_s;

	net->over = over;
	net->awake = crowd_awake;
	draw_crowd(crowd, net, seed);
	for (size_t i = 0; i < CROWD; i++)
		dist__own_net_sleep(net, &crowd->moves[i].event,
				    crowd->moves[i].at_s);
	for (;;) {
		net->all_again = as_a_whole;
		next_s = dist__own_net_next(net);
		if (next_s == INFINITY)
			break;
		dist__own_net_advance(net, next_s);
	}
	for (size_t i = 0; i < CROWD; i++) {
		crowd->end_s[as_a_whole][i] = crowd->moves[i].own_s;
		free(crowd->moves[i].route);
	}
	dist__own_net_free(net);
}

Test(own_engine, solves_in_part_as_a_whole)
{
	static struct crowd crowd;

	for (uint64_t seed = 1; seed <= number("PATTERNS", USUAL); seed++) {
		run_crowd(&crowd, seed, false);
		run_crowd(&crowd, seed, true);
		for (size_t i = 0; i < CROWD; i++)
			cr_expect_float_eq(
				crowd.end_s[0][i], crowd.end_s[1][i], 1e-9,
				"seed %d, transfer %zu: %.12g, not %.12g",
				(int)seed, i, crowd.end_s[0][i],
				crowd.end_s[1][i]);
	}
}
