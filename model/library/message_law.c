#include "model/library/message_law.h"

#include <math.h>
#include <string.h>

/* A way between two of a node, of processors or by copies of theirs: half a
 * round trip of 8 bytes through shared memory takes some 0.5 us, and copies
 * reach some 10 GB/s; round figures. */
#define SHARED_LATENCY_NS 500
#define SHARED_BPS        10e9

/* What a GPU's way over PCIe adds to its fabric's latency between nodes
 * (model/cluster/description.h). */
#define GPU_HOP_NS 1000

/* Bytes that a node's memory moves for a byte: copied to a rank by way of a
 * shared buffer, summed, copied. */
#define MOVED_SHARED 4
#define MOVED_SUM    3
#define MOVED_COPY   2

/*
 * Latency of a message in multiples of the shortest one's: as it fits a
 * descriptor, one packet, several, or is announced first. OSU latency between
 * two nodes less the time of the bytes (github.com/dexhunter/
 * allreduce-experiments, 100g-latency.txt and 10g-latency.txt); announced ones
 * over InfiniBand less than the 4.5 there, as in steps of 32 KiB and more on
 * three machines (github.com/HLC-Lab/pico).
 */
struct message_growth {
	double max_bytes, latency;
};
static const struct message_growth growth[] = {
	{192, 1}, {1024, 1.5}, {4096, 1.9}, {8192, 2.3}, {INFINITY, 2.8}};
static const struct message_growth tcp_growth[] = {
	{512, 1}, {1024, 2.4}, {65535, 3.6}, {INFINITY, 6}};

/* ---- what the profile says ------------------------------------------- */

const char *const library_message_constants[] = {
	"tcp_message_us",   /* processor time of a message by TCP */
	"tcp_announced_us", /* more, of one that is announced first */
	"device_us",        /* more, if its bytes are a GPU's */
	"tcp_device_us",
	"device_copy_us",   /* of a GPU's own part of what it gets */
	"stream_GBps",      /* most of a rank; 0: any */
	"tcp_stream_GBps",  /* most of a rank by TCP */
	"one_thread",       /* 1: one carries what a rank sends and gets */
	"tcp_node_GBps",    /* what all ranks of a node carry by TCP; 0: any */
	"tcp_eager_GBps",   /* the same, of messages that are not announced */
	"card_share",       /* reached of the cards' rate */
	"tcp_card_share",   /* the same by TCP */
	"all_to_all_share", /* the same, when all send to all */
	"ring_latency",     /* of short messages to the same neighbour always */
	"one_way_latency",  /* of messages that nothing comes back for */
	"at_once",          /* 1: a parent in a tree sends to all children so */
	"slingshot_loops",  /* 1: what stays in a node takes the cards, too */
	"gpu_links",   /* reached of what joins the GPUs of a node; 0: unused */
	"memory_GBps", /* of a node, which its ranks share; 0: any */
	"copy_GBps",   /* of a vector, before it is summed up; 0: any */
	"cache_MiB",   /* vectors from here on do not stay in cache */
	"uncached",    /* then, time of a sum in multiples */
	"fresh_GBps",  /* then, of touching new memory for a copy */
	NULL};

/* Starts are round figures of processors, their memory and kernels; a rate of
 * TCP, of one stream, what a core copies twice. All these are a machine's: few
 * machines were measured, and one of them says little of the next. */
const struct library_constant library_message_fitted[] = {
	{"message_overhead_ns", 1000, 0.4, 100, 1e5, 0.5},
	{"reduce_Bps", 10e9, 0.7, 1e9, 2e11, 0.4},
	{"tcp_message_us", 15, 0.5, 1, 200, 0.3},
	{"tcp_announced_us", 20, 0.7, 0, 500, 0.3},
	{"device_us", 0.5, 1, 0, 50, 0},
	{"tcp_device_us", 5, 0.7, 0, 100, 0},
	{"device_copy_us", 8, 0.5, 0, 100, 0},
	{"stream_GBps", 2, 0.4, 0.1, 50, 0.3},
	{"tcp_stream_GBps", 3, 0.4, 0.1, 20, 0.3},
	{"tcp_node_GBps", 4, 0.5, 0.1, 50, 0.3},
	{"tcp_eager_GBps", 1, 0.7, 0.1, 50, 0.3},
	{"card_share", 0.95, 0.05, 0.3, 1, 0.1},
	{"tcp_card_share", 0.9, 0.1, 0.3, 1, 0.1},
	{"all_to_all_share", 0.8, 0.2, 0.2, 1, 0},
	{"ring_latency", 0.7, 0.3, 0.2, 2, 0},
	{"one_way_latency", 0.7, 0.3, 0.2, 2, 0},
	{"memory_GBps", 25, 0.3, 2, 500, 0.3},
	{"copy_GBps", 10, 0.5, 1, 200, 0.4},
	{"uncached", 3, 0.5, 0.5, 10, 0},
	{"fresh_GBps", 8, 0.5, 1, 100, 0.3},
	{.name = NULL},
};

static double constant(const struct dist__profile *profile, const char *name,
		       double fallback)
{
	return dist__profile_constant(profile, name, fallback);
}

/* ---- rates -------------------------------------------------------- */

static bool is_tcp(const struct fabric *fabric)
{
	return transport_is(fabric->transport, "tcp");
}

static bool is_device(const struct fabric *fabric,
		      const struct library_call *call)
{
	return fabric->gpu[0] && !call->host;
}

/* A byte's time at a constant's rate; 0: none is given. */
static double rate_ns(const struct dist__profile *profile, const char *rate)
{
	double GBps = constant(profile, rate, 0);

	return GBps > 0 ? 1 / GBps : 0;
}

