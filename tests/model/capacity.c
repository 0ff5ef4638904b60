/*
 * What a link carries, whatever begins on it in one instant: messages of ranks
 * that all start together, each over its sender's link up and its receiver's
 * link down, against the time that the links take; of a star exactly, and of
 * messages drawn by lot never less than the receiver's busiest link takes.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lockstep/dist.h"
#include "base/random.h"

#define STAR  "tests/support/star16.xml" /* 1 GB/s, 2 links of 5 us */
#define NODES "tests/support/nodes4x4.xml"
#define ERROR 1e-3

#define RANKS      16
#define NODE_RANKS 4
#define LATENCY_NS 10000 /* of a way between hosts, of NODES between nodes */

/* Who sends how much to whom: phantom bytes, as many nanoseconds on a link of
 * 1 GB/s. The simulated ranks share it, and store when each has everything. */
struct traffic {
	size_t bytes[RANKS][RANKS]; /* [from][to], 0: no message */
	int64_t end_ns[RANKS];      /* from the common start on */
};

/* ---- the ranks ------------------------------------------------------------
 */

static enum dist_error post(struct dist_group *group,
			    const struct traffic *traffic,
			    struct dist_work *works[2 * RANKS], int *num)
{
	int rank = dist_get_rank(group);
	enum dist_error error = DIST_OK;

	for (int i = 0; i < RANKS && !error; i++)
		if (traffic->bytes[i][rank])
			error = dist_irecv(group,
					   dist_tensor(NULL,
						       traffic->bytes[i][rank],
						       DIST_UINT8),
					   i, 0, &works[(*num)++]);
	for (int i = 0; i < RANKS && !error; i++)
		if (traffic->bytes[rank][i])
			error = dist_isend(group,
					   dist_tensor(NULL,
						       traffic->bytes[rank][i],
						       DIST_UINT8),
					   i, 0, &works[(*num)++]);
	return error;
}

static enum dist_error exchange(struct dist_group *group,
				struct traffic *traffic)
{
	struct dist_work *works[2 * RANKS];
	int64_t start_ns = dist_now_ns(group);
	enum dist_error error;
	int num = 0;

	error = post(group, traffic, works, &num);
	for (int i = 0; i < num && !error; i++) {
		error = dist_work_wait(works[i], DIST_TIMEOUT_NEVER);
		dist_work_free(works[i]);
	}
	traffic->end_ns[dist_get_rank(group)] = dist_now_ns(group) - start_ns;
	return error;
}

static int rank_main(void *arg)
{
	struct dist_group *group;
	enum dist_error error;

	if (dist_init_process_group(NULL, &group))
		return 1;
	error = exchange(group, arg);
	return dist_destroy_process_group(group) || error;
}

static void run(const char *platform, struct traffic *traffic)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = platform,
		.world_size = RANKS,
	};

	cr_assert_eq(dist_launch(&options, rank_main, traffic), 0);
}

static void expect_time(const struct traffic *traffic, int rank, double want)
{
	double got = (double)traffic->end_ns[rank] - LATENCY_NS;

	cr_expect(fabs(got - want) <= ERROR * want,
		  "rank %d: its link takes %.0f ns, simulated %.0f ns", rank,
		  want, got);
}

/* ---- many to a few -------------------------------------------------------
 */

struct incast {
	int senders, servers; /* the first ranks, the last ones */
	bool servers_differ;  /* the second one is sent twice as much, ... */
	bool senders_differ;  /* the second one sends twice as much, ... */
};

ParameterizedTestParameters(capacity, incast)
{
	static struct incast setups[] = {
		{2, 1, false, false}, {15, 1, false, false},
		{5, 1, false, true},  {15, 1, false, true},
		{2, 2, false, false}, {12, 4, false, false},
		{8, 8, false, false}, {2, 2, true, false},
		{12, 4, true, false}, {8, 8, true, false},
	};

	return cr_make_param_array(struct incast, setups,
				   sizeof setups / sizeof setups[0]);
}

