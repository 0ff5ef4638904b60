/* fabrics.h - members of struct fabric, a line for nodes and one for what is
 * between them. */
#ifndef LOCKSTEP_TESTS_SUPPORT_FABRICS_H
#define LOCKSTEP_TESTS_SUPPORT_FABRICS_H

#include "model/library/fabric.h"

/* So many nodes of so many GPUs of a kind, and how they are joined. */
#define GPUS(num, ranks, kind, joined, Bps)                                    \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses): a text */               \
	.gpu = kind, .nodes = (num), .node_ranks = (ranks), .intra = (joined), \
	.intra_Bps = (Bps)

/* The cards of each node. */
#define CARDS(kind, num, Bps)                                                  \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses): a text */               \
	.transport = kind, .cards = (num), .card_Bps = (Bps)

#endif
