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

#include "check/remote.h"

/* The index of a message of which it is not recorded how many there were
 * before. */
#define CHECK_INDEX_UNKNOWN UINT32_MAX
/* The last calls kept per rank; fewer where there are more ranks than many, as
 * many as lie in the first page of a slot. */
#define CHECK_RING       32
#define CHECK_RING_SHORT 7
#define CHECK_MANY_RANKS 4096
/* Groups of which a slot remembers how far the rank got. */
#define CHECK_GROUPS 32
/* Kinds of messages of which a slot remembers how many there were. */
#define CHECK_KINDS 64
/* Ranks up to which a slot remembers the parts of an all-to-all. */
#define CHECK_PARTS 64
/* Groups of which a slot keeps the last call once that has left the ring. */
#define CHECK_QUIET 8
/* Groups that the rank left and whose place another took, of which a slot
 * remembers how much was called there. */
#define CHECK_PAST 64
/* Refused calls that a slot keeps apart: its first, and its last. */
#define CHECK_REFUSALS 4
/* The tag of the messages by which the members of a group agree about it: the
 * program sees one call. */
#define CHECK_TAG_GROUPS INT32_MAX
/* The tag of remote calls that the rank's own thread waits for, by the wait's
 * op and worker, with the function as label. */
#define CHECK_TAG_RPC (INT32_MAX - 1)
/* The group of a call that was refused because that is none of the rank's. */
#define CHECK_GROUP_UNKNOWN UINT32_MAX
/* Bytes that fill a slot, and a board's head, up to whole pages of 4 KiB: a
 * rank can map its own slot alone. */
#define CHECK_UNUSED      880
#define CHECK_UNUSED_HEAD 4080
/* Bytes of a label, its end included. */
#define CHECK_LABEL 112

/* Ranks that are named when a rendezvous fails, at most. */
#define CHECK_ABSENT 16

enum check_call_state {
	CHECK_CALL_NONE,
	CHECK_CALL_ISSUED, /* given to the back end, not complete */
	CHECK_CALL_DONE,
	CHECK_CALL_FAILED,
	/* On a stream behind a call that is not complete: not begun, and not
	 * counted in its group, or among messages. */
	CHECK_CALL_QUEUED
};

enum check_handle { CHECK_HELD = 1, CHECK_GIVEN_AWAY = 2 };

/* One call of the public API. What each has for itself comes first, for calls
 * that are repeated write no more. */
struct check_call {
	uint32_t number; /* the rank's calls, counted from 1 */
	uint32_t state;  /* enum check_call_state */
	/* Collectives: 0, 1, ... in this group. Messages: 0, 1, ... of those
	 * with this peer, tag and direction; set by check_issue(). */
	uint32_t index;
	uint32_t generation; /* of the rank's groups; set by check_issue() */
	int32_t error;       /* enum dist_error once it failed */
	/* CHECK_HELD: the rank has a handle of it, and has not yet seen it
	 * complete. CHECK_GIVEN_AWAY: nor will it, for it gave the handle away
	 * without having waited. Else 0. */
	uint32_t held;
	uint32_t group_id; /* 0: the default group */
	int32_t tag;       /* point to point; -1 for collectives */
	uint32_t original; /* number of the call that it was a copy of, or 0 */
	int64_t issued_ns;
	int64_t ended_ns;
	int64_t timeout_ns; /* that the call may take; 0: unknown */
	char op[20];        /* "all_reduce", "recv", ... */
	char dtype[16];     /* "" when the op carries no tensor */
	char reduce_op[12]; /* "" when the op does not reduce */
	char group[24];     /* name of the group */
	uint32_t leader;    /* global rank of the group's rank 0 */
	int32_t peer; /* root, src or dst, in the group; -1: none, or any */
	int32_t peer_rank; /* the same as global rank */
	int32_t source;    /* global rank that a recv from any heard; or -1 */
	uint64_t numel;    /* of the tensor, or of all ranks' parts together */
	uint64_t terms;    /* what else the ranks must agree about: a hash */
	uint64_t fingerprint; /* collectives: all that they must agree about */
	char terms_text[48];  /* the same for a reader, cut short; "" */
	/* What it is for, as the layer that made it says: "bucket 2 (fc.bias)
	 * of step 7"; "" */
	char label[CHECK_LABEL];
	struct check_site site;
	/* The line of the program that led there, where the layer that made the
	 * call says; "" and 0: none, or the same */
	struct check_site from;
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
	/* The nearest two of the rank's calls, or its wait, between which the
	 * memory changed; "" and 0 when not known. */
	struct check_site after, until;
	struct check_call call; /* whose memory it was */
	/* SHARED: the call that it was given to. Else the same as call, but at
	 * the site where it came out, of which the file may be "". */
	struct check_call other;
};