/* There are no fewer senders than servers, so that the servers' links are the
 * busy ones, from the first byte to the last. */
ParameterizedTest(struct incast *incast, capacity, incast)
{
	struct traffic traffic = {0};
	const size_t unit = 10000000;
	int first = RANKS - incast->servers;

	for (int from = 0; from < incast->senders; from++)
		for (int to = first; to < RANKS; to++)
			traffic.bytes[from][to] =
				unit *
				(incast->senders_differ ? (size_t)from + 1
							: 1) *
				(incast->servers_differ
					 ? (size_t)(to - first) + 1
					 : 1);
	run(STAR, &traffic);
	for (int to = first; to < RANKS; to++) {
		double want = 0;

		for (int from = 0; from < incast->senders; from++)
			want += (double)traffic.bytes[from][to];
		expect_time(&traffic, to, want);
	}
}

/* ---- all to all ----------------------------------------------------------
 */

Test(capacity, all_to_all_of_a_star)
{
	struct traffic traffic = {0};

	for (int from = 0; from < RANKS; from++)
		for (int to = 0; to < RANKS; to++)
			traffic.bytes[from][to] = from == to ? 0 : 1000000;
	run(STAR, &traffic);
	for (int rank = 0; rank < RANKS; rank++)
		expect_time(&traffic, rank, (RANKS - 1) * 1e6);
}

/* The four ranks of a node share its link to the other nodes. */
Test(capacity, all_to_all_of_nodes)
{
	struct traffic traffic = {0};

	for (int from = 0; from < RANKS; from++)
		for (int to = 0; to < RANKS; to++)
			if (from / NODE_RANKS != to / NODE_RANKS)
				traffic.bytes[from][to] = 1000000;
	run(NODES, &traffic);
	for (int rank = 0; rank < RANKS; rank++)
		expect_time(&traffic, rank,
			    NODE_RANKS * (RANKS - NODE_RANKS) * 1e6);
}

/* ---- by lot --------------------------------------------------------------
 */

struct lot {
	char platform[32];
	uint64_t seed;
};

ParameterizedTestParameters(capacity, by_lot)
{
	static struct lot lots[20];

	for (uint64_t i = 0; i < 20; i++) {
		strcpy(lots[i].platform, i % 2 ? NODES : STAR);
		lots[i].seed = i;
	}
	return cr_make_param_array(struct lot, lots, 20);
}

/* Bytes that the ranks of one node are sent by others; all of a rank on STAR.
 */
static double bytes_into(const struct traffic *traffic, int first, int ranks)
{
	double bytes = 0;

	for (int to = first; to < first + ranks; to++)
		for (int from = 0; from < RANKS; from++)
			if (from / ranks != to / ranks)
				bytes += (double)traffic->bytes[from][to];
	return bytes;
}

/* The last of those behind a link has everything once the link is through. */
ParameterizedTest(struct lot *lot, capacity, by_lot)
{
	struct traffic traffic = {0};
	int ranks = strcmp(lot->platform, NODES) == 0 ? NODE_RANKS : 1;
	uint64_t state = lot->seed;

	for (int from = 0; from < RANKS; from++)
		for (int to = 0; to < RANKS; to++)
			if (from != to && dist__random_next(&state) % 4 == 0)
				traffic.bytes[from][to] =
					1000000 *
					(1 + dist__random_next(&state) % 4);
	run(lot->platform, &traffic);
	for (int first = 0; first < RANKS; first += ranks) {
		double want = bytes_into(&traffic, first, ranks), got = 0;

		for (int i = first; i < first + ranks; i++)
			got = fmax(got, (double)traffic.end_ns[i]);
		cr_expect(got >= want,
			  "%s, seed %llu, from rank %d on: %.0f bytes in %.0f "
			  "ns over a link of 1 GB/s",
			  lot->platform, (unsigned long long)lot->seed, first,
			  want, got);
	}
}
