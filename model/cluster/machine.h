/*
 * machine.h - turns measured machines (model/measured/machine.h) into nodes of
 * a cluster, and into fabrics for models of libraries.
 *
 * Unknown rates of a machine are 0 in a node, and guessed in a fabric.
 * Latencies are those of description.h, and half a microsecond less at each end
 * where processors send instead of GPUs.
 */
#ifndef LOCKSTEP_MODEL_CLUSTER_MACHINE_H
#define LOCKSTEP_MODEL_CLUSTER_MACHINE_H

#include "model/library/fabric.h"
#include "model/measured/machine.h"
#include "model/cluster/description.h"

/*
 * platform_of_machine describes a node of machine with `gpus` ranks (0: one a
 * GPU, or one without GPUs) on the network of that transport (NULL: the first).
 * With fewer ranks than GPUs, only the cards of the used GPUs count. node's
 * count does not change; it borrows the machine's calibrations. Errors:
 * INVALID_ARGUMENT (message: no such network, or more ranks than GPUs).
 */
DIST_MUST_CHECK enum dist_error
platform_of_machine(const struct machine *machine, const char *transport,
		    int gpus, struct platform_nodes *node,
		    struct dist_message *message);

/* platform_guess_rates replaces unknown rates of a node by guesses, as
 * machine_fabric does. Only calibrated constants make such a node usable. */
void platform_guess_rates(struct platform_nodes *node);

/* machine_network_choose stores in *network the network of transport; for NULL
 * the first one, or NULL if there is none. Errors: INVALID_ARGUMENT (message:
 * no such network, and the known ones). */
DIST_MUST_CHECK enum dist_error
machine_network_choose(const struct machine *machine, const char *transport,
		       const struct machine_network **network,
		       struct dist_message *message);

/*
 * machine_fabric stores the fabric of nodes x node_ranks ranks on machine, the
 * same as that of a platform made from it. On one node transport is not used.
 * fabric borrows the machine's calibrations. Errors: as platform_of_machine.
 */
DIST_MUST_CHECK enum dist_error machine_fabric(const struct machine *machine,
					       const char *transport, int nodes,
					       int node_ranks,
					       struct fabric *fabric,
					       struct dist_message *message);

#endif