/* A call that was refused for its arguments, and so never issued; the same at
 * one line counts as one. */
struct check_refusal {
	struct check_call call; /* op, group, error and site */
	char reason[200];       /* cut short */
	uint32_t after;         /* calls that the rank had issued, the last time
				   that it was refused, */
	uint32_t count;         /* of so many */
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
 * of one id share no rank, so within a slot the id is enough.
 */
struct check_membership {
	uint32_t group_id;
	uint32_t leader;      /* global rank of the group's rank 0 */
	uint32_t collectives; /* number of collectives issued */
	uint32_t left;        /* the rank has destroyed its group */
	uint32_t trail;       /* a hash of their fingerprints, in their order */
};

/* A membership of which the place was needed. */
struct check_past {
	struct check_membership was;
	uint32_t generation; /* of the rank's groups then */
	uint32_t failed;     /* as of its slot */
};

/* What a rank sends and awaits in its last all-to-all, in elements by rank of
 * the group; a number too large for its place is the largest. */
struct check_parts {
	uint32_t number;      /* of the call; 0: unknown */
	uint32_t count, rank; /* ranks of the group, and one's own there */
	uint32_t in[CHECK_PARTS], out[CHECK_PARTS];
};

/* What a rank learned when the ranks did not find each other. */
struct check_rendezvous_failure {
	char text[256]; /* "3 of 4 ranks came; missing: 2"; "": nothing */
	uint32_t count; /* ranks that it turns on, rising: those missing, */
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
	uint32_t held;   /* number of calls held, those that left the ring
			    included */
	uint32_t failed; /* a call failed since it joined, or it gave up a group
			  */
	uint32_t pasts;  /* number of memberships in past, ever */
	struct check_site
		wait_site; /* where it waits, if not where it called */
	struct check_membership memberships[CHECK_GROUPS];
	/* Call n at (n - 1) % check_ring(). */
	struct check_call ring[CHECK_RING];
	struct check_call kept; /* one of those held; its number is 0: none */
	/* The last calls of groups, without those in a short ring. */
	struct check_call quiet[CHECK_QUIET];
	struct check_past past[CHECK_PAST]; /* number n at n % CHECK_PAST */
	struct check_kind kind[CHECK_KINDS];
	struct check_parts parts;
	struct check_hazard hazard; /* the rank's first */
	uint32_t refused;           /* refusals that follow, by age */
	struct check_refusal refusals[CHECK_REFUSALS];
	struct check_rendezvous_failure
		rendezvous; /* the last one, if it failed */
	char host[64];      /* on which the rank runs; "": unknown */
	int64_t pid;        /* of its process there; 0: unknown */
	uint32_t damaged;   /* set by check_slot_mend(); else 0 */
	/* Number of the call that the rank gave up without waiting in it: it
	 * found that it had failed when it looked. 0: none */
	uint32_t looked_at;
	/* It destroys the default group, and waits until all ranks do. */
	uint32_t parting;
	struct check_remote remote;
	char unused[CHECK_UNUSED]; /* to whole pages */
};

struct check_board {
	uint32_t magic;
	uint32_t version;
	uint32_t world_size;
	uint32_t slot_bytes;
	char unused[CHECK_UNUSED_HEAD];
	struct check_slot slots[];
};

/* check_board_bytes returns the size of a board for world_size ranks. */
size_t check_board_bytes(uint32_t world_size);

/* check_board_init makes a board of zeroed memory of that size. */
void check_board_init(struct check_board *board, uint32_t world_size);

/* check_board_valid returns whether bytes of memory hold a board of ours. */
int check_board_valid(const struct check_board *board, size_t bytes);

/*
 * check_slot_mend makes *slot, a private copy of what another process wrote in
 * a world of world_size ranks, safe to judge and to print: what text has that
 * is no UTF-8, or a control character, becomes '?'. Returns whether the records
 * can be those of a rank, also of one that was writing when they were copied.
 * If not, they are dropped: the slot is that of a rank of which nothing is
 * known (CHECK_RANK_UNKNOWN), but that it is damaged.
 */
int check_slot_mend(struct check_slot *slot, uint32_t world_size);

/* What the rank of a damaged slot did. */
#define CHECK_DAMAGE "wrote over its own records"

/* check_damaged returns the first rank, not below from, of which the records
 * were damaged; the world's size if there is none. */
uint32_t check_damaged(const struct check_board *board, uint32_t from);

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
	/* Every call comes here: no division where there need be none. */
	return slot->short_ring ? (number - 1) % slot->short_ring
				: (number - 1) % CHECK_RING;
}

