/*
 * nccl_constants.c - what a profile says of NCCL beyond NCCL's own tables.
 *
 * The values here are for profiles that do not state them, as
 * scenarios/profiles/nccl.yaml does.
 */
#include <math.h>
#include <string.h>

#include "model/library/nccl.h"

/* Constants of a hop over a network, more than the InfiniBand of NCCL's
 * tables, where no machine's own rows say it. */
static const struct {
	const char *transport;
	const char *constant;
	double us;
} transports[] = {
	{"ib", "rdma_us", 1},    {"roce", "rdma_us", 1},
	{"rdma", "rdma_us", 1},  {"opa", "rdma_us", 1},
	{"efa", "efa_us", 15},   {"slingshot", "slingshot_us", 20},
	{"tcpx", "tcpx_us", 15}, {"tcpxo", "tcpx_us", 15},
	{"tcp", "tcp_us", 15},
};

/* Slingshot's cards announce what is above their threshold, and the receiver
 * fetches it; what is below they send like others (FI_CXI_RDZV_THRESHOLD, 16
 * KiB, of libfabric's cxi provider). */
static double eager_us(const struct dist__profile *profile,
		       const struct fabric *fabric, double net_us)
{
	if (!transport_is(fabric->transport, "slingshot"))
		return net_us;
	return fmin(net_us, dist__profile_constant(profile, "rdma_us", 1));
}

static double transport_us(const struct dist__profile *profile,
			   const struct fabric *fabric)
{
	for (size_t i = 0; i < sizeof transports / sizeof transports[0]; i++)
		if (transport_is(fabric->transport, transports[i].transport))
			return dist__profile_constant(profile,
						      transports[i].constant,
						      transports[i].us);
	return 0;
}

const char *const library_nccl_constant_names[] = {
	"minor",        "launch_us",          "net_us",
	"intra_share",  "net_share",          "spread",
	"turn",         "ll128_step",         "ring_step",
	"channel_step", "tree_fill",          "nvls_fill",
	"tree_ll_step", "socket_GBps",        "ampere_ll",
	"ampere_ll128", "hopper_step",        "process_us",
	"nvls_share",   "bounce_share",       "rdma_us",
	"efa_us",       "slingshot_us",       "tcpx_us",
	"tcp_us",       "process_channel_us", "torch_us",
	NULL,
};

/* Starts are round figures: a launch of one of NCCL's kernels and what it does
 * before a ring in LL sends (longer where the program takes longer, which is
 * the machine's), CUDA's launches, what links and cards reach beside
 * headers, what a processor copies twice for sockets, hops of plugins; of
 * sockets one message of 20 us
 * (scenarios/measured/hardware/osu-latency-hkbu.tsv) and what NCCL says before
 * it; of PyTorch what 8 B200 of one node take longer than NCCL alone, up to 2
 * MiB, in github.com/stas00/ml-engineering, network/README.md. */
const struct library_constant library_nccl_fitted[] = {
	{"launch_us", 12, 0.25, 2, 200, 0.5},
	{"process_us", 4, 0.3, 2, 20, 0.2},
	{"process_channel_us", 0.1, 1, 0, 2, 0.3},
	{"torch_us", 25, 0.5, 0, 100, 0.3},
	{"intra_share", 0.95, 0.1, 0.2, 1.25, 0.1},
	{"net_share", 0.9, 0.1, 0.2, 1.1, 0.1},
	{"socket_GBps", 4, 0.5, 0.5, 20, 0.3},
	{"bounce_share", 0.5, 0.2, 0.2, 1, 0},
	{"nvls_share", 1, 0.2, 0.5, 1.5, 0},
	{"turn", 0.5, 0.5, 0, 3, 0},
	{"hopper_step", 0.9, 0.3, 0.3, 2, 0},
	{"ll128_step", 1.2, 0.3, 0.8, 3, 0},
	{"tree_ll_step", 1, 0.3, 0.3, 3, 0},
	{"ring_step", 1.4, 0.3, 1, 3, 0},
	{"channel_step", 0.02, 1, 0, 0.2, 0},
	{"ampere_ll", 0.7, 0.3, 0.2, 1, 0},
	{"ampere_ll128", 0.9, 0.3, 0.2, 1, 0},
	{"tree_fill", 10, 1, 0, 100, 0},
	{"nvls_fill", 2, 1, 0, 20, 0},
	{"rdma_us", 1, 0.7, 0, 30, 1.2},
	{"efa_us", 15, 0.7, 1, 100, 0.2},
	{"slingshot_us", 20, 0.7, 1, 100, 0.5},
	{"tcpx_us", 15, 0.7, 1, 100, 0.2},
	{"tcp_us", 25, 0.5, 1, 100, 0.4},
	{.name = NULL},
};

#define USUAL_LAUNCH_US   21.6
#define USUAL_PROCESS_US  4.4
#define USUAL_TORCH_US    25
#define USUAL_INTRA_SHARE 1
#define USUAL_NET_SHARE   0.95

/*
 * A start of a kernel takes some 2 us at least; a call or a hop of 200 us would
 * be something else than these. NCCL takes links inside a node for 0.8 of what
 * they have (nccl_system.c), so that 1.25 of that is all. Cards carry no more
 * than they have, of which NCCL's tables of trees take some away for
 * themselves.
 */
const struct library_freedom library_nccl_freedoms[] = {
	{"launch_us", USUAL_LAUNCH_US, NULL, 2, 200, false},
	{"net_us", 0, transport_us, 0, 200, false},
	{"net_share", USUAL_NET_SHARE, NULL, 0.02, 1.1, true},
	{"intra_share", USUAL_INTRA_SHARE, NULL, 0.02, 1.25, true},
	{"process_us", USUAL_PROCESS_US, NULL, 2, 20, false},
	{.constant = NULL},
};

struct nccl_constants
library_nccl_constants_of(const struct dist__profile *profile,
			  const struct fabric *fabric)
{
#define CONSTANT(name, usual)                                                  \
	.name = dist__profile_constant(profile, #name, usual)
	struct nccl_constants constants = {
		CONSTANT(minor, 27),
		CONSTANT(launch_us, USUAL_LAUNCH_US),
		CONSTANT(process_us, USUAL_PROCESS_US),
		CONSTANT(process_channel_us, 0.15),
		CONSTANT(torch_us, USUAL_TORCH_US),
		CONSTANT(net_us, transport_us(profile, fabric)),
		CONSTANT(intra_share, USUAL_INTRA_SHARE),
		CONSTANT(net_share, USUAL_NET_SHARE),
		CONSTANT(socket_GBps, 5),
		CONSTANT(spread, 0),
		CONSTANT(turn, 0.65),
		CONSTANT(hopper_step, 0.9),
		CONSTANT(ll128_step, 1.35),
		CONSTANT(ring_step, 1.4),
		CONSTANT(channel_step, 0.028),
		CONSTANT(tree_fill, 17),
		CONSTANT(nvls_share, 1),
		CONSTANT(bounce_share, 0.5),
		CONSTANT(nvls_fill, 1.9),
		CONSTANT(tree_ll_step, 0.86),
		CONSTANT(ampere_ll, 0.55),
		CONSTANT(ampere_ll128, 0.92),
	};
#undef CONSTANT

	constants.eager_us = eager_us(profile, fabric, constants.net_us);
	return constants;
}
