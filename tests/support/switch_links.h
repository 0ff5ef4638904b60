/*
 * switch_links.h - the time at which a frame has passed the links of a test
 * bed: the arithmetic of tests/cli/switch.c.
 *
 * A link passes one frame after the other at its rate, in the order of their
 * arrival. A frame passes the host's link, the uplink and the downlink of the
 * two leaves if these differ, and the other host's link. It begins on each when
 * its head is there and the link is free (cut-through), so that a single frame
 * is serialised only once. The delay is added at the end.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_SWITCH_LINKS_H
#define LOCKSTEP_TESTS_SUPPORT_SWITCH_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_HOSTS 64 /* most */

struct test_bed {
	int hosts;
	double host_Bps; /* of a host's link, each way */
	int slow_host;   /* the host whose link has slow_factor of it */
	double slow_factor;
	int64_t delay_ns;  /* from any host to any other */
	int leaf_hosts;    /* under a leaf, fewer under the last; 0: a star */
	double uplink_Bps; /* of a leaf */
};

struct switch_link {
	double ns_per_byte;
	int64_t free_ns; /* when it has passed all its frames */
};

struct switch_links {
	const struct test_bed *bed;
	struct switch_link up[SWITCH_HOSTS], down[SWITCH_HOSTS];
	struct switch_link leaf_up[SWITCH_HOSTS], leaf_down[SWITCH_HOSTS];
};

void switch_links_init(struct switch_links *links, const struct test_bed *bed);

/* A frame on its way. */
struct switch_passage {
	int from, to; /* hosts */
	size_t bytes;
	int links;       /* links that have accepted it */
	int64_t head_ns; /* when its head arrives at the next link */
	int64_t tail_ns; /* when its end has passed the last link; with the
			    delay, once is_through */
	bool is_through; /* it has passed all links */
};

/*
 * switch_links_pass passes a frame to its next link. At first the caller sets
 * from, to, bytes and head_ns, and 0 for the other fields. Call it in the order
 * of head_ns over all frames, because a link serves them in the order of calls.
 * Returns false if the frame is dropped: more than backlog_ns of frames wait
 * for that link (the sender's own link never drops).
 */
bool switch_links_pass(struct switch_links *links, struct switch_passage *frame,
		       int64_t backlog_ns);

#endif
