/* platform.c - the simulated twin of a test bed. */
#include <stdlib.h>

#include "model/cluster/description.h"
#include "cli/testbed/testbed.h"

/* Of the bytes on an Ethernet wire a full TCP segment carries this share: mtu
 * less 52 bytes of IP and TCP headers with timestamps, in a frame of mtu + 14
 * (tc counts neither preamble nor gap). */
static double payload_share(int mtu)
{
	return (double)(mtu - 52) / (mtu + 14);
}

enum dist_error testbed_write_platform(const struct testbed *testbed,
				       const struct testbed_wire *wire,
				       FILE *out, struct dist_message *message)
{
	struct platform_description *d = calloc(1, sizeof *d);
	double share = wire->goodput_Bps > 0
			       ? wire->goodput_Bps / testbed->bandwidth_Bps
			       : payload_share(testbed->mtu);
	enum dist_error error;
	char command[160];

	if (!d)
		return DIST_ERR_NO_MEMORY;
	d->kinds = 1;
	d->queues = wire->queues;
	d->nodes[0] = (struct platform_nodes){
		.count = testbed->hosts,
		.gpus = 1,
		.inter = {.fabric = "tcp", .nics = 1},
	};
	d->nodes[0].inter.nic = (struct platform_wire){
		.bandwidth_Bps = testbed->bandwidth_Bps * share,
		.latency_s = (double)(testbed->delay_ns + wire->latency_ns) *
			     1e-9 / 2,
	};
	if (testbed->slow_factor < 1) {
		snprintf(d->degraded[0].name, sizeof d->degraded[0].name,
			 "node%d.nic0", testbed->slow_host);
		d->degraded[0].factor = testbed->slow_factor;
		d->num_degraded = 1;
	}
	if (testbed->topology != TESTBED_STAR) {
		d->fabric.topology = PLATFORM_LEAF_SPINE;
		d->fabric.shape[0] = testbed_leaves(testbed);
		d->fabric.shape[1] = 1;
		d->fabric.uplink_Bps = testbed_uplink_Bps(testbed) * share;
		d->fabric.hop_s = 1e-9;
	}
	snprintf(command, sizeof command, "lockstep testbed platform --name %s",
		 testbed->name);
	error = platform_write(d, "The simulated twin of a test bed.", command,
			       out, message);
	free(d);
	return error;
}
