#define _GNU_SOURCE /* sched_setaffinity */
/*
 * start.c - having SimGrid read a platform, and what any must say about its
 * network.
 *
 * The network model decides what a prediction means, and SimGrid's default
 * (LV08, fitted to TCP: Velho and Legrand, SIMUTools 2009) multiplies every
 * latency by 13.01 and every bandwidth by 0.97; cross traffic takes another 5 %
 * of a link for acknowledgements, and the TCP window bounds a flow to
 * gamma / (2 * latency). So nothing of this is left to a default.
 */
#include "sim/platform/state.h"

#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <simgrid/engine.h>
#include <simgrid/version.h>
#include <xbt/config.h>

#include "base/printable.h"
#include "base/refuse.h"
#include "sim/engine/shim.h"

/* ---- the engine ----------------------------------------------------- */

/*
 * What is said here of stacks is for actors that run nothing but our own code;
 * ranks have larger ones (stack.c).
 *
 * Raw contexts switch fastest, but only x86-64 has them; elsewhere SimGrid
 * takes the fastest that it was built with. Sanitizers follow stacks only in
 * threads, and need bigger ones. Nothing of SimGrid's own talk is let through:
 * what matters we say ourselves.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IN_THREADS true
#define CONTEXTS   "--cfg=contexts/factory:thread"
#define STACK_SIZE "--cfg=contexts/stack-size:512"
#else
#define IN_THREADS false
#ifdef __x86_64__
#define CONTEXTS "--cfg=contexts/factory:raw"
#else
#define CONTEXTS ""
#endif
#define STACK_SIZE "--cfg=contexts/stack-size:256"
#endif

bool dist__platform_can_copy(void)
{
	return !IN_THREADS;
}

/* Threads that take turns need one processor, and hand over to each other four
 * times as fast on one as on two. */
static void stay_here(void)
{
	int processor = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	if (processor < 0 || processor >= CPU_SETSIZE)
		return;
	CPU_SET(processor, &set);
	(void)sched_setaffinity(0, sizeof set, &set);
}

/*
 * SimGrid then takes stacks from calloc(). Each is to be memory of its own that
 * nobody has touched, which the system joins with that beside it: glibc would
 * take it from its heap once one was freed, and clear it; and of such a large
 * map the system might give 2 MiB to each stack.
 */
