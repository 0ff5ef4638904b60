#include "cli/testbed/links.h"

void testbed_links_init(struct testbed_links *links,
			const struct testbed *testbed)
{
	struct testbed_link leaf = {.ns_per_byte =
					    1e9 / testbed->bandwidth_Bps};

	if (testbed->topology != TESTBED_STAR)
		leaf.ns_per_byte = 1e9 / testbed_uplink_Bps(testbed);
	links->testbed = testbed;
	for (int i = 0; i < TESTBED_HOSTS; i++) {
		links->up[i] = links->down[i] = (struct testbed_link){
			.ns_per_byte = 1e9 / testbed_host_Bps(testbed, i)};
		links->leaf_up[i] = links->leaf_down[i] = leaf;
	}
}

/* The links from one host to another, in order; returns how many. */
static int route(struct testbed_links *links, int from, int to,
		 struct testbed_link **way)
{
	int leaf_hosts = links->testbed->leaf_hosts, n = 0;
	bool star = links->testbed->topology == TESTBED_STAR;

	way[n++] = &links->up[from];
	if (!star && from / leaf_hosts != to / leaf_hosts) {
		way[n++] = &links->leaf_up[from / leaf_hosts];
		way[n++] = &links->leaf_down[to / leaf_hosts];
	}
	way[n++] = &links->down[to];
	return n;
}

bool testbed_links_pass(struct testbed_links *links,
			struct testbed_passage *frame, int64_t backlog_ns)
{
	struct testbed_link *way[4], *link;
	int n = route(links, frame->from, frame->to, way);
	int64_t took_ns;

	link = way[frame->links++];
	took_ns = (int64_t)((double)frame->bytes * link->ns_per_byte);
	if (frame->links > 1 && link->free_ns - frame->head_ns > backlog_ns)
		return false;
	if (frame->head_ns < link->free_ns)
		frame->head_ns = link->free_ns;
	/* Not faster than it comes in. */
	if (frame->tail_ns < frame->head_ns + took_ns)
		frame->tail_ns = frame->head_ns + took_ns;
	link->free_ns = frame->tail_ns;
	frame->is_through = frame->links == n;
	if (frame->is_through)
		frame->tail_ns += links->testbed->delay_ns;
	return true;
}
