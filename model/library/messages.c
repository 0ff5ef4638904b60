/*
 * messages.c - gloo, Open MPI and MPICH: libraries whose processors exchange
 * messages, as Lockstep's own do, by the same algorithms. What differs is which
 * one they choose (the profile's rules) and what a message takes.
 *
 * Each algorithm's cost formula says how many messages follow each other, and
 * how many bytes are carried and reduced. A message then takes a latency, more
 * of it the longer it is (it is put into the descriptor, copied to a buffer, or
 * announced first), and the time of its bytes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/refuse.h"
#include "base/text.h"
#include "model/library/library.h"
#include "model/library/model.h"
#include "model/library/spelling.h"
#include "coll/algorithm.h"
#include "model/library/fabric.h"

/* The costs of a call. */
struct message_law {
	const struct message_growth *growth; /* of latency by length */
	double overhead_ns;     /* a message: the sender's processor */
	double start_ns;        /* a call */
	double announced_ns;    /* added for a message that is announced first
				 */
	double latency_ns;      /* a short message to another node */
	double node_latency_ns; /* of a short message within a node */
	double stream_ns;       /* a byte to another node, of one rank */
	double cards_ns;        /* a byte of a node, by all its cards */
	double short_ns;        /* the same for messages that are not announced
				 */
	double node_byte_ns;    /* a byte within a node */
	bool loops;             /* messages within a node go by the cards */
	double sum_ns;          /* a byte that is reduced */
	double vector_ns;       /* each rank's vector, copied once */
	double fresh_ns;        /* memory as large as the vector, touched */
};

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

static const char *const message_constants[] = {
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
static const struct library_constant message_fitted[] = {
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

static struct message_law message_law(const struct dist__profile *profile,
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

/* The latency of a message in multiples of a short one's. */
static double latency_of(const struct message_law *law, double bytes)
{
	const struct message_growth *g = law->growth;

	while (bytes > g->max_bytes)
		g++;
	return g->latency;
}

/* Whether it is sent without announcement. */
static bool is_short(const struct message_law *law, double bytes)
{
	const struct message_growth *g = law->growth;

	while (bytes > g->max_bytes)
		g++;
	return isfinite(g->max_bytes);
}

/* ---- steps ----------------------------------------------------------------
 */

struct placement {
	double remote_steps; /* share of the steps, 0 to 1 */
	double remote_bytes; /* share of the bytes */
	double shared_bytes; /* share of the bytes that leaves the nodes of a
				card */
	int senders;         /* ranks of a node that send to other nodes at the
				same time */
	int card_nodes;      /* nodes that send by the same card */
	bool alongside;      /* other ranks send inside the node at the same
				time */
	bool at_once;        /* each rank sends both ways at the same time */
};

static bool is_named(const struct dist__algorithm *algorithm, const char *name)
{
	return strcmp(algorithm->name, name) == 0;
}

/* library_is_ring returns whether all messages of a rank go to the same
 * neighbour. */
static bool library_is_ring(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "ring") || is_named(algorithm, "chain") ||
	       is_named(algorithm, "scatter_all_gather");
}

/* To the nearest partner first, and most to it. */
static bool shrinks(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "halving_doubling") ||
	       is_named(algorithm, "recursive_halving") ||
	       is_named(algorithm, "rabenseifner");
}

/* Most to the furthest partner. */
static bool grows(const struct dist__algorithm *algorithm)
{
	if (algorithm->op == DIST__ALL_GATHER)
		return is_named(algorithm, "recursive_doubling");
	return (algorithm->op == DIST__SCATTER ||
		algorithm->op == DIST__GATHER) &&
	       is_named(algorithm, "binomial");
}

/* library_halves returns whether each step sends half or twice as much as the
 * one before. */
static bool library_halves(const struct dist__algorithm *algorithm)
{
	return shrinks(algorithm) || grows(algorithm);
}

/* To every other rank alike. */
static bool is_to_all(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "pairwise") ||
	       (algorithm->op == DIST__ALL_TO_ALL &&
		is_named(algorithm, "linear"));
}

