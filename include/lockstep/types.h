/*
 * types.h - errors, element types, tensors and the other types of dist.h, which
 * includes this.
 */
#ifndef LOCKSTEP_TYPES_H
#define LOCKSTEP_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DIST_MUST_CHECK __attribute__((warn_unused_result))
#else
#define DIST_MUST_CHECK
#endif

/* One member of a job, as one rank sees it. Opaque. */
struct dist_group;
/* One operation in flight. Opaque. */
struct dist_work;
/* A key-value store that ranks share; see store.h. Opaque. */
struct dist_store;

enum dist_error {
	DIST_OK = 0,
	DIST_ERR_INVALID_ARGUMENT = -1, /* argument outside its legal range */
	DIST_ERR_UNSUPPORTED = -2,      /* legal, but not in this world */
	DIST_ERR_UNAVAILABLE = -3, /* back end not present on this machine */
	DIST_ERR_NO_MEMORY = -4,   /* allocation failed */
	DIST_ERR_TIMEOUT = -5,     /* not complete at its deadline */
	DIST_ERR_MISMATCH = -6,    /* ranks disagree about one operation */
	DIST_ERR_DEADLOCK = -7,    /* simulation: no rank can ever move */
	DIST_ERR_PEER_LOST = -8,   /* a rank died, or left too early */
	DIST_ERR_ABORTED = -9,     /* the group failed earlier */
	DIST_ERR_RENDEZVOUS = -10, /* the ranks did not find each other */
	DIST_ERR_IO = -11,         /* the system below refused */
	DIST_ERR_HAZARD = -12, /* memory touched while an operation held it */
	DIST_ERR_REMOTE = -13  /* rpc.h: the function failed on its worker */
};

/* What an element is: floats, integers, bool, complex numbers. All in the
 * machine's byte order, aligned as C aligns them. */
enum dist_dtype {
	DIST_FLOAT16,  /* IEEE 754 binary16: 11 bits of precision */
	DIST_BFLOAT16, /* the upper half of a float32: 8 bits */
	DIST_FLOAT32,
	DIST_FLOAT64,
	DIST_INT8,
	DIST_UINT8,
	DIST_INT32,
	DIST_INT64,
	DIST_BOOL, /* one byte, 0 or 1 */
	DIST_INT16,
	DIST_UINT16,
	DIST_UINT32,
	DIST_UINT64,
	DIST_FLOAT8_E4M3FN, /* one byte, as torch's; moved, never combined */
	DIST_FLOAT8_E5M2,   /* likewise */
	DIST_COMPLEX64,     /* two float32: the real part, the imaginary */
	DIST_COMPLEX128     /* two float64, likewise */
};

/* How many there are, for tables by dtype. */
#define DIST_NUM_DTYPES (DIST_COMPLEX128 + 1)

/*
 * How elements of different ranks combine, and on which dtypes:
 *
 * SUM		all. Integers wrap around. Of bool: or. Of complex numbers: the
 *		sum of either part.
 * AVG		all but bool: the sum, divided by the world size. Integers are
 *		truncated towards zero, as NCCL's; the sum may have wrapped.
 * PRODUCT	all but complex. Integers wrap around. Of bool: and.
 * MIN, MAX	all but complex. Of a NaN: that NaN. Of bool: and, or.
 * BAND, BOR, BXOR
 *		integers, bit by bit; bool, as a truth value.
 *
 * PREMUL_SUM	floats and complex: the sum of what each rank has times a (real)
 *		factor of its own. The factor belongs to an operation that
 *		dist_make_premul_sum() makes; DIST_PREMUL_SUM itself has none
 *		and is refused.
 *
 * "All" excludes the float8 types, which have no op. Any other pair is
 * DIST_ERR_INVALID_ARGUMENT, with the legal dtypes in the group's message;
 * nothing is sent and the group stays usable. NCCL has no BAND, BOR and BXOR,
 * and no int16 and uint16: over NCCL these are DIST_ERR_UNSUPPORTED, likewise.
 *
 * float16 and bfloat16 combine in float32, and every step rounds back to the
 * nearest, ties to even: the rounding of a long sum adds up. AVG divides that
 * sum in float32 and rounds once. A NaN result of SUM, PRODUCT or AVG is always
 * 0x7e00 (float16) or 0x7fc0 (bfloat16).
 *
 * Bools are truth values (gloo takes them as uint8): any byte but 0 is true,
 * and results are 0 or 1. Over NCCL inputs must be 0 or 1.
 *
 * The order of combining depends only on the algorithm, the world size, the
 * root and numel. So all ranks of an all-reduce hold the same bytes, in every
 * run, simulated and over TCP. Another algorithm, or NCCL, may round floats
 * differently.
 */
enum dist_reduce_op {
	DIST_SUM,
	DIST_AVG,
	DIST_PRODUCT,
	DIST_MIN,
	DIST_MAX,
	DIST_BAND,
	DIST_BOR,
	DIST_BXOR,
	DIST_PREMUL_SUM,
	DIST_REDUCE_OP_LAST = INT32_MAX /* room for those of a group */
};

/* How many there are, for tables by op. */
#define DIST_NUM_REDUCE_OPS (DIST_PREMUL_SUM + 1)

/*
 * A view of numel elements at data; passed by value, owns nothing. In
 * simulation data may be NULL: a phantom, which has a size but no contents.
 * Then every rank of the operation passes a phantom. Real worlds return
 * DIST_ERR_UNSUPPORTED. A tensor of numel 0 is legal anywhere, whatever data
 * is.
 */
struct dist_tensor {
	void *data;
	size_t numel;
	enum dist_dtype dtype;
};

/* A sentence about a failure, filled in by the calls that take one. */
struct dist_message {
	char text[512];
};

/* Exit status of a job, as dist_launch() and the lockstep command give it. */
enum dist_exit {
	DIST_EXIT_OK = 0,
	DIST_EXIT_FAILED = 1,     /* a rank, a comparison or output failed */
	DIST_EXIT_USAGE = 2,      /* bad input */
	DIST_EXIT_INTERNAL = 3,   /* a defect of ours */
	DIST_EXIT_MISMATCH = 10,  /* ranks disagree about an operation */
	DIST_EXIT_DEADLOCK = 11,  /* no rank can ever move */
	DIST_EXIT_TIMEOUT = 12,   /* an operation missed its deadline */
	DIST_EXIT_RANK_LOST = 13, /* a rank was killed or crashed */
	DIST_EXIT_HAZARD = 14,    /* a buffer was touched before the wait */
	DIST_EXIT_RACE = 15,      /* the order of messages decides the result */
	DIST_EXIT_BUFFERING = 16, /* deadlock, unless sends are buffered */
	DIST_EXIT_LEFT = 17,      /* a message or a handle was left behind */
	DIST_EXIT_RENDEZVOUS = 18, /* the ranks did not find each other */
	DIST_EXIT_INVALID = 19,    /* a call was refused, and the job failed */
	DIST_EXIT_SKIPPED = 77 /* the world asked for is not on this machine */
};

/* The deadline of the group applies. */
#define DIST_TIMEOUT_OF_GROUP ((int64_t)0)
/* No deadline at all. */
#define DIST_TIMEOUT_NEVER INT64_MAX
/* What torch gives a process group: 30 minutes, with NCCL 10. */
#define DIST_TIMEOUT_DEFAULT      ((int64_t)1800 * 1000000000)
#define DIST_TIMEOUT_DEFAULT_NCCL ((int64_t)600 * 1000000000)

#ifdef __cplusplus
}
#endif

#endif
