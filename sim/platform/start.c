#define _GNU_SOURCE /* sched_setaffinity */
/*
 * start.c - starting SimGrid, and what a platform must say about its network.
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

#include "base/refuse.h"
#include "sim/engine/shim.h"

/* ---- the engine ----------------------------------------------------- */

/*
 * What is said here of stacks is for actors that run nothing but our own code;
 * ranks have larger ones (stack.c).
 *
 * Raw contexts switch fastest; sanitizers follow stacks only in threads, and
 * need bigger ones. Nothing of SimGrid's own talk is let through: what matters
 * we say ourselves.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IN_THREADS true
#define CONTEXTS   "--cfg=contexts/factory:thread"
#define STACK_SIZE "--cfg=contexts/stack-size:512"
#else
#define IN_THREADS false
#define CONTEXTS   "--cfg=contexts/factory:raw"
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
void dist__platform_drop_guards(void)
{
	sg_cfg_set_int("contexts/guard-size", 0);
#ifdef __GLIBC__
	(void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	(void)mallopt(M_MMAP_MAX, INT_MAX);
#endif
#ifdef __linux__
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#endif
}

void dist__platform_start_engine(void)
{
	char name[] = "lockstep", log[] = "--log=root.thresh:critical",
	     contexts[] = CONTEXTS, stacks[] = STACK_SIZE, guard[64],
	     threads[] = "--cfg=contexts/nthreads:1";
	char *argv[] = {name, log, contexts, stacks, guard, threads, NULL};
	struct sigaction interrupt;
	int argc = 6;

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

/* What a platform says about its network, and of which type SimGrid keeps it.
 * A wrong type is a crash, so they stand in one place. */
struct setting {
	const char *name;
	bool is_switch;  /* else a number */
	bool must_state; /* by every platform */
	bool is_factor;  /* must be stated unless the model has no factors */
	bool divides;    /* more than 0, else 0 or more */
};

static const struct setting settings[] = {
	{"network/crosstraffic", true, true, false, false},
	{"network/TCP-gamma", false, true, false, false},
	{"network/latency-factor", false, false, true, false},
	{"network/bandwidth-factor", false, false, true, true},
	{"network/weight-S", false, false, false, false},
	{"network/loopback-lat", false, false, false, false},
	{"network/loopback-bw", false, false, false, true},
};
#define NUM_SETTINGS (sizeof settings / sizeof settings[0])

/* What SimGrid takes for a number need not be one that it can go on with. */
static enum dist_error check_number(const char *path, const struct setting *s,
				    struct dist_message *message)
{
	double number = s->is_switch ? 1 : dist__engine_number(s->name);

	if (isfinite(number) && (s->divides ? number > 0 : number >= 0))
		return DIST_OK;
	return dist__refuse(
		message, "%s: its <config> states %s %g: expected %s", path,
		s->name, number, s->divides ? "more than 0" : "0 or more");
}

enum dist_error dist__platform_check_model(const char *path,
					   struct dist_message *message)
{
	const char *model = dist__engine_model();
	enum dist_error error = DIST_OK;

	if (dist__engine_is_default("network/model"))
		return dist__refuse(
			message,
			"%s: its <config> does not state network/model: "
			"expected one, such as CM02",
			path);
	for (size_t i = 0; i < NUM_SETTINGS && !error; i++) {
		const struct setting *s = &settings[i];
		bool needed = s->must_state ||
			      (s->is_factor && strcmp(model, "CM02") != 0);

		if (needed && dist__engine_is_default(s->name))
			return dist__refuse(
				message,
				"%s: its <config> states network/model "
				"%s but not %s",
				path, model, s->name);
		error = check_number(path, s, message);
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
	size_t size = sizeof p->values[0];
	int major, minor, patch;

	snprintf(next_value(p), size, "%zu", p->num_hosts);
	add_fact(p, "hosts");
	snprintf(next_value(p), size, "%s", dist__engine_model());
	add_fact(p, "network/model");
	for (size_t i = 0; i < NUM_SETTINGS; i++) {
		const struct setting *s = &settings[i];

		if (s->is_switch)
			snprintf(next_value(p), size, "%d",
				 sg_cfg_get_boolean(s->name));
		else
			snprintf(next_value(p), size, "%.12g",
				 dist__engine_number(s->name));
		add_fact(p, s->name);
	}
	if (p->has_queues) {
		snprintf(next_value(p), size, "fifo");
		add_fact(p, "queues");
	}
	sg_version_get(&major, &minor, &patch);
	snprintf(next_value(p), size, "%d.%d", major, minor);
	add_fact(p, "SimGrid");
	if (!overrides)
		return;
	add_change(p, "inter bandwidth", overrides->inter.bandwidth, "B/s");
	add_change(p, "inter latency", overrides->inter.latency, "s");
	add_change(p, "intra bandwidth", overrides->intra.bandwidth, "B/s");
	add_change(p, "intra latency", overrides->intra.latency, "s");
}
