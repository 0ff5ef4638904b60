/*
 * links.h - the time at which a frame has passed the links of a test bed: the
 * arithmetic of the switch process.
 *
 * A link passes one frame after the other at its rate, in the order of their
 * arrival. A frame passes the host's link, the uplink and the downlink of the
 * two leaves if these differ, and the other host's link. It begins on each when
 * its head is there and the link is free (cut-through), so that a single frame
 * is serialised only once. The delay is added at the end.
 */
#ifndef LOCKSTEP_CLI_TESTBED_LINKS_H
#define LOCKSTEP_CLI_TESTBED_LINKS_H

#include "cli/testbed/testbed.h"

struct testbed_link {
	double ns_per_byte;
	int64_t free_ns; /* when it has passed all its frames */
};

struct testbed_links {
	const struct testbed *testbed;
	struct testbed_link up[TESTBED_HOSTS], down[TESTBED_HOSTS];
	struct testbed_link leaf_up[TESTBED_HOSTS], leaf_down[TESTBED_HOSTS];
};

void testbed_links_init(struct testbed_links *links,
			const struct testbed *testbed);

/* A frame on its way. */
struct testbed_passage {
	int from, to; /* hosts */
	size_t bytes;
	int links;       /* links that have accepted it */
	int64_t head_ns; /* when its head arrives at the next link */
	int64_t tail_ns; /* when its end has passed the last link; with the
			    delay, once is_through */
	bool is_through; /* it has passed all links */
};

/*
 * testbed_links_pass passes a frame to its next link. At first the caller sets
 * from, to, bytes and head_ns, and 0 for the other fields. Call it in the order
 * of head_ns over all frames, because a link serves them in the order of calls.
 * Returns false if the frame is dropped: more than backlog_ns of frames wait
 * for that link (the sender's own link never drops).
 */
bool testbed_links_pass(struct testbed_links *links,
			struct testbed_passage *frame, int64_t backlog_ns);

#endif
