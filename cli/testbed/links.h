/*
 * links.h - when a frame is through the links of a test bed: the arithmetic of
 * the switch that is a process.
 *
 * A link passes one frame after the other at its rate, in the order in which
 * they came to it. A frame is on a host's link, on the uplink and the downlink
 * of two leaves if they differ, and on the other host's link; it begins on each
 * as soon as its head is there and the link free (cut-through), so that a frame
 * alone is serialised once. Then comes the delay.
 */
#ifndef LOCKSTEP_CLI_TESTBED_LINKS_H
#define LOCKSTEP_CLI_TESTBED_LINKS_H

#include "cli/testbed/testbed.h"

struct testbed_link {
	double ns_per_byte;
	int64_t free_ns; /* when what it has taken on is through */
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
	int links;       /* that it has been taken on by */
	int64_t head_ns; /* when its head comes to the next one */
	int64_t tail_ns; /* when its end has passed the last one, and the delay
			  * is over once is_through */
	bool is_through; /* there is no further link */
};

/*
 * testbed_links_pass lets the next link of its way take on a frame, whose from,
 * to, bytes and head_ns the caller has set and whose other fields were 0. To be
 * called in the order of head_ns, over all frames: what is to come must not
 * keep the place of what is there. false: it is dropped, because more than
 * backlog_ns of frames wait for that link; the sender's own holds them back.
 */
bool testbed_links_pass(struct testbed_links *links,
			struct testbed_passage *frame, int64_t backlog_ns);

#endif
