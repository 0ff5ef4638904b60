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

/* The index of a message of which the records do not tell how many there were
 * before. */
#define CHECK_INDEX_UNKNOWN UINT32_MAX
/* The last calls kept per rank; fewer where there are more ranks than many, as
 * many as lie in the first page of a slot. */
#define CHECK_RING       32
#define CHECK_RING_SHORT 8
#define CHECK_MANY_RANKS 4096
/* Groups of which a slot remembers how far the rank got. */
#define CHECK_GROUPS 32
/* Kinds of messages of which a slot remembers how many there were. */
#define CHECK_KINDS 64
/* Ranks up to which a slot remembers the parts of an all-to-all. */
#define CHECK_PARTS 64
/* Bytes that fill a slot up to whole pages of 4 KiB. */
#define CHECK_UNUSED 3464
/* Bytes of a label, its end included. */
#define CHECK_LABEL 112

/* Ranks that are named when a rendezvous fails, at most. */
#define CHECK_ABSENT 16

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
	uint32_t number;    /* the rank's calls, counted from 1 */
	uint32_t state;     /* enum check_call_state */
	char op[20];        /* "all_reduce", "recv", ... */
	char dtype[12];     /* "" when the op carries no tensor */
	char reduce_op[12]; /* "" when the op does not reduce */
	char group[24];     /* name of the group */
	uint32_t group_id;  /* 0: the default group */
	uint32_t leader;    /* global rank of the group's rank 0 */
	/* Collectives: 0, 1, ... in this group. Messages: 0, 1, ... of those
	 * with this peer, tag and direction; set by check_issue(). */
	uint32_t index;
	int32_t peer; /* root, src or dst, in the group; -1: none, or any */
	int32_t peer_rank;   /* the same as global rank */
	int32_t source;      /* global rank that a recv from any heard; or -1 */
	int32_t tag;         /* point to point; -1 for collectives */
	int32_t error;       /* enum dist_error once it failed */
	uint32_t generation; /* of the rank's groups; set by check_issue() */
	uint64_t numel; /* of the tensor, or of all ranks' parts together */
	uint64_t terms; /* what else the ranks must agree about: a hash */
	char words[48]; /* the same for a reader, cut short; "" */
	/* What it is for, in the words of the layer that made it: "bucket 2
	 * (fc.bias) of step 7"; "" */
	char label[CHECK_LABEL];
	int64_t timeout_ns; /* that the call may take; 0: not told */
	int64_t issued_ns;
	int64_t ended_ns;
	uint32_t held; /* the rank has a handle of it, and was not told yet
			  that it is complete */
	struct check_site site;
};

/* Memory that was touched while an operation held it. */
enum check_hazard_kind {
	CHECK_HAZARD_NONE,
	CHECK_HAZARD_WRITTEN, /* the program wrote it before the wait */
	CHECK_HAZARD_READ,    /* or read what was still to be written */
	CHECK_HAZARD_SHARED   /* and gave it to another call, one writing it */
};

struct check_hazard {
	uint32_t kind;            /* enum check_hazard_kind */
	uint64_t element;         /* the first that was touched */
	uint64_t numel;           /* of the buffer */
	char buffer[24];          /* of call: "tensor", "in", "out[3]" */
	char given[24];           /* SHARED: of other */
	char function[40];        /* WRITTEN, READ: that did it; "": not seen */
	struct check_site access; /* and where; "" and 0 when not known */
	struct check_call call;   /* whose memory it was */
	/* SHARED: the call that it was given to. Else the same as call, but at
	 * the site where it came out, of which the file may be "". */
	struct check_call other;
};

/* A call that was refused for its arguments, and so never issued. */
struct check_refusal {
	struct check_call call; /* op, group, peer and site; op "": there is
				   none */
	char words[200];        /* why, cut short */
};

enum check_rank_state {
	CHECK_RANK_ABSENT,   /* has not joined */
	CHECK_RANK_RUNNING,  /* in its own code */
	CHECK_RANK_WAITING,  /* blocked in call number `waiting` */
	CHECK_RANK_FINISHED, /* left the group, or its rank program ended */
	CHECK_RANK_LOST,     /* killed or crashed (written by the launcher) */
	CHECK_RANK_UNKNOWN   /* its records are not here (by who looks) */
};