/* That of a rank that sends alone. */
static double stream_ns(const struct dist__profile *profile,
			const struct fabric *fabric)
{
	return rate_ns(profile,
		       is_tcp(fabric) ? "tcp_stream_GBps" : "stream_GBps") *
	       (1 + constant(profile, "one_thread", 0));
}

/* A byte's time by all cards of a node. */
static double cards_ns(const struct dist__profile *profile,
		       const struct fabric *fabric,
		       const struct library_call *call)
{
	double share = constant(
		profile, is_tcp(fabric) ? "tcp_card_share" : "card_share", 1);

	if (call->op == DIST__ALL_TO_ALL)
		share *= constant(profile, "all_to_all_share", 1);
	return 1e9 / (fabric->cards * fabric->card_Bps * share);
}

/* What ways between nodes take. */
static void add_ways(const struct dist__profile *profile,
		     const struct fabric *fabric,
		     const struct library_call *call, struct message_law *law)
{
	double ns = cards_ns(profile, fabric, call);

	law->stream_ns = fmax(ns, stream_ns(profile, fabric));
	law->cards_ns = law->short_ns = ns;
	if (is_tcp(fabric)) {
		law->cards_ns = fmax(ns, rate_ns(profile, "tcp_node_GBps"));
		law->short_ns = fmax(ns, rate_ns(profile, "tcp_eager_GBps"));
	}
}

/* A byte's time, no shorter than while all ranks of a node move that many. */
static double at_least(const struct dist__profile *profile,
		       const struct fabric *fabric, double ns, int moved)
{
	double GBps = constant(profile, "memory_GBps", 0);
	double shared_ns = GBps > 0 ? fabric->node_ranks * moved / GBps : 0;

	return ns > shared_ns ? ns : shared_ns;
}

/* A byte's time between two ranks of a node: of processors by their memory, of
 * GPUs too unless the library knows their links. */
static double node_byte_ns(const struct dist__profile *profile,
			   const struct fabric *fabric,
			   const struct library_call *call)
{
	double links_Bps =
		fabric->intra_Bps * constant(profile, "gpu_links", 0);
	double Bps = SHARED_BPS;

	if (is_device(fabric, call) && links_Bps > 0)
		return 1e9 / links_Bps;
	if (fabric->intra == FABRIC_HOST && fabric->intra_Bps > 0)
		Bps = fabric->intra_Bps;
	return at_least(profile, fabric,
			fmax(1e9 / Bps, stream_ns(profile, fabric)),
			MOVED_SHARED);
}

/* What a sum takes besides messages: malloc() asks the system for memory of
 * more than the cache's size anew each time. */
static void add_sums(const struct dist__profile *profile,
		     const struct fabric *fabric, double bytes,
		     struct message_law *law)
{
	double copy_ns = rate_ns(profile, "copy_GBps");

	if (profile->reduce_Bps > 0)
		law->sum_ns = 1e9 / profile->reduce_Bps;
	if (bytes >= constant(profile, "cache_MiB", 32) * (1 << 20)) {
		law->sum_ns *= constant(profile, "uncached", 1);
		law->sum_ns = at_least(profile, fabric, law->sum_ns, MOVED_SUM);
		copy_ns = at_least(profile, fabric, copy_ns, MOVED_COPY);
		law->fresh_ns = bytes * rate_ns(profile, "fresh_GBps");
	}
	law->vector_ns = bytes * copy_ns;
}

struct message_law library_message_law(const struct dist__profile *profile,
				       const struct fabric *fabric,
				       const struct library_call *call)
{
	bool tcp = is_tcp(fabric);
	struct message_law law = {
		.growth = tcp ? tcp_growth : growth,
		.overhead_ns = profile->message_overhead_ns,
		.latency_ns = fabric->inter_latency_ns,
		.node_latency_ns = SHARED_LATENCY_NS,
		.node_byte_ns = node_byte_ns(profile, fabric, call),
		.loops = transport_is(fabric->transport, "slingshot") &&
			 constant(profile, "slingshot_loops", 0) > 0,
	};

	if (fabric->nodes > 1)
		add_ways(profile, fabric, call, &law);
	if (tcp) {
		law.overhead_ns = 1e3 * constant(profile, "tcp_message_us", 0);
		law.announced_ns =
			1e3 * constant(profile, "tcp_announced_us", 0);
	}
	if (fabric->gpu[0] && call->host && law.latency_ns > GPU_HOP_NS)
		law.latency_ns -= GPU_HOP_NS;
	if (is_device(fabric, call) && call->op != DIST__BROADCAST)
		law.start_ns = 1e3 * constant(profile, "device_copy_us", 0);
	if (is_device(fabric, call))
		law.overhead_ns +=
			1e3 * constant(profile,
				       tcp ? "tcp_device_us" : "device_us", 0);
	if (call->op == DIST__ALL_REDUCE || call->op == DIST__REDUCE ||
	    call->op == DIST__REDUCE_SCATTER)
		add_sums(profile, fabric,
			 (double)(call->numel * call->element_bytes), &law);
	return law;
}

/* ---- latency -------------------------------------------------------- */

double library_message_latency(const struct message_law *law, double bytes)
{
	const struct message_growth *g = law->growth;

	while (bytes > g->max_bytes)
		g++;
	return g->latency;
}

bool library_message_is_short(const struct message_law *law, double bytes)
{
	const struct message_growth *g = law->growth;

	while (bytes > g->max_bytes)
		g++;
	return isfinite(g->max_bytes);
}
