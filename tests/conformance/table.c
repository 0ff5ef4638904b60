/*
 * The conformance table on every back end, algorithm and world size, and the
 * bytes of sim held against those of tcp; the same table that `lockstep check
 * --conformance` walks.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/cases/conformance.h"
#include "lockstep/dist.h"
#include "tests/support/thin.h"
#include "base/hash.h"

#define PLATFORM   "scenarios/platforms/machine-16.xml"
#define PROFILE    "tests/support/segments.yaml" /* so that there are some */
#define MAX_SETUPS 64

/* Fills setups with the whole table, for one back end. Returns how many. */
static size_t all_setups(struct conformance_setup setups[MAX_SETUPS])
{
	const struct conformance_filter whole = {.calls = 0};
	size_t n = 0;

	for (size_t w = 0; conformance_worlds[w]; w++)
		for (size_t round = 0;; round++, n++) {
			cr_assert_lt(n, MAX_SETUPS);
			setups[n] = (struct conformance_setup){
				.platform = PLATFORM,
				.world_size = conformance_worlds[w]};
			if (!conformance_round(&whole, round, &setups[n]))
				break;
		}
	return n;
}

/* One run, looked at case by case; other is of another back end, or NULL. */
struct look {
	const struct conformance_setup *setup;
	struct conformance_outcome *outcome, *other;
};

static void look_at(void *arg, uint32_t index, enum conformance_call call,
		    const char *text)
{
	const struct look *look = arg;
	char what[256] = "not walked";

	(void)call;
	cr_expect(conformance_state(look->outcome, index, what, sizeof what) ==
			  CONFORMANCE_RIGHT,
		  "%s, %s, world size %d: %s: %s", look->setup->backend,
		  look->setup->algorithms, look->setup->world_size, text, what);
	cr_expect(!look->other ||
			  conformance_same(look->outcome, look->other, index),
		  "%s, world size %d: %s: sim and tcp differ",
		  look->setup->algorithms, look->setup->world_size, text);
}

/* Runs setup on backend and expects every case right, and the same bytes as in
 * other. */
static struct conformance_outcome *run(struct conformance_setup setup,
				       const char *backend,
				       struct conformance_outcome *other)
{
	struct look look = {.setup = &setup, .other = other};
	int status;

	setup.backend = backend;
	setup.platform = PLATFORM;
	setup.profile = PROFILE;
	look.outcome = conformance_outcome_new(&setup);
	cr_assert(look.outcome);
	if (other)
		conformance_trust(look.outcome, other);
	status = conformance_run(&setup, look.outcome);
	conformance_each(&setup, look_at, &look);
	cr_expect_eq(status, DIST_EXIT_OK, "%s, %s, world size %d: status %d",
		     backend, setup.algorithms, setup.world_size, status);
	return look.outcome;
}

ParameterizedTestParameters(conformance, sim_and_tcp_agree)
{
	static struct conformance_setup setups[MAX_SETUPS];

	size_t num = all_setups(setups), n = 0;

	for (size_t i = 0; i < num; i++)
		if (thin_world(setups[i].world_size))
			setups[n++] = setups[i];
	/* No transport knows dtypes and operations: those of the algorithms
	 * are walked in simulation. */
	for (size_t i = 0, w = 0; i < n; i++) {
		w += i > 0 && setups[i].world_size != setups[i - 1].world_size;
		if (setups[i].world_size > 5)
			setups[i].third = conformance_third((int)w);
	}
	return cr_make_param_array(struct conformance_setup, setups, n);
}

ParameterizedTest(struct conformance_setup *setup, conformance,
		  sim_and_tcp_agree)
{
	struct conformance_setup whole = *setup;
	struct conformance_outcome *sim, *tcp;

	whole.third = 0;
	sim = run(whole, "sim", NULL);
	tcp = run(*setup, "tcp", sim);
	fprintf(stderr, "%u cases on sim, %u on tcp: world size %d, %s\n",
		conformance_count(&whole), conformance_count(setup),
		setup->world_size, setup->algorithms);
	conformance_outcome_free(sim);
	conformance_outcome_free(tcp);
}

/* ---- in groups ---------------------------------------------------------- */

/* A rank that walks in every grouping: the last odd one. */
static int witness(const struct conformance_setup *setup)
{
	return setup->world_size / 2 * 2 - 1;
}

static struct conformance_outcome *
run_in_groups(struct conformance_setup setup, const char *backend,
	      const struct conformance_outcome *other)
{
	struct conformance_outcome *outcome = conformance_outcome_new(&setup);
	char what[256];

	cr_assert(outcome);
	if (other)
		conformance_trust(outcome, other);
	setup.backend = backend;
	setup.platform = PLATFORM;
	setup.profile = PROFILE;
	cr_expect_eq(conformance_run(&setup, outcome), DIST_EXIT_OK, "%s, %s",
		     backend, conformance_grouping_name(setup.grouping));
	for (uint32_t i = 0; i < conformance_places(outcome); i++)
		cr_expect(conformance_state(outcome, i, what, sizeof what) !=
				  CONFORMANCE_WRONG,
			  "%s, %s: %s", backend,
			  conformance_grouping_name(setup.grouping), what);
	cr_expect_gt(conformance_walked(outcome, witness(&setup)), 2000);
	return outcome;
}

