/* nccl_tables.c - figures of NCCL: github.com/NVIDIA/nccl, commit 5067397c2676,
 * src/graph/tuning.cc; also in scenarios/measured/hardware/nccl-tuning.tsv.
 * A hop of trees of switches is that of 2.19 to 2.28.3. */
#include "model/library/nccl_tables.h"

const double library_nccl_base_latency_us[NCCL_ALGORITHMS][NCCL_PROTOCOLS] = {
	[NCCL_RING] = {6.6, 14.0, 8.4}, [NCCL_TREE] = {6.8, 14.0, 8.4},
	[NCCL_NVLS] = {0, 0, 0},        [NCCL_NVLS_TREE] = {0, 0, 0},
	[NCCL_PAT] = {8.0, 8.0, 8.0},
};

const double library_nccl_hop_latency_us
	[NCCL_LINKS][NCCL_ALGORITHMS][NCCL_PROTOCOLS] = {
		[NCCL_NVLINK] = {[NCCL_RING] = {0.6, 1.9, 3.4},
				 [NCCL_TREE] = {0.6, 1.25, 4.0},
				 [NCCL_NVLS] = {0, 0, 25},
				 [NCCL_NVLS_TREE] = {0, 0, 25}},
		[NCCL_PCI] = {[NCCL_RING] = {1.0, 2.5, 5.7},
			      [NCCL_TREE] = {1.0, 1.9, 4.0}},
		[NCCL_NET] = {[NCCL_RING] = {2.7, 4.0, 14.0},
			      [NCCL_TREE] = {5.0, 8.5, 14.0},
			      [NCCL_NVLS] = {0, 0, 18},
			      [NCCL_NVLS_TREE] = {0, 0, 14},
			      [NCCL_PAT] = {0, 0, 14}},
};

/* By nodes: 1, 2, more. */
const double library_nccl_ll_max_GBps[NCCL_GENERATIONS][3] = {
	[NCCL_VOLTA] = {39.0, 39.0, 20.4},
	[NCCL_AMPERE] = {87.7, 22.5, 19.0},
	[NCCL_HOPPER] = {141.0, 45.0, 35.0},
	[NCCL_BLACKWELL] = {282.0, 90.0, 70.0},
};

const double library_nccl_ring_ll128_channel_GBps[NCCL_GENERATIONS] = {
	[NCCL_VOLTA] = 20,
	[NCCL_AMPERE] = 20,
	[NCCL_HOPPER] = 36.7,
	[NCCL_BLACKWELL] = 40,
};

const double library_nccl_tree_ll128_channel_GBps[NCCL_GENERATIONS][3] = {
	[NCCL_VOLTA] = {20, 20, 20},
	[NCCL_AMPERE] = {20, 20, 20},
	[NCCL_HOPPER] = {36.7, 36.7, 29.0},
	[NCCL_BLACKWELL] = {55.6, 31.67, 20.0},
};

const double library_nccl_tree_channel_GBps[NCCL_GENERATIONS][3] = {
	[NCCL_VOLTA] = {26.5, 18.5, 10.0},
	[NCCL_AMPERE] = {24.0, 23.6, 17.8},
	[NCCL_HOPPER] = {38.7, 41.4, 36.0},
	[NCCL_BLACKWELL] = {70.0, 42.8, 24.0},
};

const double library_nccl_nvls_tree_channel_GBps[NCCL_GENERATIONS][3] = {
	[NCCL_HOPPER] = {0, 57.7, 45.5},
	[NCCL_BLACKWELL] = {0, 96.0, 80.0},
};

const double library_nccl_nvls_share[NCCL_GENERATIONS] = {
	[NCCL_HOPPER] = 0.85,
	[NCCL_BLACKWELL] = 0.74,
};

const float
	library_nccl_tree_correction[NCCL_PROTOCOLS][NCCL_TREE_CORRECTIONS] = {
		[NCCL_LL] = {1.0F, 1.0F, 1.0F, 1.0F, 0.9F, 0.8F, 0.7F, 0.7F,
			     0.7F, 0.7F, 0.6F, 0.5F, 0.4F, 0.4F, 0.5F, 0.6F,
			     0.7F, 0.8F, 0.9F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F},
		[NCCL_LL128] = {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 0.9F, 0.8F, 0.8F,
				0.8F, 0.7F, 0.6F, 0.6F, 0.6F, 0.6F, 0.6F, 0.6F,
				0.8F, 0.9F, 0.9F, 0.9F, 0.9F, 1.0F, 1.0F, 1.0F},
		[NCCL_SIMPLE] = {0.9F, 0.9F, 0.9F, 0.9F, 0.9F, 0.9F,
				 0.9F, 0.8F, 0.7F, 0.6F, 0.6F, 0.5F,
				 0.5F, 0.5F, 0.5F, 0.6F, 0.7F, 0.8F,
				 0.7F, 0.7F, 0.8F, 0.9F, 0.9F, 0.9F},
};
