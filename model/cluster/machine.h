/*
 * machine.h - machines that others measured (model/measured/machine.h) as nodes
 * of a cluster, and as what a model of a library asks for.
 *
 * What a machine's description does not know of rates stays 0 in a node, and is
 * guessed in a fabric. Latencies are
 * those of description.h, and half a microsecond less at each end where
 * processors, not GPUs, send.
 */
#ifndef LOCKSTEP_MODEL_CLUSTER_MACHINE_H
#define LOCKSTEP_MODEL_CLUSTER_MACHINE_H

#include "model/library/fabric.h"
#include "model/measured/machine.h"
#include "model/cluster/description.h"

/*
 * platform_of_machine describes a node of machine on which `gpus` ranks run (0:
 * one a GPU, or one where there are none), reached by the network of that
 * transport (NULL: the first). Ranks that are fewer than the GPUs have the
 * cards of theirs alone. node's count stays; it borrows the machine's
 * calibrations. Errors: INVALID_ARGUMENT (message:
 * no such network, or more ranks than GPUs).
 */
DIST_MUST_CHECK enum dist_error
platform_of_machine(const struct machine *machine, const char *transport,
		    int gpus, struct platform_nodes *node,
		    struct dist_message *message);

/* platform_guess_rates puts some rate where a node's is not known, which only
 * what was calibrated makes up for: as machine_fabric. */
void platform_guess_rates(struct platform_nodes *node);

/* machine_network_choose stores in *network the one of that transport; of NULL
 * the first, or NULL where there is none. Errors: INVALID_ARGUMENT (message: no
 * such network, and those that there are). */
DIST_MUST_CHECK enum dist_error
machine_network_choose(const struct machine *machine, const char *transport,
		       const struct machine_network **network,
		       struct dist_message *message);

/*
 * machine_fabric answers what joins nodes x node_ranks ranks on that machine:
 * the same as a platform written of it does. On one node transport does not
 * matter. fabric borrows the machine's calibrations. Errors: as
 * platform_of_machine.
 */
DIST_MUST_CHECK enum dist_error machine_fabric(const struct machine *machine,
					       const char *transport, int nodes,
					       int node_ranks,
					       struct fabric *fabric,
					       struct dist_message *message);

#endif
