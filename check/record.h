/*
 * record.h - the record that every rank keeps of its calls, in every world.
 *
 * A board has one slot a rank. A rank writes only its own slot. A slot holds no
 * pointers, so a board can be in memory shared between processes and be read
 * after a rank was killed. The verdict engine (verdict.h) reads boards and
 * nothing else.
 */
#ifndef LOCKSTEP_CHECK_RECORD_H
#define LOCKSTEP_CHECK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "check/remote.h"
#include "lockstep/p2p.h"

/* The index of a message when the number of earlier ones is not recorded. */
#define CHECK_INDEX_UNKNOWN UINT32_MAX
/* The last calls kept per rank; the short ring, for worlds of more than
 * CHECK_MANY_RANKS, is in the first page of a slot. */
#define CHECK_RING       32
#define CHECK_RING_SHORT 7
#define CHECK_MANY_RANKS 4096
/* Groups whose number of collectives a slot counts, and how many of them it
 * counts in its first page. */
#define CHECK_GROUPS      512
#define CHECK_GROUPS_NEAR 32
/* Kinds of messages that a slot counts. */
#define CHECK_KINDS 64
/* Largest group whose all-to-all parts a slot stores. */
#define CHECK_PARTS 64
/* Groups whose last call a slot keeps after it has left the ring. */
#define CHECK_QUIET 8
/* Groups that the rank has left, and whose entry was reused, for which a slot
 * still stores what was called there. */
#define CHECK_PAST 64
/* Calls that ask for a group by number and that a slot keeps: half of them the
 * first ones, half the last ones. */
#define CHECK_MADE 64
/* Refused calls that a slot keeps: the first ones, and the last. */
#define CHECK_REFUSALS 4
/* Tags above those of programs. This one has messages by which the members of a
 * group agree about it; to the program this is one call. */
#define CHECK_TAG_GROUPS (DIST_TAG_MAX + 3)
/* The tag of remote calls that the rank's own thread waits for. op and worker
 * are those of the wait; the label is the function. */
#define CHECK_TAG_RPC (DIST_TAG_MAX + 2)
/* The tag of waits for a key of a store, which any rank may set. op is that of
 * the wait, the label the key, numel the number of processes that use the
 * store, 0 if not known. */
#define CHECK_TAG_STORE (DIST_TAG_MAX + 1)
/* The group of a call that was refused because it is no group of the rank. */
#define CHECK_GROUP_UNKNOWN UINT32_MAX
/* Padding of a slot, and of a board's head, to whole pages of 4 KiB: a rank can
 * map its own slot alone. */
#define CHECK_UNUSED      984
#define CHECK_UNUSED_HEAD 4072
/* Bytes of a label, including the terminating zero. */
#define CHECK_LABEL 112

/* Ranks that are named when a rendezvous fails: at most so many. */
#define CHECK_ABSENT 16

enum check_call_state {
	CHECK_CALL_NONE,
	CHECK_CALL_ISSUED, /* given to the back end, not complete */
	CHECK_CALL_DONE,
	CHECK_CALL_FAILED,
	/* On a stream behind an incomplete call: not begun, and counted neither
	 * in its group nor among messages. */
	CHECK_CALL_QUEUED
};

enum check_handle { CHECK_HELD = 1, CHECK_GIVEN_AWAY = 2 };

/* One call of the public API. Fields that differ between repeated calls come
 * first: a repeated call writes no others. */
/* Of two calls that do the same with parts for all ranks. */
enum check_form {
	CHECK_FORM_ONE,   /* there is no other */
	CHECK_FORM_LIST,  /* a tensor for each rank: all_gather */
	CHECK_FORM_SINGLE /* all in one tensor: all_gather_single */
};

