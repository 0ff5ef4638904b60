/*
 * nccl_constants.c - what a profile says of NCCL beyond NCCL's own tables.
 *
 * The values here are those of scenarios/profiles/nccl.yaml. Those of the
 * shapes (from spread on) were fitted once to all tables of nccl-tests in
 * scenarios/measured/collectives/ together.
 */
#include <string.h>

#include "model/library/nccl.h"

/* Of a hop over a network, more than the InfiniBand of NCCL's tables, where no
 * machine's own rows say it: by sockets, and by plugins that are not NVIDIA's.
 * Fits come to 18 and 23 on two machines with EFA, and by TCP to 18, 30 and 36
 * on three; what one machine alone has is in its file. */
static const struct {
	const char *transport;
	double us;
} transports[] = {
	{"efa", 20},  {"slingshot", 20}, {"tcpxo", 20},
	{"tcpx", 20}, {"tcp", 20},
};

static double transport_us(const struct fabric *fabric)
{
	const char *transport = fabric->transport;
	size_t kind = strcspn(transport, "-"); /* "tcp-10gbe" is tcp */

	for (size_t i = 0; i < sizeof transports / sizeof transports[0]; i++)
		if (strlen(transports[i].transport) == kind &&
		    strncmp(transport, transports[i].transport, kind) == 0)
			return transports[i].us;
	return 0;
}

const char *const library_nccl_constant_names[] = {
	"minor",        "launch_us",    "net_us",    "intra_share",
	"net_share",    "spread",       "turn",      "ll128_step",
	"ring_step",    "channel_step", "tree_fill", "nvls_fill",
	"tree_ll_step", "socket_GBps",  "ampere_ll", "ampere_ll128",
	NULL,
};

#define USUAL_LAUNCH_US   21.6
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
		CONSTANT(net_us, transport_us(fabric)),
		CONSTANT(intra_share, USUAL_INTRA_SHARE),
		CONSTANT(net_share, USUAL_NET_SHARE),
		CONSTANT(socket_GBps, 5),
		CONSTANT(spread, 0),
		CONSTANT(turn, 0.65),
		CONSTANT(ll128_step, 1.35),
		CONSTANT(ring_step, 1.4),
		CONSTANT(channel_step, 0.028),
		CONSTANT(tree_fill, 17),
		CONSTANT(nvls_fill, 1.9),
		CONSTANT(tree_ll_step, 0.86),
		CONSTANT(ampere_ll, 0.55),
		CONSTANT(ampere_ll128, 0.92),
	};
#undef CONSTANT

	return constants;
}
