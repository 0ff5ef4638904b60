/* case.h - one case of the table, the properties of its call, and the values
 * that go in and must come out. Private to conformance/. */
#ifndef LOCKSTEP_CONFORMANCE_CASE_H
#define LOCKSTEP_CONFORMANCE_CASE_H

#include "tests/conformance/cases/conformance.h"
#include "lockstep/dist.h"

/* How the tensors of a call lie. */
enum form {
	WHOLE,         /* one tensor, the same length everywhere */
	SINGLE,        /* a part for each rank, in one tensor */
	IN_PLACE,      /* the same; the rank's own part is the other side */
	LIST,          /* a part for each rank, a tensor each */
	LIST_IN_PLACE, /* the same; the rank's own is the other side */
	UNEVEN,        /* in one tensor, of unequal lengths, some of them 0 */
	UNEVEN_LIST,   /* the same as a list */
	COALESCED,     /* three tensors in one call */
	MULTIGPU,      /* two devices a rank, a tensor each */
	FORMS
};

struct one_case {
	enum conformance_call call;
	enum form form;
	enum dist_dtype dtype;
	enum dist_reduce_op op;
	size_t numel; /* of a part; about so many where they are unequal */
	int root;     /* -1: the call has none */
	bool async;
	bool exact;     /* integers; else fractions, and only bytes compared */
	uint32_t index; /* in the setup */
	const struct case_values *values; /* that it takes its own from */
};

static inline bool case_is_list(const struct one_case *c)
{
	return c->form == LIST || c->form == LIST_IN_PLACE ||
	       c->form == UNEVEN_LIST;
}

static inline bool case_is_in_place(const struct one_case *c)
{
	return c->form == IN_PLACE || c->form == LIST_IN_PLACE;
}

static inline bool case_is_uneven(const struct one_case *c)
{
	return c->form == UNEVEN || c->form == UNEVEN_LIST;
}

/* Walking a setup: a rank's place and what it makes of the case at hand. */
struct walk {
	const struct conformance_setup *setup;
	struct conformance_outcome *outcome;
	struct dist_group *group;
	int rank, size; /* in the group */
	int seat;       /* global rank */
	uint32_t first; /* place of the first case in the outcome */
	const struct one_case *c;
	enum dist_reduce_op op; /* c's; of PREMUL_SUM the group's own: */
	enum dist_reduce_op premul_sum;
	bool wrong;
	uint64_t digest;
};

/* What there is to know about a call. */
struct call {
	const char *name;
	bool reduces;
	bool rooted;
	bool has_handle; /* may be blocking or not */
	bool has_tensor;
	bool has_peer; /* takes two ranks */
	uint32_t forms;
	size_t large; /* elements; prime, so that no chunk is even */

	/* Makes the call on this rank and checks what comes of it. Returns the
	 * call's error. */
	enum dist_error (*perform)(struct walk *w, const struct one_case *c);
};

/* By enum conformance_call. */
extern const struct call conformance_calls[];

/* case_words describes c in words. */
void case_words(const struct one_case *c, char *text, size_t size);

/* case_is_legal returns whether dist.h calls the pair of dtype and op legal. */
bool case_is_legal(const struct one_case *c);

/* case_has_fractions returns whether dtype is of floats, or pairs of them. */
bool case_has_fractions(enum dist_dtype dtype);

/* case_is_supported returns whether backend can do c, a legal case. NCCL
 * combines no bits. */
bool case_is_supported(const struct one_case *c, const char *backend);

/* each_case calls visit for every case of setup in order, until it returns
 * other than 0, and returns that. */
int each_case(const struct conformance_setup *setup,
	      int (*visit)(void *arg, const struct one_case *c), void *arg);

/* ---- values ----------------------------------------------------------- */

/* case_values_new makes the elements that cases of all types take theirs from;
 * to be freed with free(). NULL: no memory. */
struct case_values *case_values_new(void);

/*
 * case_value returns element i of what rank src has for dst (0 where all get
 * the same). Exact ones, as 16 ranks of 2 devices combine them, stay whole
 * numbers that every float type holds: sums below 256, products 128; int8 and
 * uint8 wrap.
 */
double case_value(const struct one_case *c, int src, int dst, size_t i);

/* case_fill stores case_value() of its elements in t, of c's type. */
void case_fill(const struct one_case *c, struct dist_tensor t, int src,
	       int dst);

/* case_holds returns whether t has the bytes that case_fill would store. */
bool case_holds(const struct one_case *c, struct dist_tensor t, int src,
		int dst);

/* The factor of every PREMUL_SUM, which is exact with exact values. */
#define FACTOR 0.5

/* case_contributors returns how many tensors of world_size ranks a reduction
 * combines. */
int case_contributors(const struct one_case *c, int world_size);

/* case_reduced stores in want what contributors have for dst, combined. Exact
 * values only. */
void case_reduced(const struct one_case *c, int dst, int contributors,
		  struct dist_tensor want);

/* ---- tensors of the case at hand -------------------------------------- */

/* tensor_new returns a tensor of c's dtype with memory of its own; to be freed
 * by its data. Ends the process when there is no memory. */
struct dist_tensor tensor_new(const struct one_case *c, size_t numel);

/* walk_fail notes what is wrong with the case, the first time in words. */
void walk_fail(struct walk *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* walk_moved holds t against what src has for dst, walk_reduced against what
 * all ranks have for dst, combined; both take its bytes into the digest. */
void walk_moved(struct walk *w, struct dist_tensor t, int src, int dst);
void walk_reduced(struct walk *w, struct dist_tensor t, int dst);

/* walk_finish waits for work, if there is one, and frees it. Returns error, or
 * else how the work ended. */
enum dist_error walk_finish(enum dist_error error, struct dist_work *work);

/* walk_end writes down how the case went on this rank. */
void walk_end(const struct walk *w);

/* ---- the calls, by file ------------------------------------------------ */

enum dist_error perform_tensor(struct walk *w, const struct one_case *c);
enum dist_error perform_all_pairs(struct walk *w, const struct one_case *c);
enum dist_error perform_neighbours(struct walk *w, const struct one_case *c);
enum dist_error perform_batch(struct walk *w, const struct one_case *c);
enum dist_error perform_tags(struct walk *w, const struct one_case *c);
enum dist_error perform_in_order(struct walk *w, const struct one_case *c);
enum dist_error perform_any_source(struct walk *w, const struct one_case *c);
enum dist_error perform_parts(struct walk *w, const struct one_case *c);
enum dist_error perform_coalesced(struct walk *w, const struct one_case *c);
enum dist_error perform_devices(struct walk *w, const struct one_case *c);

#endif