struct check_call {
	uint32_t number; /* the rank's calls, counted from 1 */
	uint32_t state;  /* enum check_call_state */
	/* Collectives: 0, 1, ... in this group. Messages: 0, 1, ... of those
	 * with this peer, tag and direction; set by check_issue(). */
	uint32_t index;
	uint32_t generation; /* of the rank's groups; set by check_issue() */
	int32_t error;       /* enum dist_error once it failed */
	/* CHECK_HELD: the rank has a handle of it, and has not yet seen it
	 * complete. CHECK_GIVEN_AWAY: it freed the handle without having
	 * waited. Else 0. */
	uint32_t held;
	uint32_t group_id; /* 0: the default group */
	int32_t tag;       /* point to point; -1 for collectives */
	uint32_t original; /* number of the call that it is a copy of, or 0 */
	uint32_t form;     /* enum check_form */
	int64_t issued_ns;
	int64_t ended_ns;
	int64_t timeout_ns; /* of the call; 0: unknown */
	char op[20];        /* "all_reduce", "recv", ... */
	char dtype[16];     /* "" when the op carries no tensor */
	char reduce_op[12]; /* "" when the op does not reduce */
	char group[24];     /* name of the group */
	uint32_t leader;    /* global rank of the group's rank 0 */
	int32_t peer; /* root, src or dst, in the group; -1: none, or any */
	int32_t peer_rank; /* the same, as global rank */
	int32_t source;    /* of a recv from any: the sender, or -1 */
	uint64_t numel;    /* of the tensor, or of all ranks' parts together */
	uint64_t terms;    /* hash of what else the ranks must agree on */
	uint64_t fingerprint; /* collectives: all that they must agree on */
	char terms_text[48];  /* terms as text, cut short; "" */
	/* Its purpose, from the layer that made it: "bucket 2 (fc.bias) of step
	 * 7"; "" */
	char label[CHECK_LABEL];
	struct check_site site;
	/* The program's line that led there, from the layer that made the call;
	 * "" and 0: none, or the same */
	struct check_site from;
};

/* Memory that was touched while an operation used it. */
enum check_hazard_kind {
	CHECK_HAZARD_NONE,
	CHECK_HAZARD_WRITTEN, /* the program wrote it before the wait */
	CHECK_HAZARD_READ,    /* or read what the operation had yet to write */
	CHECK_HAZARD_SHARED   /* or gave it to another call; one writes it */
};

struct check_hazard {
	uint32_t kind;            /* enum check_hazard_kind */
	uint64_t element;         /* the first that was touched */
	uint64_t numel;           /* of the buffer */
	char buffer[24];          /* of call: "tensor", "in", "out[3]" */
	char given[24];           /* SHARED: the same of other */
	char function[40];        /* WRITTEN, READ: by whom; "": not seen */
	struct check_site access; /* and where; "" and 0 when not known */
	/* The nearest two of the rank's calls, or waits, between which the
	 * memory changed; "" and 0 when not known. */
	struct check_site after, until;
	struct check_call call; /* that used the memory */
	/* SHARED: the other call that was given it. Else call, but with the
	 * site at which the hazard was found; its file may be "". */
	struct check_call other;
};

/* A call that was refused for its arguments, so that it was never issued. Equal
 * refusals at one line count as one. */
struct check_refusal {
	struct check_call call; /* op, group, error and site */
	char reason[200];       /* cut short */
	uint32_t after;         /* calls issued before the last refusal */
	uint32_t count;         /* number of equal refusals */
};

/* What a rank stored under keys of stores. */
struct check_stored {
	uint32_t count;           /* how often */
	char key[CHECK_RPC_NAME]; /* the last one; cut short */
	struct check_site site;   /* "" and 0 when not known */
};

/* The key that a real rank last asked a store for in vain. */
struct check_polled {
	int64_t since_ns, last_ns; /* on its host's clock; 0: it never did */
	uint32_t calls, stored;    /* of the slot meanwhile */
	char key[CHECK_RPC_NAME];  /* cut short */
	struct check_site site;    /* "" and 0 when not known */
};

/* Where a rank was in the program when it ended or was killed. */
struct check_place {
	struct check_site site; /* file "": not known */
	char function[40];      /* "": not known */
};

