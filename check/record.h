/*
 * record.h - what every rank writes down about its calls, in every world.
 *
 * A board has one slot a rank. A rank writes only its own slot, always; the
 * slot holds no pointers, so a board can lie in memory shared between
 * processes and still be read after its rank was killed. The verdict engine
 * (verdict.h) reads boards and asks nobody else.
 */
#ifndef LOCKSTEP_CHECK_RECORD_H
#define LOCKSTEP_CHECK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The last calls kept per rank. */
#define CHECK_RING 32
/* Groups of which a slot remembers how far the rank got. */
#define CHECK_GROUPS 16

/* Where a call stands in the source; "" and 0 when not known. A path too long
 * keeps its end. */
struct check_site {
	char file[60];
	int32_t line;
};

enum check_call_state {
	CHECK_CALL_NONE,
	CHECK_CALL_ISSUED, /* given to the back end, not complete */
	CHECK_CALL_DONE,
	CHECK_CALL_FAILED
};

/* One call of the public API. */
struct check_call {
	uint32_t number;     /* the rank's calls, counted from 1 */
	uint32_t state;      /* enum check_call_state */
	char op[16];         /* "all_reduce", "recv", ... */
	char dtype[12];      /* "" when the op carries no tensor */
	char reduce_op[12];  /* "" when the op does not reduce */
	char group[16];      /* name of the group */
	uint32_t group_id;   /* 0: the default group */
	uint32_t group_size; /* ranks in the group */
	uint32_t index;      /* collectives: 0, 1, ... in this group */
	int32_t peer;        /* root, src or dst; -1: none */
	int32_t tag;         /* point to point; -1 for collectives */
	int32_t error;       /* enum dist_error once it failed */
	uint64_t numel; /* of the tensor, or of all ranks' parts together */
	int64_t issued_ns;
	int64_t ended_ns;
	struct check_site site;
};

enum check_rank_state {
	CHECK_RANK_ABSENT,   /* has not joined */
	CHECK_RANK_RUNNING,  /* in its own code */
	CHECK_RANK_WAITING,  /* blocked in call number `waiting` */
	CHECK_RANK_FINISHED, /* left the group, or its rank program ended */
	CHECK_RANK_LOST      /* killed or crashed (written by the launcher) */
};

/* How far a rank got in one group. */
struct check_progress {
	uint32_t group_id;
	uint32_t collectives; /* number of collectives issued */
};

struct check_slot {
	uint32_t state;   /* enum check_rank_state */
	uint32_t calls;   /* number of calls so far */
	uint32_t waiting; /* CHECK_RANK_WAITING: number of the call; else 0 */
	uint32_t groups;
	struct check_site
		wait_site; /* where it waits, if not where it called */
	struct check_progress progress[CHECK_GROUPS];
	struct check_call ring[CHECK_RING]; /* call n at (n - 1) % CHECK_RING */
};

struct check_board {
	uint32_t magic;
	uint32_t version;
	uint32_t world_size;
	uint32_t slot_bytes;
	struct check_slot slots[];
};

/* check_board_bytes returns the size of a board for world_size ranks. */
size_t check_board_bytes(uint32_t world_size);

/* check_board_init makes a board of zeroed memory of that size. */
void check_board_init(struct check_board *board, uint32_t world_size);

/* check_board_valid returns whether bytes of memory hold a board of ours. */
int check_board_valid(const struct check_board *board, size_t bytes);

/* check_site_set stores file (NULL: unknown) and line, keeping a long path's
 * end. */
void check_site_set(struct check_site *site, const char *file, int line);

/* check_issue takes a copy of *call into the rank's ring, numbers it, counts
 * it as issued, and returns its number. */
uint32_t check_issue(struct check_slot *slot, const struct check_call *call);

/* check_wait notes that the rank blocks in call number until check_resume(). */
void check_wait(struct check_slot *slot, uint32_t number,
		const struct check_site *site);
void check_resume(struct check_slot *slot);

/* check_end notes that call number ended, with an enum dist_error. A call
 * that has left the ring is passed over. */
void check_end(struct check_slot *slot, uint32_t number, int32_t error,
	       int64_t now_ns);

/* check_call_find returns call number, NULL once it has left the ring. */
const struct check_call *check_call_find(const struct check_slot *slot,
					 uint32_t number);

/* check_collectives returns how many collectives of group_id were issued;
 * UINT32_MAX when the slot has no room to tell. */
uint32_t check_collectives(const struct check_slot *slot, uint32_t group_id);

#ifdef __cplusplus
}
#endif

#endif