static bool is_tree(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "binomial") ||
	       is_named(algorithm, "binomial_tree") ||
	       is_named(algorithm, "double_tree");
}

/* Partners at 1, 2, 4 .. ranks. */
static bool doubles(const struct dist__algorithm *algorithm)
{
	return is_tree(algorithm) || shrinks(algorithm) ||
	       is_named(algorithm, "recursive_doubling");
}

/* The share of steps that leave groups of r neighbours: of partners at 1, 2, 4
 * .. as many stay inside as r has doublings. */
static double steps_leaving(const struct dist__algorithm *algorithm, double p,
			    double r)
{
	if (r >= p)
		return 0;
	return doubles(algorithm) ? log2(p / r) / log2(p) : 1;
}

/*
 * The share of bytes that does. Of n bytes (1 - 1/p) are sent if vectors are
 * halved: (1 - 1/r) of them inside if the nearest partner gets most, (r - 1)/p
 * if the furthest does.
 */
static double bytes_leaving(const struct dist__algorithm *algorithm, double p,
			    double r)
{
	if (r >= p)
		return 0;
	if (shrinks(algorithm))
		return (1 / r - 1 / p) / (1 - 1 / p);
	if (grows(algorithm) || is_to_all(algorithm))
		return (p - r) / (p - 1);
	return steps_leaving(algorithm, p, r);
}

/* library_placement returns it; loops: messages within a node go by its cards.
 */
static struct placement
library_placement(const struct dist__algorithm *algorithm,
		  const struct fabric *fabric, bool loops)
{
	double p = fabric_ranks(fabric), r = loops ? 1 : fabric->node_ranks;
	/* A ring and a tree leave each group of neighbours once. */
	bool once = library_is_ring(algorithm) || is_tree(algorithm);
	int card_nodes =
		fabric->card_nodes > 1 && !once ? fabric->card_nodes : 1;

	if (fabric->nodes == 1)
		return (struct placement){.senders = 0};
	return (struct placement){
		.remote_steps = steps_leaving(algorithm, p, r),
		.remote_bytes = bytes_leaving(algorithm, p, r),
		.shared_bytes = bytes_leaving(algorithm, p, r * card_nodes),
		.senders = once && !loops ? 1 : fabric->node_ranks,
		.card_nodes = card_nodes,
		.alongside = library_is_ring(algorithm) && r > 1,
		.at_once = algorithm->op == DIST__ALL_TO_ALL &&
			   is_named(algorithm, "linear"),
	};
}

/* ---- algorithms ------------------------------------------------------ */

/* What an algorithm is made of, on the way that takes longest. */
struct parts {
	double steps;         /* messages that wait for one another */
	double messages;      /* that one rank sends, */
	double message_bytes; /* of so many on the average, */
	bool are_short;       /* which are not announced first */
	double bytes;         /* those that it sends, */
	double carried_bytes; /* and that the link carries meanwhile */
	double reduced_bytes;
};

static struct parts parts_of(const struct dist__algorithm *algorithm,
			     const struct dist__profile *profile,
			     const struct message_law *law,
			     const struct library_call *call)
{
	const size_t segment = (size_t)profile->segment_bytes;
	const struct dist__cost step = {.alpha_ns = 1,
					.segment_bytes = segment};
	const struct dist__cost message = {.overhead_ns = 1,
					   .segment_bytes = segment};
	const struct dist__cost byte = {.beta_ns_per_byte = 1,
					.segment_bytes = segment};
	const struct dist__cost sum = {.gamma_ns_per_byte = 1,
				       .segment_bytes = segment};
	size_t n = call->numel, each = call->element_bytes;

	struct parts parts = {
		.steps = algorithm->cost_ns(&step, call->ranks, n, each),
		.messages = algorithm->cost_ns(&message, call->ranks, n, each),
		.bytes = algorithm->cost_ns(&byte, call->ranks, n, each),
		.reduced_bytes = algorithm->cost_ns(&sum, call->ranks, n, each),
	};

	if (parts.bytes > 0)
		parts.message_bytes =
			parts.bytes / fmax(parts.steps, parts.messages);
	parts.are_short = is_short(law, parts.message_bytes);
	parts.carried_bytes = parts.bytes;
	return parts;
}