enum check_rank_state {
	CHECK_RANK_ABSENT,   /* has not joined */
	CHECK_RANK_RUNNING,  /* in its own code */
	CHECK_RANK_WAITING,  /* blocked in call number `waiting` */
	CHECK_RANK_FINISHED, /* left the group, or its rank program ended */
	CHECK_RANK_LOST,     /* killed or crashed (written by the launcher) */
	CHECK_RANK_UNKNOWN   /* its records are not here (set by the reader) */
};

enum check_leaving { CHECK_STAYS, CHECK_DESTROYED, CHECK_ABORTED };

/*
 * A group that a rank is or was in, and its calls there. The members are the
 * ranks with the same (group_id, leader). Groups with the same id share no
 * rank, so within a slot the id is enough.
 */
struct check_membership {
	uint32_t group_id;
	uint32_t leader;      /* global rank of the group's rank 0 */
	uint32_t collectives; /* number of collectives issued */
	uint32_t left;        /* how the rank left it: enum check_leaving */
	uint32_t trail;       /* hash of their fingerprints, in order */
};

/* A membership whose entry was reused. */
struct check_past {
	struct check_membership was;
	uint32_t generation; /* of the rank's groups then */
	uint32_t failed;     /* of the slot then */
};

/* The elements that a rank sends and awaits in its last all-to-all, by rank of
 * the group; a number that is too large is stored as UINT32_MAX. */
struct check_parts {
	uint32_t number;      /* of the call; 0: unknown */
	uint32_t count, rank; /* of the group; the rank's own there */
	uint32_t in[CHECK_PARTS], out[CHECK_PARTS];
};

/* What a rank learned when its rendezvous failed. */
struct check_rendezvous_failure {
	char text[256]; /* "3 of 4 ranks came; missing: 2"; "": nothing */
	uint32_t count; /* of ranks at fault, ascending: missing, */
	uint32_t ranks[CHECK_ABSENT]; /* present twice, or too many */
};

/* Messages of a rank in one direction, which match in order. */
struct check_kind {
	uint32_t group_id;
	int32_t peer; /* global rank; -1: any */
	int32_t tag;
	uint32_t sends; /* else it receives */
	uint32_t count;
};

/*
 * Fields that every call writes come first, those that few ranks write last:
 * pages that nobody wrote take no memory.
 */
struct check_slot {
	uint32_t state;   /* enum check_rank_state */
	uint32_t calls;   /* number of calls so far */
	uint32_t waiting; /* CHECK_RANK_WAITING: number of the call; else 0 */
	uint32_t short_ring; /* size of the ring; 0: CHECK_RING */
	uint32_t groups;     /* entries of memberships */
	uint32_t generation; /* how often it left the default group and joined
				again; all its groups are new since */
	uint32_t kinds;
	uint32_t held;   /* number of calls held, in the ring or not */
	uint32_t failed; /* since it joined a call failed, or it gave up a group
			  */
	uint32_t pasts;  /* number of memberships ever moved to past */
	/* Number of a failed call that the rank gave up without a wait: it saw
	 * the failure by a completion test. 0: none */
	uint32_t looked_at;
	/* It destroys the default group and waits until all ranks do. */
	uint32_t parting;
	uint32_t damaged; /* set by check_slot_mend(); else 0 */
	uint32_t refused; /* entries of refusals, oldest first */
	struct check_site
		wait_site; /* where it waits, if not where it called */
	struct check_membership memberships[CHECK_GROUPS_NEAR];
	/* Call n at (n - 1) % check_ring(). */
	struct check_call ring[CHECK_RING];
	struct check_call kept; /* held, not in the ring; number 0: none */
	/* The last that it waited for and that was not in the ring; number 0:
	 * none */
	struct check_call recalled;
	/* The last calls of groups that are not in a short ring any more. */
	struct check_call quiet[CHECK_QUIET];
	struct check_past past[CHECK_PAST]; /* number n at n % CHECK_PAST */
	struct check_kind kind[CHECK_KINDS];
	struct check_parts parts;
	struct check_refusal refusals[CHECK_REFUSALS];
	struct check_rendezvous_failure
		rendezvous; /* the last one, if it failed */
	char host[64];      /* of the rank; "": unknown */
	int64_t pid;        /* of its process there; 0: unknown */
	/* Looked at in every rank at the end: one page of both. */
	struct check_hazard hazard; /* the rank's first */
	struct check_remote remote;
	/* Of a rank that a signal ended, or an error of its program. */
	struct check_place crash;
	struct check_stored stored;
	/* Threads of its process that are its library's, MPI or NCCL. */
	uint32_t library_threads;
	/* Number of a failed call whose handle the program freed, and no call
	 * has reported a failure to it. 0: none */
	uint32_t overlooked;
	/* 1 + the first rank that it could not reach any more, though that
	 * had not said goodbye. 0: none */
	uint32_t missed;
	/* A copy of its process, which the program made by fork(), called in
	 * its place; the refusals say where. */
	uint32_t copied;
	struct check_polled polled;
	uint32_t num_made; /* that there ever were */
	/* Calls of members that asked for a group by its number (index), for
	 * that many members (numel). */
	struct check_call made[CHECK_MADE];
	uint32_t more_groups; /* entries of more, once memberships is full */
	struct check_membership more[CHECK_GROUPS - CHECK_GROUPS_NEAR];
	struct check_parts parts_before; /* of the all-to-all before `parts` */
	/* What the system said when a group of the rank's failed; "": nothing
	 */
	char failure[112];
	/* What the error says that ended the rank's program; "": none */
	char raised[96];
	char unused[CHECK_UNUSED]; /* to whole pages */
};

