/*
 * text.h - lines of a report; how ranks, calls and groups are written.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_TEXT_H
#define LOCKSTEP_CHECK_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "check/groups.h"

/* A text whose lines can be used one by one, without their indentation: line i
 * is text from all[i].start to all[i].end. */
struct check_lines {
	char *text; /* complete once closed */
	size_t size;
	struct check_line {
		size_t start, end;
	} * all;
	size_t num;
	FILE *out; /* of the current line */
	bool failed;
};

/* check_lines_open begins an empty text; false: no memory. */
bool check_lines_open(struct check_lines *lines);

/* check_line ends the line before and begins one, indented by depth times two
 * columns. Returns where to print it, without a newline. */
FILE *check_line(struct check_lines *lines, int depth);

/* check_lines_close ends the last line; false: no memory. */
bool check_lines_close(struct check_lines *lines);
void check_lines_release(struct check_lines *lines);

/* check_print_ranks writes the ranks for which has() is true: "rank 3", "ranks
 * 0,2-5 (5)"; a long list is cut short. */
void check_print_ranks(FILE *out, uint32_t world_size,
		       bool (*has)(const void *arg, uint32_t rank),
		       const void *arg);

/* check_any_below returns whether has() is true for a rank below rank. */
bool check_any_below(uint32_t rank, bool (*has)(const void *arg, uint32_t rank),
		     const void *arg);

/* check_print_site writes "train.c:88". */
void check_print_site(FILE *out, const struct check_site *site);

/* check_print_place writes the line of call: "model.py:41, from train.py:12".
 */
void check_print_place(FILE *out, const struct check_call *call);

/* check_print_call writes "all_reduce(sum, float32, 1024)", "recv(src 3, tag 0,
 * float32, 1)". In a subgroup src is the group's rank, as the caller wrote
 * it. */
void check_print_call(FILE *out, const struct check_call *call);

/* check_print_label writes " for bucket 2 (fc.bias) of step 7" if call has a
 * label. */
void check_print_label(FILE *out, const struct check_call *call);

/* check_print_call_in_place writes "all_reduce(...) #17 of group default at
 * train.c:88", and the label if there is one. */
void check_print_call_in_place(FILE *out, const struct check_call *call);

/* check_print_calls_in_place writes the same for calls in several groups: "...
 * of their groups at train.c:88". */
void check_print_calls_in_place(FILE *out, const struct check_call *call);

/* check_print_remote writes "rpc_sync(add) on rank 1 at train.c:88", for a
 * shutdown "rpc_shutdown() at train.c:90". check_print_remote_link writes
 * "rpc_sync (add, train.c:88)". */
void check_print_remote(FILE *out, const struct check_rpc_wait *wait);
void check_print_remote_link(FILE *out, const struct check_rpc_wait *wait);

/* check_print_link writes "all_reduce (group dp, #17, train.c:88)", a call in a
 * chain of waits. call may be NULL: not in the records any more. */
void check_print_link(FILE *out, const struct check_call *call);

/* check_add_group adds a line with the members of the group of call; no line
 * for the default group or an unknown one (NULL). */
void check_add_group(struct check_lines *lines, const struct check_group *group,
		     const struct check_call *call, uint32_t world_size);

#endif
