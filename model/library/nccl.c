/* nccl.c - NCCL as a library: the pair that it takes to be the fastest, and the
 * time and the messages of that. */
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "model/library/model.h"
#include "model/library/nccl.h"
#include "base/refuse.h"
#include "base/text.h"

static const char *const algorithm_names[] = {"ring",     "tree", "nvls",
					      "nvlstree", "pat",  NULL};
static const char *const protocol_names[] = {"LL", "LL128", "Simple", NULL};

/* Finds a name, any case: -1 for NULL, which forces nothing. false: there is
 * none of that name. */
static bool find(const char *name, const char *const *names, int *index)
{
	*index = -1;
	if (!name)
		return true;
	for (int i = 0; names[i]; i++)
		if (strcasecmp(names[i], name) == 0)
			*index = i;
	return *index >= 0;
}

/* Messages of their own between two ranks each: no algorithm is chosen. */
static bool is_direct(enum dist__op_kind op)
{
	return op == DIST__ALL_TO_ALL || op == DIST__GATHER ||
	       op == DIST__SCATTER || op == DIST__MONITORED_BARRIER ||
	       op == DIST__SEND;
}

static enum dist_error refuse(const struct library_call *call, const char *what,
			      const char *name, const char *const *names,
			      struct dist_message *message)
{
	enum dist_error error = dist__refuse(
		message, "%s: NCCL has no %s \"%.40s\" here: expected one of",
		dist__op_name(call->op), what, name);

	for (; *names; names++)
		(void)dist__append(message->text, sizeof message->text, " %s",
				   *names);
	return error;
}

/* The least predicted of the pairs that are not ruled out; false: none is. */
static bool choose(const struct nccl_system *system, enum dist__op_kind op,
		   double bytes, int algorithm, int protocol,
		   struct nccl_plan *best)
{
	bool found = false;

	for (int a = 0; a < NCCL_ALGORITHMS; a++)
		for (int p = 0; p < NCCL_PROTOCOLS; p++) {
			double us = library_nccl_tuning_us(
				system, op, (enum nccl_algorithm)a,
				(enum nccl_protocol)p, bytes);

			if (us < 0 || (algorithm >= 0 && a != algorithm) ||
			    (protocol >= 0 && p != protocol) ||
			    (found && us >= best->predicted_us))
				continue;
			*best = (struct nccl_plan){(enum nccl_algorithm)a,
						   (enum nccl_protocol)p, us};
			found = true;
		}
	return found;
}

/* Of those that NCCL has, other ranks or another op could use it. */
static enum dist_error refuse_choice(const struct nccl_system *system,
				     enum dist__op_kind op, double bytes,
				     const char *name,
				     struct dist_message *message)
{
	enum dist_error error = dist__refuse(
		message,
		"%s: NCCL has no algorithm \"%.40s\" for %d of these "
		"ranks: expected one of",
		dist__op_name(op), name, system->ranks);
	struct nccl_plan plan;

	for (int a = 0; a < NCCL_ALGORITHMS; a++)
		if (choose(system, op, bytes, a, -1, &plan))
			(void)dist__append(message->text, sizeof message->text,
					   " %s", algorithm_names[a]);
	return error;
}

/* What each rank puts on the links. */
static void set_messages(const struct nccl_system *system,
			 enum dist__op_kind op, const struct nccl_plan *plan,
			 double bytes, struct library_estimate *estimate)
{
	double nodes = system->nodes, per_node = system->node_ranks;
	double around = bytes * library_nccl_traffic(system, op);
	double between = 2 * (nodes - 1) / nodes * bytes / per_node;

	switch (plan->algorithm) {
	case NCCL_PAT: /* as many bytes, of which some go farther */
	case NCCL_RING:
		estimate->shape = LIBRARY_RING;
		estimate->local_bytes = around;
		if (nodes > 1) {
			estimate->local_bytes *= (per_node - 1) / per_node;
			estimate->remote_bytes = around / per_node;
		}
		break;
	case NCCL_TREE:
		estimate->shape = LIBRARY_TREE;
		estimate->local_bytes = 2 * bytes * (per_node - 1) / per_node;
		estimate->remote_bytes = between;
		break;
	case NCCL_NVLS:
	case NCCL_NVLS_TREE:
		estimate->shape = LIBRARY_SWITCH;
		estimate->local_bytes = bytes * (1 + 1 / per_node);
		estimate->remote_bytes = between;
		break;
	}
}

/* Of NCCL's rates a reach becomes one of the fabric's. */
static void set_reach(const struct fabric *fabric,
		      const struct nccl_system *system,
		      struct library_estimate *estimate)
{
	if (fabric->intra_Bps > 0)
		estimate->local_reach *=
			system->intra_GBps * 1e9 / fabric_way_Bps(fabric);
}

/* GPUs that NVLinks join on a board, at most; more are a rack's. */
#define BOARD_RANKS 16

/* Messages go by the rails since NCCL 2.12 (its release notes: PXN). */
#define PXN_MINOR 12

