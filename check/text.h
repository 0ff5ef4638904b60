/*
 * text.h - lines of a report, and how it writes ranks, calls and groups.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_TEXT_H
#define LOCKSTEP_CHECK_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "check/groups.h"

/* A text of which each line can be had by itself, without what stands before
 * it: all of it lies in text, line i from all[i].start to all[i].end. */
struct check_lines {
	char *text; /* whole once closed */
	size_t size;
	struct check_line {
		size_t start, end;
	} * all;
	size_t num;
	FILE *out; /* of the line that was begun last */
	bool failed;
};

/* check_lines_open begins an empty text; false: no memory. */
bool check_lines_open(struct check_lines *lines);

/* check_line ends the line before, and begins one at that depth of two columns
 * each. Returns where to print it, without its end. */
FILE *check_line(struct check_lines *lines, int depth);

/* check_lines_close ends the last line; false: no memory. */
bool check_lines_close(struct check_lines *lines);
void check_lines_release(struct check_lines *lines);

/* check_print_ranks writes those ranks for which has() is true: "rank 3",
 * "ranks 0,2-5 (5)", a long list cut short. */
void check_print_ranks(FILE *out, uint32_t world_size,
		       bool (*has)(const void *arg, uint32_t rank),
		       const void *arg);

/* check_any_below returns whether has() is true for a rank below rank. */
bool check_any_below(uint32_t rank, bool (*has)(const void *arg, uint32_t rank),
		     const void *arg);

/* check_print_site writes "train.c:88". */
void check_print_site(FILE *out, const struct check_site *site);

/* check_print_place writes where call stands: "model.py:41, from train.py:12".
 */
void check_print_place(FILE *out, const struct check_call *call);

/* check_print_call writes "all_reduce(sum, float32, 1024)", "recv(src 3, tag 0,
 * float32, 1)". Of a group with other numbers, src is its own, as the caller
 * wrote it. */
void check_print_call(FILE *out, const struct check_call *call);

/* check_print_label writes " for bucket 2 (fc.bias) of step 7", of a call that
 * has a label. */
void check_print_label(FILE *out, const struct check_call *call);

/* check_print_call_in_place writes "all_reduce(...) #17 of group default at
 * train.c:88", with the label if there is one. */
void check_print_call_in_place(FILE *out, const struct check_call *call);

/* check_print_calls_in_place writes the same for calls in several groups: "...
 * of their groups at train.c:88". */
void check_print_calls_in_place(FILE *out, const struct check_call *call);

/* check_print_remote writes "rpc_sync(add) on rank 1 at train.c:88", or of a
 * shutdown "rpc_shutdown() at train.c:90"; its link, "rpc_sync (add,
 * train.c:88)". */
void check_print_remote(FILE *out, const struct check_rpc_wait *wait);
void check_print_remote_link(FILE *out, const struct check_rpc_wait *wait);

/* check_print_link writes "all_reduce (group dp, #17, train.c:88)", a call as a
 * place to wait in. call may be NULL: not known any more. */
void check_print_link(FILE *out, const struct check_call *call);

/* check_add_group adds the line that says which ranks the group of call has;
 * none for the default group or one that is not known (NULL). */
void check_add_group(struct check_lines *lines, const struct check_group *group,
		     const struct check_call *call, uint32_t world_size);

#endif
