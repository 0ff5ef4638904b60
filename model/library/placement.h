/*
 * placement.h - which messages of an algorithm leave a node, when ranks are
 * numbered node by node. Private to model/library/.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_PLACEMENT_H
#define LOCKSTEP_MODEL_LIBRARY_PLACEMENT_H

#include "coll/algorithm.h"
#include "model/library/fabric.h"

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

/* library_placement returns it; loops: messages within a node go by its cards.
 */
struct placement library_placement(const struct dist__algorithm *algorithm,
				   const struct fabric *fabric, bool loops);

/* library_halves returns whether each step sends half or twice as much as the
 * one before. */
bool library_halves(const struct dist__algorithm *algorithm);

/* library_is_ring returns whether all messages of a rank go to the same
 * neighbour. */
bool library_is_ring(const struct dist__algorithm *algorithm);

#endif