/*
 * A group that a rank is or was in, and how far it got there. Its members are
 * the ranks that say so: those of which (group_id, leader) are the same. Groups
 * of one id share no rank, so within a slot the id alone tells.
 */
struct check_membership {
	uint32_t group_id;
	uint32_t leader;      /* global rank of the group's rank 0 */
	uint32_t collectives; /* number of collectives issued */
	uint32_t left;        /* the rank has destroyed its group */
};

/* What a rank sends and awaits in its last all-to-all, in elements by rank of
 * the group; a number too large for its place is the largest. */
struct check_parts {
	uint32_t number;      /* of the call; 0: not told */
	uint32_t count, rank; /* ranks of the group, and one's own there */
	uint32_t in[CHECK_PARTS], out[CHECK_PARTS];
};

/* What a rank was told when the ranks did not find each other. */
struct check_meeting {
	char words[256]; /* "3 of 4 ranks came; missing: 2"; "": nothing */
	uint32_t count;  /* ranks that it turns on, rising: those missing, */
	uint32_t ranks[CHECK_ABSENT]; /* there twice, or too many */
};

/* Messages of a rank that go one way, and are matched in their order. */
struct check_kind {
	uint32_t group_id;
	int32_t peer; /* global rank; -1: any */
	int32_t tag;
	uint32_t sends; /* else it receives */
	uint32_t count;
};

/*
 * What a rank writes at every call comes first, what few ranks ever write last:
 * pages that nobody wrote take no memory.
 */