/* How a step's latency differs from that of an exchange with a new partner. */
static double step_latency(const struct dist__profile *profile,
			   const struct parts *parts,
			   const struct dist__algorithm *algorithm,
			   enum dist__op_kind op)
{
	bool tree = op == DIST__BROADCAST || op == DIST__REDUCE ||
		    op == DIST__SCATTER || op == DIST__GATHER;

	if (library_is_ring(algorithm) && parts->are_short)
		return dist__profile_constant(profile, "ring_latency", 1);
	return tree ? dist__profile_constant(profile, "one_way_latency", 1) : 1;
}

/*
 * Vectors that follow each other down a tree of so many steps whose parents
 * send to all children at once, so that all of them wait for all: of a binomial
 * tree k, k - 1, .. 1; of a binary one two at each step but the last.
 */
static double vectors(enum spelling_tree tree, double steps)
{
	switch (tree) {
	case SPELLING_BINOMIAL:
		return steps * (steps + 1) / 2;
	case SPELLING_BINARY:
		return 2 * steps - 1;
	case SPELLING_SPLIT: /* by halves, which are exchanged at the end */
		return (2 * steps - 1) / 2 + 0.5;
	default:
		return 0;
	}
}

/* Latency of a step in multiples of a short message's, for messages of `bytes`
 * on the average. */
static double mean_latency(const struct message_law *law,
			   const struct dist__algorithm *algorithm, int ranks,
			   double bytes)
{
	double latency = 0, vector;
	int steps = 0;

	if (!library_halves(algorithm))
		return latency_of(law, bytes);
	for (int p = 1; p < ranks; p *= 2)
		steps++;
	vector = bytes * steps / (1 - 1. / ranks);
	for (int i = 0; i < steps; i++)
		latency += latency_of(law, vector /= 2);
	return latency / steps;
}

/* What the messages wait for, whatever their bytes: `latency` is a step's, in
 * multiples of a short message's. */
static double latency_ns(const struct message_law *law,
			 const struct placement *placement,
			 const struct parts *parts, double latency)
{
	double remote = placement->remote_steps;
	double step_ns =
		remote * law->latency_ns + (1 - remote) * law->node_latency_ns;
	double message_ns = law->overhead_ns;

	if (!parts->are_short)
		message_ns += law->announced_ns;
	return parts->steps * latency * step_ns + parts->messages * message_ns;
}

/* A byte's time, of those that stay in a node and those that leave it. */
static double byte_ns(const struct message_law *law,
		      const struct placement *placement, bool are_short)
{
	double least_ns = placement->alongside
				  ? fmax(law->stream_ns, law->node_byte_ns)
				  : law->stream_ns;
	double cards_ns = placement->senders *
			  (are_short ? law->short_ns : law->cards_ns);
	double near_ns = fmax(least_ns, cards_ns);
	double far_ns = fmax(least_ns, placement->card_nodes * cards_ns);
	double near = placement->remote_bytes - placement->shared_bytes;
	double out_ns = placement->shared_bytes * far_ns + near * near_ns;
	double in_ns = (1 - placement->remote_bytes) * law->node_byte_ns;

	return placement->at_once ? fmax(out_ns, in_ns) : out_ns + in_ns;
}

static void add(const struct dist__profile *profile,
		const struct fabric *fabric, const struct message_law *law,
		const struct spelling *spelling, int part,
		const struct library_call *call,
		struct library_estimate *estimate)
{
	const struct dist__algorithm *algorithm = spelling->parts[part];
	struct placement placement =
		library_placement(algorithm, fabric, law->loops);
	struct parts parts = parts_of(algorithm, profile, law, call);
	double bytes = parts.message_bytes;
	double at_once = vectors(spelling->tree, parts.steps);

