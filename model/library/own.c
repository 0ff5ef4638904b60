/* own.c - Lockstep's own algorithms, by their cost formulas. */
#include <stdio.h>

#include "base/refuse.h"
#include "model/library/model.h"

static struct dist__cost cost_on(const struct dist__profile *profile,
				 const struct fabric *fabric)
{
	struct dist__cost cost = {
		.overhead_ns = profile->message_overhead_ns,
		.segment_bytes = (size_t)profile->segment_bytes,
	};
	double intra_beta = 0;

	if (profile->reduce_Bps > 0)
		cost.gamma_ns_per_byte = 1e9 / profile->reduce_Bps;
	if (fabric->intra_Bps > 0)
		intra_beta = 1e9 / fabric->intra_Bps;
	if (fabric->nodes == 1) {
		cost.alpha_ns = fabric->intra_latency_ns;
		cost.beta_ns_per_byte = intra_beta;
		return cost;
	}
	cost.alpha_ns = fabric->inter_latency_ns;
	cost.beta_ns_per_byte = 1e9 / (fabric->cards * fabric->card_Bps);
	cost.node_ranks = fabric->node_ranks;
	cost.node_alpha_ns = fabric->intra_latency_ns;
	cost.node_beta_ns_per_byte = intra_beta;
	return cost;
}

static const struct dist__algorithm *choose(const struct dist__profile *profile,
					    const struct fabric *fabric,
					    const struct library_call *call)
{
	const struct dist__layout layout =
		library_layout(profile, fabric, call);

	if (call->algorithm)
		return dist__algorithm_find(call->op, call->algorithm);
	return dist__select(profile, call->op, &layout,
			    call->numel * call->element_bytes);
}

static enum dist_error estimate_own(const struct dist__profile *profile,
				    const struct fabric *fabric,
				    const struct library_call *call,
				    struct library_estimate *estimate,
				    struct dist_message *message)
{
	const struct dist__cost cost = cost_on(profile, fabric);
	const struct dist__algorithm *ours = choose(profile, fabric, call);

	if (!ours || call->protocol)
		return dist__refuse(
			message,
			"%s: Lockstep's own algorithms have no %s \"%.40s\"",
			dist__op_name(call->op),
			ours ? "protocol" : "algorithm",
			ours ? call->protocol : call->algorithm);
	snprintf(estimate->algorithm, sizeof estimate->algorithm, "%s",
		 ours->name);
	estimate->ours = ours;
	estimate->latency_ns =
		ours->cost_ns(&cost, call->ranks, 0, call->element_bytes);
	estimate->transfer_ns = ours->cost_ns(&cost, call->ranks, call->numel,
					      call->element_bytes) -
				estimate->latency_ns;
	return DIST_OK;
}

static const char *const no_constants[] = {NULL};

const struct library_model library_own = {
	.name = "lockstep",
	.constants = no_constants,
	.has_steps = true,
	.estimate = estimate_own,
};