void dist__platform_drop_guards(const struct dist__platform *platform)
{
	if (platform->graph->is_simgrid)
		sg_cfg_set_int("contexts/guard-size", 0);
#ifdef __GLIBC__
	(void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	(void)mallopt(M_MMAP_MAX, INT_MAX);
#endif
#ifdef __linux__
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#endif
}

static void start_simgrid(void)
{
	char name[] = "lockstep", log[] = "--log=root.thresh:critical",
	     contexts[] = CONTEXTS, stacks[] = STACK_SIZE, guard[64],
	     threads[] = "--cfg=contexts/nthreads:1";
	char *argv[] = {name, log, stacks, guard, threads, contexts, NULL};
	struct sigaction interrupt;
	int argc = contexts[0] ? 6 : 5;

	snprintf(guard, sizeof guard, "--cfg=contexts/guard-size:%zu",
		 DIST__STACK_GUARD / 4096);
	if (IN_THREADS)
		stay_here();
	/* SimGrid would catch it, and exit with 1. */
	(void)sigaction(SIGINT, NULL, &interrupt);
	simgrid_init(&argc, argv);
	(void)sigaction(SIGINT, &interrupt, NULL);
}

/* ---- the network model ---------------------------------------------- */

enum dist_error dist__platform_read_simgrid(const char *path,
					    struct dist__graph **read,
					    struct dist_message *message)
{
	struct dist__graph_network network;
	bool is_read;

	start_simgrid();
	is_read = dist__engine_load(path, read, message->text,
				    sizeof message->text);
	/* SimGrid's words quote the file. */
	dist__printable(message->text);
	if (!is_read)
		return DIST_ERR_INVALID_ARGUMENT;
	network = (struct dist__graph_network){
		.model = dist__engine_model(),
		.states_model = !dist__engine_is_default("network/model"),
		.has_other_solver = !dist__engine_is_default("network/optim") ||
				    !dist__engine_is_default("network/solver")};
	for (int i = 0; i < DIST__GRAPH_SETTINGS; i++) {
		const char *name = dist__graph_settings[i];

		/* Of a wrong type it is a crash. */
		network.settings[i].value = i == DIST__CROSSTRAFFIC
						    ? sg_cfg_get_boolean(name)
						    : dist__engine_number(name);
		network.settings[i].is_stated = !dist__engine_is_default(name);
	}
	(*read)->network = network;
	return DIST_OK;
}

/* What a platform says about its network. */
static const struct {
	bool must_state; /* by every platform */
	bool is_factor;  /* must be stated unless the model has no factors */
	bool divides;    /* more than 0, else 0 or more */
} settings[DIST__GRAPH_SETTINGS] = {
	[DIST__CROSSTRAFFIC] = {.must_state = true},
	[DIST__TCP_GAMMA] = {.must_state = true},
	[DIST__LATENCY_FACTOR] = {.is_factor = true},
	[DIST__BANDWIDTH_FACTOR] = {.is_factor = true, .divides = true},
	[DIST__LOOPBACK_BANDWIDTH] = {.divides = true},
};

/* What SimGrid takes for a number need not be one that it can go on with. */
static enum dist_error check_number(const char *path, int i, double number,
				    struct dist_message *message)
{
	if (isfinite(number) &&
	    (settings[i].divides ? number > 0 : number >= 0))
		return DIST_OK;
	return dist__refuse(message,
			    "%s: its <config> states %s %g: expected %s", path,
			    dist__graph_settings[i], number,
			    settings[i].divides ? "more than 0" : "0 or more");
}

enum dist_error dist__platform_check_model(const struct dist__platform *p,
					   struct dist_message *message)
{
	const struct dist__graph_network *network = &p->graph->network;
	enum dist_error error = DIST_OK;

	if (!network->states_model)
		return dist__refuse(message,
				    "%s: its <config> does not state "
				    "network/model: expected one, such as CM02",
				    p->path);
	for (int i = 0; i < DIST__GRAPH_SETTINGS && !error; i++) {
		bool needed = settings[i].must_state ||
			      (settings[i].is_factor &&
			       strcmp(network->model, "CM02") != 0);

		if (needed && !network->settings[i].is_stated)
			return dist__refuse(message,
					    "%s: its <config> states "
					    "network/model %s but not %s",
					    p->path, network->model,
					    dist__graph_settings[i]);
		error = check_number(p->path, i, network->settings[i].value,
				     message);
	}
	return error;
}

static void add_fact(struct dist__platform *p, const char *key)
{
	p->facts[p->num_facts] =
		(struct dist__fact){key, p->values[p->num_facts]};
	p->num_facts++;
}

static char *next_value(struct dist__platform *p)
{
	return p->values[p->num_facts];
}

static void add_change(struct dist__platform *p, const char *key,
		       struct dist__change change, const char *unit)
{
	if (change.value == 0)
		return;
	snprintf(next_value(p), sizeof p->values[0],
		 change.is_factor ? "x%.12g" : "%.12g %s", change.value, unit);
	add_fact(p, key);
}

void dist__platform_collect_facts(struct dist__platform *p,
				  const struct dist__link_overrides *overrides)
{
	const struct dist__graph_network *network = &p->graph->network;
	size_t size = sizeof p->values[0];
	int major, minor, patch;

	snprintf(next_value(p), size, "%zu", p->num_hosts);
	add_fact(p, "hosts");
	snprintf(next_value(p), size, "%s", network->model);
	add_fact(p, "network/model");
	for (int i = 0; i < DIST__GRAPH_SETTINGS; i++) {
		snprintf(next_value(p), size, "%.12g",
			 network->settings[i].value);
		add_fact(p, dist__graph_settings[i]);
	}
	if (p->has_queues) {
		snprintf(next_value(p), size, "fifo");
		add_fact(p, "queues");
	}
	if (p->graph->is_simgrid) {
		sg_version_get(&major, &minor, &patch);
		snprintf(next_value(p), size, "%d.%d", major, minor);
		add_fact(p, "SimGrid");
	}
	if (!overrides)
		return;
	add_change(p, "inter bandwidth", overrides->inter.bandwidth, "B/s");
	add_change(p, "inter latency", overrides->inter.latency, "s");
	add_change(p, "intra bandwidth", overrides->intra.bandwidth, "B/s");
	add_change(p, "intra latency", overrides->intra.latency, "s");
}