	if (spelling->segment_bytes > 0)
		parts.messages =
			fmax(parts.messages,
			     parts.bytes / (double)spelling->segment_bytes);
	if (at_once > 0 && !parts.are_short)
		parts.carried_bytes = at_once * bytes;
	estimate->latency_ns +=
		step_latency(profile, &parts, algorithm, call->op) *
		latency_ns(law, &placement, &parts,
			   mean_latency(law, algorithm, call->ranks, bytes));
	estimate->transfer_ns +=
		parts.carried_bytes *
			byte_ns(law, &placement, parts.are_short) +
		parts.reduced_bytes * law->sum_ns + law->vector_ns;
	if (!library_is_ring(algorithm))
		estimate->transfer_ns += law->fresh_ns;
}

/* ---- the models ------------------------------------------------------ */

static enum dist_error refuse_algorithm(const struct dist__profile *profile,
					const struct library_call *call,
					struct dist_message *message)
{
	const struct dist__algorithm *const *all;
	enum dist_error error = dist__refuse(
		message,
		"%s: the model of %s has no algorithm \"%.40s\": expected",
		dist__op_name(call->op), profile->library, call->algorithm);

	for (all = dist__algorithms(); *all; all++)
		if ((*all)->op == call->op)
			(void)dist__append(message->text, sizeof message->text,
					   " %s", (*all)->name);
	return error;
}

/* Names of another way to call, for which it chooses as for any. */
static bool is_forced(const struct library_call *call)
{
	static const char *const open[] = {"default", "non_blocking", "smp"};

	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		if (call->algorithm && strcmp(call->algorithm, open[i]) == 0)
			return false;
	return call->algorithm != NULL;
}

static enum dist_error choose(const struct dist__profile *profile,
			      const struct fabric *fabric,
			      const struct library_call *call,
			      struct spelling *spelling,
			      struct dist_message *message)
{
	const struct dist__layout layout =
		library_layout(profile, fabric, call);

	if (call->protocol)
		return dist__refuse(message,
				    "%s: the model of %s has no protocols",
				    dist__op_name(call->op), profile->library);
	if (!is_forced(call))
		library_spell_ours(
			dist__select(profile, call->op, &layout,
				     call->numel * call->element_bytes),
			spelling);
	else if (!library_spell(call->op, call->algorithm, spelling))
		return refuse_algorithm(profile, call, message);
	if (dist__profile_constant(profile, "at_once", 0) == 0)
		spelling->tree = SPELLING_NO_TREE;
	return DIST_OK;
}

static enum dist_error estimate_messages(const struct dist__profile *profile,
					 const struct fabric *fabric,
					 const struct library_call *call,
					 struct library_estimate *estimate,
					 struct dist_message *message)
{
	const struct message_law law = message_law(profile, fabric, call);
	struct spelling spelling = {.nearest = NULL};

	if (choose(profile, fabric, call, &spelling, message) ||
	    !spelling.nearest)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!isfinite(law.stream_ns))
		return dist__refuse(message,
				    "%s: the rate between nodes is not known",
				    profile->library);
	snprintf(estimate->algorithm, sizeof estimate->algorithm, "%s",
		 is_forced(call) ? call->algorithm : spelling.nearest->name);
	estimate->ours = spelling.nearest;
	estimate->start_ns = law.start_ns;
	for (int i = 0; i < 2 && spelling.parts[i]; i++)
		add(profile, fabric, &law, &spelling, i, call, estimate);
	return DIST_OK;
}

#define MESSAGES(library)                                                      \
	{                                                                      \
		.name = (library), .constants = message_constants,             \
		.fitted = message_fitted, .estimate = estimate_messages        \
	}

const struct library_model library_gloo = MESSAGES("gloo");
const struct library_model library_openmpi = MESSAGES("openmpi");
const struct library_model library_mpich = MESSAGES("mpich");