/* Each rank and every other one at once: no choice but that of their order. */
static void estimate_direct(const struct dist__profile *profile,
			    const struct fabric *fabric,
			    const struct nccl_system *system,
			    const struct nccl_constants *constants,
			    const struct library_call *call, double bytes,
			    struct library_estimate *estimate)
{
	const struct dist__layout layout =
		library_layout(profile, fabric, call);

	snprintf(estimate->algorithm, sizeof estimate->algorithm, "p2p");
	estimate->shape = LIBRARY_P2P;
	estimate->by_rails =
		system->nodes > 1 && system->intra == NCCL_NVLINK &&
		system->node_ranks > 1 && constants->minor >= PXN_MINOR;
	estimate->ours =
		dist__select(profile, call->op, &layout, (size_t)bytes);
	snprintf(estimate->protocol, sizeof estimate->protocol, "%s",
		 protocol_names[library_nccl_direct_time(
			 system, constants, call->op, bytes, estimate)]);
	set_reach(fabric, system, estimate);
}

/* An idle GPU waits until PyTorch has called: where each call is timed by
 * itself, that is in its time. Else it passes while others run. */
static void wait_for_torch(const struct library_call *call,
			   const struct nccl_constants *constants,
			   struct library_estimate *estimate)
{
	if (call->by_torch)
		estimate->start_ns += 1e3 * constants->torch_us;
}

/* Channels share what a kernel is told since NCCL 2.22 (its release notes). */
#define SHARED_WORK_MINOR 22

/* One thread launches the kernels of all GPUs of a process, call after call:
 * short ones end before the thread comes to their GPU again. */
static void wait_for_launches(const struct library_call *call,
			      const struct nccl_constants *constants,
			      double channels,
			      struct library_estimate *estimate)
{
	double more = constants->minor < SHARED_WORK_MINOR ? channels - 1 : 0;
	double launches_ns =
		1e3 * call->process_ranks *
		(constants->process_us + constants->process_channel_us * more);

	if (call->process_ranks > 1)
		estimate->start_ns = fmax(estimate->start_ns,
					  launches_ns - estimate->latency_ns -
						  estimate->transfer_ns);
}

static enum dist_error estimate_nccl(const struct dist__profile *profile,
				     const struct fabric *fabric,
				     const struct library_call *call,
				     struct library_estimate *estimate,
				     struct dist_message *message)
{
	const struct nccl_constants constants =
		library_nccl_constants_of(profile, fabric);
	const struct nccl_system system =
		library_nccl_system_of(fabric, call->ranks, &constants);
	double bytes = (double)call->numel * (double)call->element_bytes;
	int algorithm, protocol;
	struct nccl_plan plan;
	const char *forced =
		call->algorithm ? call->algorithm : profile->forced[call->op];

	if (!find(forced, algorithm_names, &algorithm))
		return refuse(call, "algorithm", forced, algorithm_names,
			      message);
	if (!find(call->protocol, protocol_names, &protocol))
		return refuse(call, "protocol", call->protocol, protocol_names,
			      message);
	estimate->channels = system.channels;
	if (forced && forced != call->algorithm && is_direct(call->op))
		return dist__refuse(message,
				    "%s: NCCL has no algorithms of it to "
				    "choose from, not \"%.40s\"",
				    dist__op_name(call->op), forced);
	if (call->op == DIST__ALL_TO_ALL && system.nodes > 1 &&
	    system.intra == NCCL_NVLINK && system.node_ranks > BOARD_RANKS)
		return dist__refuse(
			message,
			"all_to_all by NCCL is not modelled between NVLink "
			"domains of %d GPUs: two racks of 72 took four times "
			"as long as their links need, why is not known",
			system.node_ranks);
	if (is_direct(call->op) || call->ranks == 1) {
		estimate_direct(profile, fabric, &system, &constants, call,
				bytes, estimate);
		wait_for_launches(call, &constants, system.channels, estimate);
		wait_for_torch(call, &constants, estimate);
		return DIST_OK;
	}
	/* Where what a log forced cannot be, NCCL took a ring. */
	if (!choose(&system, call->op, bytes, algorithm, protocol, &plan) &&
	    (forced != call->algorithm ||
	     !choose(&system, call->op, bytes, NCCL_RING, -1, &plan)))
		return refuse_choice(&system, call->op, bytes, forced, message);
	snprintf(estimate->algorithm, sizeof estimate->algorithm, "%s",
		 algorithm_names[plan.algorithm]);
	snprintf(estimate->protocol, sizeof estimate->protocol, "%s",
		 protocol_names[plan.protocol]);
	library_nccl_time(&system, &constants, call->op, &plan, bytes,
			  estimate);
	wait_for_launches(call, &constants,
			  library_nccl_busy_channels(&system, &plan, bytes),
			  estimate);
	wait_for_torch(call, &constants, estimate);
	set_messages(&system, call->op, &plan, bytes, estimate);
	set_reach(fabric, &system, estimate);
	return DIST_OK;
}

const struct library_model library_nccl = {
	.name = "nccl",
	.constants = library_nccl_constant_names,
	.algorithms = algorithm_names,
	.has_own_hops = true,
	.is_of_gpus = true,
	.has_transfers = true,
	.has_exchanges = true,
	.freedoms = library_nccl_freedoms,
	.fitted = library_nccl_fitted,
	.estimate = estimate_nccl,
};
