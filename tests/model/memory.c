/*
 * What a call walks through beyond a core's own cache is cold, by a profile
 * whose rates are of a ring of 4: in its all-gather a rank walks through four
 * messages, in an all-to-all through twice as many, which go as messages of
 * twice their length do. In a broadcast it walks through one, which goes as one
 * of a quarter does. Sums that a ring passes through memory of its own are
 * copies besides.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lockstep/dist.h"

#define STAR       "tests/support/star16.xml" /* 1 GB/s, 2 links of 5 us */
#define LATENCY_NS 10000
#define RANKS      4
#define PART       1000000 /* bytes of a message, ns on a link */
#define ERROR      1e-3

/* Phantom bytes, as every rank has them. */
static const struct dist_tensor part = {NULL, PART, DIST_UINT8};
static const struct dist_tensor parts = {NULL, RANKS *PART, DIST_UINT8};

enum call { GATHER, EXCHANGE, BROADCAST, SCATTER };

struct run {
	enum call call;
	int64_t took_ns;
};

static int rank_main(void *arg)
{
	struct run *run = arg;
	struct dist_group *group;
	enum dist_error error;
	int64_t start_ns;

	if (dist_init_process_group(NULL, &group))
		return 1;
	start_ns = dist_now_ns(group);
	if (run->call == BROADCAST)
		error = dist_broadcast(group, part, 0, NULL);
	else if (run->call == EXCHANGE)
		error = dist_all_to_all_single(group, parts, parts, NULL, NULL,
					       NULL);
	else if (run->call == SCATTER)
		error = dist_reduce_scatter_single(group, part, parts, DIST_SUM,
						   NULL);
	else
		error = dist_all_gather_single(group, parts, part, NULL);
	if (dist_get_rank(group) == 0)
		run->took_ns = dist_now_ns(group) - start_ns;
	return dist_destroy_process_group(group) || error;
}

/* How long the call takes by profile. */
static double took_ns(enum call call, const char *profile)
{
	char path[] = "/tmp/lockstep-memory-XXXXXX";
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = STAR,
		.profile = path,
		.algorithm = "all_gather=ring,all_to_all=pairwise,"
			     "broadcast=binomial,reduce_scatter=ring",
		.world_size = RANKS,
	};
	struct run run = {.call = call};
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	dprintf(fd, "%s", profile);
	close(fd);
	cr_assert_eq(dist_launch(&options, rank_main, &run), 0);
	unlink(path);
	return (double)run.took_ns;
}

/* So many messages of a rank at share of the links. */
static void expect_share(enum call call, size_t cache_bytes, int messages,
			 double share)
{
	static const char *const names[] = {"all-gather", "all-to-all",
					    "broadcast"};
	double want = messages * (LATENCY_NS + PART / share), took;
	char profile[512];

	snprintf(profile, sizeof profile,
		 "name: memory\n"
		 "intra: shm\n"
		 "rates:\n"
		 "  - {bytes: %d, share: 8}\n"
		 "  - {bytes: %d, share: 4}\n"
		 "  - {bytes: %d, share: 2}\n"
		 "rates_ranks: %d\n"
		 "cache_bytes: %zu\n",
		 PART / RANKS, PART, 2 * PART, RANKS, cache_bytes);
	took = took_ns(call, profile);
	cr_expect(fabs(took - want) <= ERROR * want,
		  "%s, cache of %zu: %.0f ns, simulated %.0f ns", names[call],
		  cache_bytes, want, took);
}

Test(memory, that_the_ring_walks_through_is_in_its_rates)
{
	expect_share(GATHER, 0, RANKS - 1, 4);
}

Test(memory, beyond_the_cache_is_cold)
{
	expect_share(EXCHANGE, (size_t)2 * RANKS * PART, RANKS - 1, 2);
}

Test(memory, within_the_cache_is_not)
{
	expect_share(EXCHANGE, (size_t)2 * RANKS * PART + 1, RANKS - 1, 4);
}

/* Two steps. */
Test(memory, that_a_call_does_not_walk_through_does_not_count)
{
	expect_share(BROADCAST, 0, 2, 8);
}

/* In all steps but the last, at a byte a ns. */
Test(memory, that_sums_pass_through_takes_copies)
{
	double want = (RANKS - 1) * (LATENCY_NS + PART) + (RANKS - 2) * PART;
	double took = took_ns(SCATTER, "name: memory\ncopy_Bps: 1e9\n");

	cr_expect(fabs(took - want) <= ERROR * want, "%.0f ns, simulated %.0f",
		  want, took);
}