struct check_board {
	uint32_t magic;
	uint32_t version;
	uint32_t world_size;
	uint32_t slot_bytes;
	/* Token of the job, where its ranks are processes that the program
	 * started itself; 0: the launcher started them. */
	uint64_t own_job;
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
 * a world of world_size ranks, safe to judge and to print: in texts, what is
 * not UTF-8 or is a control character becomes '?'. Returns whether the records
 * can be those of a rank, maybe copied while it wrote. If not, they are
 * dropped: the slot becomes CHECK_RANK_UNKNOWN, and damaged.
 */
int check_slot_mend(struct check_slot *slot, uint32_t world_size);

/* What a report says of the rank of a damaged slot, and of one that overlooked
 * a failure. */
#define CHECK_DAMAGE "wrote over its own records"
#define CHECK_OVERLOOKED                                                       \
	"freed the handle of a failed call without having asked"

/* check_damaged returns the first rank >= from whose records were damaged; the
 * world's size if there is none. */
uint32_t check_damaged(const struct check_board *board, uint32_t from);

/* check_ring returns the number of last calls that slot keeps. */
static inline uint32_t check_ring(const struct check_slot *slot)
{
	return slot->short_ring ? slot->short_ring : CHECK_RING;
}

/* check_ring_place returns the index of call number in the ring, if it is still
 * there. */
static inline uint32_t check_ring_place(const struct check_slot *slot,
					uint32_t number)
{
	/* Every call comes here: no division where there need be none. */
	return slot->short_ring ? (number - 1) % slot->short_ring
				: (number - 1) % CHECK_RING;
}

/* check_dropped returns the number of first calls that slot has dropped. */
static inline uint32_t check_dropped(const struct check_slot *slot)
{
	uint32_t kept = check_ring(slot);

	return slot->calls > kept ? slot->calls - kept : 0;
}

/* check_is_message returns whether call is the end of a message, rather than a
 * collective or a wait of another kind. */
static inline int check_is_message(const struct check_call *call)
{
	return call->tag >= 0 && call->tag != CHECK_TAG_RPC &&
	       call->tag != CHECK_TAG_STORE;
}

/* check_is_send returns whether call sends a message. */
int check_is_send(const struct check_call *call);

/* check_same_site returns whether both are the same line. */
int check_same_site(const struct check_site *a, const struct check_site *b);

/* check_same_place returns whether both calls are at the same line, reached
 * from the same line. */
static inline int check_same_place(const struct check_call *a,
				   const struct check_call *b)
{
	return check_same_site(&a->site, &b->site) &&
	       check_same_site(&a->from, &b->from);
}

/* check_site_set stores file (NULL: unknown) and line. Of a path that is too
 * long the end is kept. */
void check_site_set(struct check_site *site, const char *file, int line);

/* check_join records that the rank joins a group. If the slot is full, the rank
 * will not be reported for missing calls there. Joining the default group again
 * ends all other memberships. */
void check_join(struct check_slot *slot, uint32_t group_id, uint32_t leader);

/* check_leave records that the rank will not call on the group again. Ignored
 * after a failed call: the rank counts as stuck in that. */
void check_leave(struct check_slot *slot, uint32_t group_id);

/* check_abort records that the program aborts the group on this rank. Ignored
 * after a failed call. */
void check_abort(struct check_slot *slot, uint32_t group_id);

/* check_give_up records that the rank gave up a group without a failed call.
 */
void check_give_up(struct check_slot *slot);

/* check_draft returns the ring's entry for the rank's next call, zeroed, for
 * the caller to fill in; check_issue_draft then numbers that call, counts it as
 * issued, and returns its number. */
struct check_call *check_draft(struct check_slot *slot);
uint32_t check_issue_draft(struct check_slot *slot);

/* check_recall returns a call, zeroed, for the caller to fill in;
 * check_recalled then makes it call number of the rank, which has left the
 * ring and is not complete. */
struct check_call *check_recall(struct check_slot *slot);
void check_recalled(struct check_slot *slot, uint32_t number);

/* check_draft_like is check_draft with a copy of *call as it was when issued,
 * except the fields that differ between repeated calls. */
struct check_call *check_draft_like(struct check_slot *slot,
				    const struct check_call *call);

/* check_issue does both, with a copy of *call. */
uint32_t check_issue(struct check_slot *slot, const struct check_call *call);

/* check_answers returns the number of messages that the slot's rank called with
 * rank, in the direction opposite to call, a message of rank, and with its
 * group and tag. CHECK_INDEX_UNKNOWN: the slot does not know, or has received
 * some from any source. */
uint32_t check_answers(const struct check_slot *slot, uint32_t rank,
		       const struct check_call *call);

/* check_refuse records a refused call. The caller sets group, error and site of
 * *call; text is the call's name, ": " and the reason. */
void check_refuse(struct check_slot *slot, const struct check_call *call,
		  const char *text);

/* check_last_refusal returns the refusal of the rank's last call; NULL: it was
 * not refused. */
const struct check_refusal *check_last_refusal(const struct check_slot *slot);

/* check_num_made returns the number of calls in slot->made. */
uint32_t check_num_made(const struct check_slot *slot);

/* check_make records a call that asks for a group by its number. The caller
 * sets *call except number, generation, state and the time. */
void check_make(struct check_slot *slot, const struct check_call *call);

/* check_made_like returns the rank's call that asks for the group of the number
 * of like; NULL: there is none, or the slot has not kept it. */
const struct check_call *check_made_like(const struct check_slot *slot,
					 const struct check_call *like);

/* check_source records the sender, a global rank, of the message that call
 * number, a receive from any source, has received. */
void check_source(struct check_slot *slot, uint32_t number, int32_t source);

/* check_parts_begin returns the entry for the parts of an all-to-all of the
 * rank, `rank` of count in the group; NULL: there is no room. */
struct check_parts *check_parts_begin(struct check_slot *slot, int rank,
				      int count);

/* check_part records that it sends `in` elements to rank i and awaits `out`. */
void check_part(struct check_parts *parts, int i, uint64_t in, uint64_t out);

/* check_parts_end records, after all parts, the number of their call. */
void check_parts_end(struct check_parts *parts, uint32_t number);

/* check_wait records that the rank blocks in a call until check_resume(). */
void check_wait(struct check_slot *slot, uint32_t number,
		const struct check_site *site);
void check_resume(struct check_slot *slot);

/*
 * check_await_key records that the rank blocks in op until key of a store is
 * set, and returns the number of that call. timeout_ns is what the call may
 * take; users is the number of processes that use the store, 0 if not known.
 * check_await_key_end records the end of it. The rank counts as in its own
 * code if the key came, or if it chose so short a time that it has plans for
 * the end of it; else as stuck there.
 */
uint32_t check_await_key(struct check_slot *slot, const char *op,
			 const char *key, int64_t timeout_ns, int users,
			 const struct check_site *site);
void check_await_key_end(struct check_slot *slot, uint32_t number,
			 int32_t error);

/* check_store records that the rank stored something under key. */
void check_store(struct check_slot *slot, const char *key,
		 const struct check_site *site);

/* check_poll records that the rank asked for key of a store, which is not
 * there.
 */
void check_poll(struct check_slot *slot, const char *key, int64_t now_ns,
		const struct check_site *site);

/* check_polls returns for how long, in ns, the rank has done nothing but ask
 * for one key; 0: it does something else now. */
int64_t check_polls(const struct check_slot *slot, int64_t now_ns);

/* check_gives_up returns whether the program chose the time that call may take,
 * in a job whose calls may take timeout_ns: it may have plans for when that has
 * passed. */
int check_gives_up(const struct check_call *call, int64_t timeout_ns);

/* check_look records that the rank, which did not wait, saw that call number
 * had failed: from now on it counts as waiting in it. */
void check_look(struct check_slot *slot, uint32_t number);

/* check_limit records that the rank waits for call number at most timeout_ns
 * from now on. */
void check_limit(struct check_slot *slot, uint32_t number, int64_t timeout_ns);

/* check_end records that call number ended with an enum dist_error. Ignored if
 * the call has left the ring. */
void check_end(struct check_slot *slot, uint32_t number, int32_t error,
	       int64_t now_ns);

/* check_hold records that call number, the last one, returned a handle. */
void check_hold(struct check_slot *slot, uint32_t number);

/* check_release records that the rank freed the handle of call number, if it
 * holds one. */
void check_release(struct check_slot *slot, uint32_t number);

/* check_give_away records that the rank freed the handle of call number without
 * having waited for it. */
void check_give_away(struct check_slot *slot, uint32_t number);

/* check_seen records that the rank has seen call number complete. Collectives
 * of a group run in order, so earlier ones count as seen, too. */
void check_seen(struct check_slot *slot, uint32_t number);

/* check_touch records a hazard: what was done to the memory of call number;
 * other is SHARED's other call, else 0. The caller sets *hazard except call and
 * other; of other only the site. The rank's first hazard is kept. */
void check_touch(struct check_slot *slot, const struct check_hazard *hazard,
		 uint32_t number, uint32_t other);

/* check_call_find returns call number, NULL once it has left the ring and is
 * not the one recalled. */
const struct check_call *check_call_find(const struct check_slot *slot,
					 uint32_t number);

/* check_failed_call returns the call that failed last on a rank: the one it
 * waited in, or its last one; NULL: none failed. */
const struct check_call *check_failed_call(const struct check_slot *slot);

/* check_membership_find returns the rank's membership in the group; NULL: the
 * slot has none. */
const struct check_membership *
check_membership_find(const struct check_slot *slot, uint32_t group_id);

/* check_num_memberships returns the number of memberships that slot counts;
 * check_membership_at returns number i of them. */
uint32_t check_num_memberships(const struct check_slot *slot);
const struct check_membership *
check_membership_at(const struct check_slot *slot, uint32_t i);

/* check_set_collectives sets the number of collectives issued on group_id, if
 * the slot counts them. */
void check_set_collectives(struct check_slot *slot, uint32_t group_id,
			   uint32_t collectives);

/* check_collectives returns the number of collectives issued on group_id, of
 * that generation; UINT32_MAX: the slot does not know. */
uint32_t check_collectives(const struct check_slot *slot, uint32_t group_id,
			   uint32_t generation);

/* check_last_collective returns the last collective of group_id, of that
 * generation, that the slot keeps; NULL: it keeps none. */
const struct check_call *check_last_collective(const struct check_slot *slot,
					       uint32_t group_id,
					       uint32_t generation);

/* check_same_collective returns whether two ranks' calls have the same group
 * and index there, whatever the calls do. */
int check_same_collective(const struct check_call *a,
			  const struct check_call *b);

#endif