ParameterizedTestParameters(conformance, they_agree_in_groups)
{
	static struct conformance_setup setups[2 * CONFORMANCE_GROUPINGS];
	const struct conformance_filter whole = {.calls = 0};
	static const int worlds[] = {5, 8};
	size_t n = 0;

	for (size_t w = 0; w < 2; w += (size_t)thin_step(2))
		for (int g = CONFORMANCE_HALVES; g < CONFORMANCE_GROUPINGS;
		     g++, n++) {
			setups[n].world_size = worlds[w];
			setups[n].grouping = (enum conformance_grouping)g;
			setups[n].third = conformance_third(g);
			(void)conformance_round(&whole, w, &setups[n]);
		}
	return cr_make_param_array(struct conformance_setup, setups, n);
}

ParameterizedTest(struct conformance_setup *setup, conformance,
		  they_agree_in_groups)
{
	struct conformance_outcome *sim = run_in_groups(*setup, "sim", NULL);
	struct conformance_outcome *tcp = run_in_groups(*setup, "tcp", sim);

	for (uint32_t i = 0; i < conformance_places(sim); i++)
		cr_expect(conformance_same(sim, tcp, i),
			  "%s, world size %d, %s: case %u: sim and tcp differ",
			  setup->algorithms, setup->world_size,
			  conformance_grouping_name(setup->grouping), i);
	fprintf(stderr, "%u cases x 2 back ends: world size %d, %s, %s\n",
		conformance_walked(sim, witness(setup)), setup->world_size,
		conformance_grouping_name(setup->grouping), setup->algorithms);
	conformance_outcome_free(sim);
	conformance_outcome_free(tcp);
}

/* ---- messages, however a send ends --------------------------------------- */

/* The patterns of point-to-point calls, in the simulator's other modes: as many
 * elements as fit, or all, are buffered. */
ParameterizedTestParameters(conformance, messages_agree_in_every_mode)
{
	static int worlds[16];
	size_t n = 0;

	for (size_t w = 0; conformance_worlds[w]; w++)
		if (thin_world(conformance_worlds[w]))
			worlds[n++] = conformance_worlds[w];
	return cr_make_param_array(int, worlds, n);
}

ParameterizedTest(int *world_size, conformance, messages_agree_in_every_mode)
{
	static const char *const modes[] = {"buffered", "eager:256"};
	struct conformance_filter messages = {.calls = 0};
	struct conformance_setup setup = {.world_size = *world_size};
	struct conformance_outcome *strict, *other;
	int call;

	for (call = CONFORMANCE_ALL_PAIRS; call <= CONFORMANCE_ANY_SOURCE;
	     call++)
		messages.calls |= UINT32_C(1) << call;
	cr_assert(conformance_round(&messages, 0, &setup));
	setup.p2p = "rendezvous";
	strict = run(setup, "sim", NULL);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		setup.p2p = modes[i];
		other = run(setup, "sim", strict);
		conformance_outcome_free(other);
	}
	conformance_outcome_free(strict);
}

/* ---- how wide the table is -------------------------------------------- */

#define MAX_KEYS (1 << 20)

struct keys {
	const struct conformance_setup *setup;
	uint64_t *key;
	size_t num;
};

/* What makes a case of a back end another one than all others. */
static void take_key(void *arg, uint32_t index, enum conformance_call call,
		     const char *text)
{
	struct keys *keys = arg;
	const char *algorithm = conformance_algorithm(call, keys->setup->round);
	uint64_t key;
	char all[256];

	(void)index;
	cr_assert_lt(keys->num, MAX_KEYS);
	snprintf(all, sizeof all, "%d %s %s", keys->setup->world_size,
		 algorithm ? algorithm : "", text);
	key = dist__hash_bytes(DIST__HASH_BEGIN, all, strlen(all));
	keys->key[keys->num++] = key;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Each case is in a third; few are in all. */
Test(conformance, three_thirds_are_the_table)
{
	struct keys keys = {.key = malloc(MAX_KEYS * sizeof *keys.key)};
	const struct conformance_filter whole = {.calls = 0};
	struct conformance_setup setup = {.world_size = 7};
	size_t left = 0;

	cr_assert(keys.key);
	cr_assert(conformance_round(&whole, 0, &setup));
	keys.setup = &setup;
	for (int third = 0; third < 3; third++) {
		setup.third = conformance_third(third);
		conformance_each(&setup, take_key, &keys);
	}
	qsort(keys.key, keys.num, sizeof *keys.key, compare);
	for (size_t i = 0; i < keys.num; i++)
		left += i == 0 || keys.key[i - 1] != keys.key[i];
	setup.third = 0;
	cr_expect_eq(left, conformance_count(&setup));
	cr_expect_lt(keys.num, left + left / 10);
	free(keys.key);
}

Test(conformance, has_20000_distinct_cases)
{
	struct keys keys = {.key = malloc(MAX_KEYS * sizeof *keys.key)};
	static struct conformance_setup setups[MAX_SETUPS];
	size_t num = all_setups(setups);

	cr_assert(keys.key);
	for (size_t i = 0; i < num; i++) {
		keys.setup = &setups[i];
		conformance_each(&setups[i], take_key, &keys);
	}
	qsort(keys.key, keys.num, sizeof *keys.key, compare);
	for (size_t i = 1; i < keys.num; i++)
		cr_assert_neq(keys.key[i - 1], keys.key[i], "twice the same");
	fprintf(stderr, "%zu distinct cases\n", keys.num);
	cr_assert_geq(2 * keys.num, 20000);
	free(keys.key);
}
