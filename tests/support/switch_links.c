#include "tests/support/switch_links.h"

void switch_links_init(struct switch_links *links, const struct test_bed *bed)
{
	links->bed = bed;
	for (int i = 0; i < SWITCH_HOSTS; i++) {
		double Bps = bed->host_Bps *
			     (i == bed->slow_host ? bed->slow_factor : 1);

		links->up[i] = links->down[i] =
			(struct switch_link){.ns_per_byte = 1e9 / Bps};
		links->leaf_up[i] = links->leaf_down[i] = (struct switch_link){
			.ns_per_byte = 1e9 / bed->uplink_Bps};
	}
}

/* The links from one host to another, in order; returns how many. */
static int route(struct switch_links *links, int from, int to,
		 struct switch_link **way)
{
	int leaf_hosts = links->bed->leaf_hosts, n = 0;

	way[n++] = &links->up[from];
	if (leaf_hosts > 0 && from / leaf_hosts != to / leaf_hosts) {
		way[n++] = &links->leaf_up[from / leaf_hosts];
		way[n++] = &links->leaf_down[to / leaf_hosts];
	}
	way[n++] = &links->down[to];
	return n;
}

bool switch_links_pass(struct switch_links *links, struct switch_passage *frame,
		       int64_t backlog_ns)
{
	struct switch_link *way[4], *link;
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
		frame->tail_ns += links->bed->delay_ns;
	return true;
}
