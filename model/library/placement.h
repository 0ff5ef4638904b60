/*
 * placement.h - which of an algorithm's messages leave a node, where ranks are
 * numbered node by node. Private to model/library/.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_PLACEMENT_H
#define LOCKSTEP_MODEL_LIBRARY_PLACEMENT_H

#include "coll/algorithm.h"
#include "model/library/fabric.h"

struct placement {
	double remote_steps; /* share of the steps, 0 to 1 */
	double remote_bytes; /* share of the bytes */
	double shared_bytes; /* those of them that leave the nodes of a card */
	int senders;         /* ranks of a node that send out at once */
	int card_nodes;      /* nodes that do so by the same card */
	bool alongside;      /* others send inside at the same time */
	bool at_once;        /* each rank does both at the same time */
};

/* loops: ranks of a node reach each other by its cards. */
struct placement library_placement(const struct dist__algorithm *algorithm,
				   const struct fabric *fabric, bool loops);

/* library_halves: whether each step has half as much to send as the one before,
 * or twice. */
bool library_halves(const struct dist__algorithm *algorithm);

/* library_is_ring: whether messages go to the same neighbour always. */
bool library_is_ring(const struct dist__algorithm *algorithm);

#endif