/* check_dropped returns how many of its first calls slot keeps no more. */
static inline uint32_t check_dropped(const struct check_slot *slot)
{
	uint32_t kept = check_ring(slot);

	return slot->calls > kept ? slot->calls - kept : 0;
}

/* check_is_send returns whether call is a message that is sent. */
int check_is_send(const struct check_call *call);

/* check_same_site returns whether both stand at the same line. */
int check_same_site(const struct check_site *a, const struct check_site *b);

/* check_same_place returns whether both calls do, and were led there from the
 * same. */
static inline int check_same_place(const struct check_call *a,
				   const struct check_call *b)
{
	return check_same_site(&a->site, &b->site) &&
	       check_same_site(&a->from, &b->from);
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

/* check_give_up notes that the rank gave up a group, without a call that
 * failed. */
void check_give_up(struct check_slot *slot);

/* check_draft returns where the rank's next call goes in its ring, zeroed, to
 * be filled in; check_issue_draft then numbers that call, counts it as issued,
 * and returns its number. */
struct check_call *check_draft(struct check_slot *slot);
uint32_t check_issue_draft(struct check_slot *slot);

/* check_draft_like is check_draft of a copy of *call, as that was when it had
 * just been issued, but for what each call has for itself. */
struct check_call *check_draft_like(struct check_slot *slot,
				    const struct check_call *call);

/* check_issue does both with a copy of *call. */
uint32_t check_issue(struct check_slot *slot, const struct check_call *call);

/* check_answers returns how many messages of the other direction than call, a
 * message of rank, but of its group and tag, the slot's rank called with rank;
 * CHECK_INDEX_UNKNOWN when the slot does not know, or has received some from
 * any source. */
uint32_t check_answers(const struct check_slot *slot, uint32_t rank,
		       const struct check_call *call);

/* check_refuse notes that a call was refused, of which *call has group, error
 * and site; text is its name, ": " and the reason. */
void check_refuse(struct check_slot *slot, const struct check_call *call,
		  const char *text);

/* check_last_refusal returns the refusal of the last call of the rank; NULL: it
 * was not refused. */
const struct check_refusal *check_last_refusal(const struct check_slot *slot);

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

/* check_look notes that the rank, which did not wait, found that call number
 * had failed: from now on it counts as waiting in it. */
void check_look(struct check_slot *slot, uint32_t number);

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

/* check_give_away notes that the rank gave away the handle of call number
 * without having waited for it. */
void check_give_away(struct check_slot *slot, uint32_t number);

/* check_seen notes that the rank has seen call number complete, and so,
 * as collectives of a group run in order, are those before it. */
void check_seen(struct check_slot *slot, uint32_t number);

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
 * generation, were issued; UINT32_MAX when the slot does not know. */
uint32_t check_collectives(const struct check_slot *slot, uint32_t group_id,
			   uint32_t generation);

/* check_last_collective returns the last collective of group_id, of that
 * generation, that the slot keeps; NULL: it keeps none. */
const struct check_call *check_last_collective(const struct check_slot *slot,
					       uint32_t group_id,
					       uint32_t generation);

/* check_same_collective returns whether two ranks' calls are at the same place
 * in the same group, whatever each of them does there. */
int check_same_collective(const struct check_call *a,
			  const struct check_call *b);

#endif
