/* nccl_tables.h - NCCL's own tables, indexed by the enumerations of nccl.h.
 * Rates are 10^9 bytes a second. Private to model/library/. */
#ifndef LOCKSTEP_MODEL_LIBRARY_NCCL_TABLES_H
#define LOCKSTEP_MODEL_LIBRARY_NCCL_TABLES_H

#include "model/library/nccl.h"

/* Latencies of a call, and of each step. 0: no such pair. */
extern const double library_nccl_base_latency_us[NCCL_ALGORITHMS]
						[NCCL_PROTOCOLS];
extern const double library_nccl_hop_latency_us[NCCL_LINKS][NCCL_ALGORITHMS]
					       [NCCL_PROTOCOLS];

/* The maximum of LL on 1, 2, and more nodes. Tables below have the same
 * columns. */
extern const double library_nccl_ll_max_GBps[NCCL_GENERATIONS][3];

/* The maximum of one channel. */
extern const double library_nccl_ring_ll128_channel_GBps[NCCL_GENERATIONS];
extern const double library_nccl_tree_ll128_channel_GBps[NCCL_GENERATIONS][3];
extern const double library_nccl_tree_channel_GBps[NCCL_GENERATIONS][3];
extern const double library_nccl_nvls_tree_channel_GBps[NCCL_GENERATIONS][3];

/* The share of the links' rate that reductions in the switches reach. */
extern const double library_nccl_nvls_share[NCCL_GENERATIONS];

/* PAT: hops between nodes overlap so many at a time, each rank adds a part, and
 * so much of the network's rate is reached (until 2.24 NCCL took more). */
#define NCCL_PAT_OVERLAP   3.5
#define NCCL_PAT_RANK_US   2.8
#define NCCL_PAT_SHARE     0.75
#define NCCL_PAT_SHARE_OLD 0.85

/* The share of a rate in LL128, where 15 of 16 words are data: in a tree of
 * several nodes, and in a ring. */
#define NCCL_TREE_LL128_SHARE (15.0 / 16)
#define NCCL_RING_LL128_SHARE 0.92

/* The share of its rate that a tree reaches, from 64 bytes on by powers of two.
 */
#define NCCL_TREE_CORRECTIONS 24
extern const float library_nccl_tree_correction[NCCL_PROTOCOLS]
					       [NCCL_TREE_CORRECTIONS];

#endif