struct check_slot {
	uint32_t state;   /* enum check_rank_state */
	uint32_t calls;   /* number of calls so far */
	uint32_t waiting; /* CHECK_RANK_WAITING: number of the call; else 0 */
	uint32_t short_ring; /* calls that the ring holds; 0: CHECK_RING */
	uint32_t groups;
	uint32_t generation; /* how often it left the default group and joined
				again: all its groups are new since */
	uint32_t kinds;
	uint32_t held; /* number of calls held, those that left the ring
			  included */
	struct check_site
		wait_site; /* where it waits, if not where it called */
	struct check_membership memberships[CHECK_GROUPS];
	struct check_call kept; /* one of those held; its number is 0: none */
	/* Call n at (n - 1) % check_ring(). */
	struct check_call ring[CHECK_RING];
	struct check_kind kind[CHECK_KINDS];
	struct check_parts parts;
	struct check_hazard hazard;   /* the rank's first */
	struct check_refusal refusal; /* if it was the rank's last call */
	struct check_meeting meeting; /* the last one, if it failed */
	char host[64];                /* on which the rank runs; "": not told */
	int64_t pid;                  /* of its process there; 0: not told */
	char unused[CHECK_UNUSED];    /* to whole pages */
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

/* check_ring returns how many of its last calls slot keeps. */
static inline uint32_t check_ring(const struct check_slot *slot)
{
	return slot->short_ring ? slot->short_ring : CHECK_RING;
}

/* check_ring_place returns where call number stands in the ring, if it still
 * does. */
static inline uint32_t check_ring_place(const struct check_slot *slot,
					uint32_t number)
{
	return (number - 1) % check_ring(slot);
}

/* check_dropped returns how many of its first calls slot keeps no more. */
static inline uint32_t check_dropped(const struct check_slot *slot)
{
	uint32_t kept = check_ring(slot);

	return slot->calls > kept ? slot->calls - kept : 0;
}

/* check_site_set stores file (NULL: unknown) and line, keeping a long path's
 * end. */
void check_site_set(struct check_site *site, const char *file, int line);

/* check_join notes that the rank is in a group from now on. Where the slot has
 * no room, the rank is not accused of missing anything there. Who joins the
 * default group once more is in no other. */
void check_join(struct check_slot *slot, uint32_t group_id, uint32_t leader);

/* check_leave notes that the rank will not call on the group again; but not of
 * a rank that gives up because a call failed: that is stuck where it stands. */
void check_leave(struct check_slot *slot, uint32_t group_id);

/* check_draft returns where the rank's next call goes in its ring, zeroed, to
 * be filled in; check_issue_draft then numbers that call, counts it as issued,
 * and returns its number. */
struct check_call *check_draft(struct check_slot *slot);
uint32_t check_issue_draft(struct check_slot *slot);

/* check_draft_like is check_draft of a copy of *call, a draft or a call that
 * was just issued. */
struct check_call *check_draft_like(struct check_slot *slot,
				    const struct check_call *call);

/* check_issue does both with a copy of *call. */
uint32_t check_issue(struct check_slot *slot, const struct check_call *call);

/* check_answers returns how many messages of the other direction than call, a
 * message of rank, but of its group and tag, the slot's rank called with rank;
 * CHECK_INDEX_UNKNOWN when the slot cannot tell, or has received some from any
 * source. */
uint32_t check_answers(const struct check_slot *slot, uint32_t rank,
		       const struct check_call *call);

/* check_refuse notes that a call at site on group was refused; words are its
 * name, ": " and the reason. Forgotten with the next call that is issued. */
void check_refuse(struct check_slot *slot, const char *group, const char *words,
		  const struct check_site *site);

/* check_is_refused returns whether the last call of the rank was refused. */
int check_is_refused(const struct check_slot *slot);

/* check_source notes whom call number, a receive from any source, heard, as
 * global rank. */
void check_source(struct check_slot *slot, uint32_t number, int32_t source);

/* check_parts_begin returns where the parts of an all-to-all go that the rank,
 * `rank` of count in the group, makes; NULL: there is no room. */
struct check_parts *check_parts_begin(struct check_slot *slot, int rank,
				      int count);

/* check_part notes that it sends `in` elements to rank i and awaits `out`. */
void check_part(struct check_parts *parts, int i, uint64_t in, uint64_t out);

/* check_parts_end notes, when every part is noted, which call they are of. */
void check_parts_end(struct check_parts *parts, uint32_t number);

/* check_wait notes that the rank blocks in call number until check_resume(). */
void check_wait(struct check_slot *slot, uint32_t number,
		const struct check_site *site);
void check_resume(struct check_slot *slot);

/* check_limit notes that the rank waits for call number so long at most, from
 * now on. */
void check_limit(struct check_slot *slot, uint32_t number, int64_t timeout_ns);

/* check_end notes that call number ended, with an enum dist_error. A call
 * that has left the ring is passed over. */
void check_end(struct check_slot *slot, uint32_t number, int32_t error,
	       int64_t now_ns);

/* check_hold notes that call number, the last one, gave the rank a handle. */
void check_hold(struct check_slot *slot, uint32_t number);

/* check_release notes that the rank gave up the handle of call number, if it
 * holds one. */
void check_release(struct check_slot *slot, uint32_t number);

/* check_tell notes that the rank was told that call number is complete, and so,
 * as collectives of a group run in order, are those before it. */
void check_tell(struct check_slot *slot, uint32_t number);

/* check_touch notes what was done to the memory of call number, and SHARED by
 * call number other, else 0: of *hazard all but the calls is set, but for the
 * site where it came out. The rank's first hazard is kept. */
void check_touch(struct check_slot *slot, const struct check_hazard *hazard,
		 uint32_t number, uint32_t other);

/* check_call_find returns call number, NULL once it has left the ring. */
const struct check_call *check_call_find(const struct check_slot *slot,
					 uint32_t number);

/* check_failed_call returns the call that failed last on a rank: the one it
 * stopped waiting in, or its last one; NULL: it failed by itself, if at all. */
const struct check_call *check_failed_call(const struct check_slot *slot);

/* check_membership_find returns the rank's place in the group, NULL if the slot
 * knows of none. */
const struct check_membership *
check_membership_find(const struct check_slot *slot, uint32_t group_id);

/* check_collectives returns how many collectives of group_id, of that
 * generation, were issued; UINT32_MAX when the slot cannot tell. */
uint32_t check_collectives(const struct check_slot *slot, uint32_t group_id,
			   uint32_t generation);

/* check_same_collective returns whether two ranks' calls are at the same place
 * in the same group, whatever each of them does there. */
int check_same_collective(const struct check_call *a,
			  const struct check_call *b);

#ifdef __cplusplus
}
#endif

#endif
