#include "scenarios/zoo/zoo.h"

#include <stddef.h>

extern const struct zoo_program zoo_01_swapped;
extern const struct zoo_program zoo_02_other_kind;
extern const struct zoo_program zoo_03_other_count;
extern const struct zoo_program zoo_04_two_broadcasts;
extern const struct zoo_program zoo_05_root;
extern const struct zoo_program zoo_06_other_reduce_op;
extern const struct zoo_program zoo_07_rank_0_only;
extern const struct zoo_program zoo_08_evaluation_on_0;
extern const struct zoo_program zoo_09_save_on_0;
extern const struct zoo_program zoo_10_file_exists;
extern const struct zoo_program zoo_11_value_of_reduce;
extern const struct zoo_program zoo_12_early_stop;
extern const struct zoo_program zoo_13_uneven_batches;
extern const struct zoo_program zoo_13_uneven_ddp;
extern const struct zoo_program zoo_14_validation;
extern const struct zoo_program zoo_15_skipped_batch;
extern const struct zoo_program zoo_16_split_sizes;
extern const struct zoo_program zoo_17_counter_skew;
extern const struct zoo_program zoo_18_no_gradient;
extern const struct zoo_program zoo_19_static_unused;
extern const struct zoo_program zoo_20_parameter_order;
extern const struct zoo_program zoo_20_ready_order;
extern const struct zoo_program zoo_21_no_sync_on_one;
extern const struct zoo_program zoo_21_step_ahead;
extern const struct zoo_program zoo_21_sync_first;
extern const struct zoo_program zoo_21_sync_some;
extern const struct zoo_program zoo_22_static_no_sync;
extern const struct zoo_program zoo_23_module_calls;
extern const struct zoo_program zoo_24_generation_lengths;
extern const struct zoo_program zoo_25_expert_skips;
extern const struct zoo_program zoo_26_members_only;
extern const struct zoo_program zoo_26_non_member;
extern const struct zoo_program zoo_26_other_lists;
extern const struct zoo_program zoo_27_creation_order;
extern const struct zoo_program zoo_28_two_groups;
extern const struct zoo_program zoo_29_two_in_flight;
extern const struct zoo_program zoo_30_message_in_group;
extern const struct zoo_program zoo_31_both_send;
extern const struct zoo_program zoo_32_no_receive;
extern const struct zoo_program zoo_33_other_batches;
extern const struct zoo_program zoo_34_batches_split;
extern const struct zoo_program zoo_35_first_work_only;
extern const struct zoo_program zoo_36_tag_mismatch;
extern const struct zoo_program zoo_37_recv_size;
extern const struct zoo_program zoo_38_any_then_named;
extern const struct zoo_program zoo_39_eager_backward;
extern const struct zoo_program zoo_39_first_come;
extern const struct zoo_program zoo_40_written_before_wait;
extern const struct zoo_program zoo_41_forwarded_before_wait;
extern const struct zoo_program zoo_41_used_before_wait;
extern const struct zoo_program zoo_42_wait_for_another;
extern const struct zoo_program zoo_43_never_waited;
extern const struct zoo_program zoo_44_late_and_stuck;
extern const struct zoo_program zoo_44_slow_rank;
extern const struct zoo_program zoo_45_first_timeout;
extern const struct zoo_program zoo_46_caught_exception;
extern const struct zoo_program zoo_47_rank_exits;
extern const struct zoo_program zoo_48_error_in_init;
extern const struct zoo_program zoo_49_duplicate_rank;
extern const struct zoo_program zoo_49_missing_rank;
extern const struct zoo_program zoo_49_world_too_large;
extern const struct zoo_program zoo_49_world_too_small;
extern const struct zoo_program zoo_50_stale_file;
extern const struct zoo_program zoo_51_port_taken;
extern const struct zoo_program zoo_52_one_device;

const struct zoo_program *const zoo_table[] = {
	&zoo_01_swapped,
	&zoo_02_other_kind,
	&zoo_03_other_count,
	&zoo_04_two_broadcasts,
	&zoo_05_root,
	&zoo_06_other_reduce_op,
	&zoo_07_rank_0_only,
	&zoo_08_evaluation_on_0,
	&zoo_09_save_on_0,
	&zoo_10_file_exists,
	&zoo_11_value_of_reduce,
	&zoo_12_early_stop,
	&zoo_13_uneven_batches,
	&zoo_13_uneven_ddp,
	&zoo_14_validation,
	&zoo_15_skipped_batch,
	&zoo_16_split_sizes,
	&zoo_17_counter_skew,
	&zoo_18_no_gradient,
	&zoo_19_static_unused,
	&zoo_20_parameter_order,
	&zoo_20_ready_order,
	&zoo_21_no_sync_on_one,
	&zoo_21_step_ahead,
	&zoo_21_sync_first,
	&zoo_21_sync_some,
	&zoo_22_static_no_sync,
	&zoo_23_module_calls,
	&zoo_24_generation_lengths,
	&zoo_25_expert_skips,
	&zoo_26_members_only,
	&zoo_26_non_member,
	&zoo_26_other_lists,
	&zoo_27_creation_order,
	&zoo_28_two_groups,
	&zoo_29_two_in_flight,
	&zoo_30_message_in_group,
	&zoo_31_both_send,
	&zoo_32_no_receive,
	&zoo_33_other_batches,
	&zoo_34_batches_split,
	&zoo_35_first_work_only,
	&zoo_36_tag_mismatch,
	&zoo_37_recv_size,
	&zoo_38_any_then_named,
	&zoo_39_eager_backward,
	&zoo_39_first_come,
	&zoo_40_written_before_wait,
	&zoo_41_forwarded_before_wait,
	&zoo_41_used_before_wait,
	&zoo_42_wait_for_another,
	&zoo_43_never_waited,
	&zoo_44_late_and_stuck,
	&zoo_44_slow_rank,
	&zoo_45_first_timeout,
	&zoo_46_caught_exception,
	&zoo_47_rank_exits,
	&zoo_48_error_in_init,
	&zoo_49_duplicate_rank,
	&zoo_49_missing_rank,
	&zoo_49_world_too_large,
	&zoo_49_world_too_small,
	&zoo_50_stale_file,
	&zoo_51_port_taken,
	&zoo_52_one_device,
	NULL,
};
