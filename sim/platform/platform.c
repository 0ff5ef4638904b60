/*
 * platform.c - loading a platform file: everything that may be wrong with it is
 * found here, before a rank runs.
 *
 * A plain file we read ourselves (read.c), and SimGrid is told of hosts, links
 * and ways by index. Any other is loaded twice. First in a child process
 * (trial.c), where SimGrid may abort or crash without harm and where all checks
 * run; then here, when it is known to be sound.
 */
#include "sim/platform/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>
#include <simgrid/link.h>

#include "base/printable.h"
#include "base/refuse.h"
#include "sim/engine/shim.h"
#include "sim/platform/read.h"
#include "sim/platform/state.h"

/* ---- what SimGrid does not check ------------------------------------ */

static enum dist_error check_speeds(const struct dist__platform *p,
				    struct dist_message *message)
{
	sg_host_t *hosts = sg_host_list();
	size_t count = sg_host_count();
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < count && !error; i++) {
		double speed = sg_host_get_speed(hosts[i]);

		if (!(speed > 0 && isfinite(speed)))
			error = dist__refuse(
				message,
				"%s: host %s: speed is %g flop/s: expected "
				"more than 0",
				p->path, sg_host_get_name(hosts[i]), speed);
	}
	free(hosts);
	return error;
}

static enum dist_error check_links(const struct dist__platform *p,
				   struct dist_message *message)
{
	sg_link_t *links = sg_link_list();
	size_t count = sg_link_count();
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < count && !error; i++) {
		double bandwidth = sg_link_get_bandwidth(links[i]);
		double latency = sg_link_get_latency(links[i]);

		if (!(bandwidth >= 1 && isfinite(bandwidth)))
			error = dist__refuse(
				message,
				"%s: link %s: bandwidth is %g B/s: "
				"expected 1 or more",
				p->path, sg_link_get_name(links[i]), bandwidth);
		else if (!(latency >= 0 && latency <= DIST__MOST_LATENCY_S))
			error = dist__refuse(
				message,
				"%s: link %s: latency is %g s: expected "
				"0 to %g",
				p->path, sg_link_get_name(links[i]), latency,
				DIST__MOST_LATENCY_S);
	}
	free(links);
	return error;
}

static enum dist_error check_way(const struct dist__platform *p, int from,
				 int to, struct dist_message *message)
{
	sg_host_t a = dist__platform_host(p, from);
	sg_host_t b = dist__platform_host(p, to);

	if (a == b || dist__engine_route(a, b, NULL, NULL, NULL))
		return DIST_OK;
	return dist__refuse(message, "%s: no route from host %s to host %s",
			    p->path, sg_host_get_name(a), sg_host_get_name(b));
}

/* Tries the ways between neighbours and those to and from rank 0, which is
 * cheap and finds what is usually forgotten; the rest is looked at when a
 * message wants to go there. */
static enum dist_error check_ways(const struct dist__platform *p, int ranks,
				  struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	if (p->any_node_ranks && ranks > 2 * p->any_node_ranks)
		ranks = 2 * p->any_node_ranks;
	for (int rank = 1; rank < ranks && !error; rank++) {
		error = check_way(p, rank - 1, rank, message);
		if (!error)
			error = check_way(p, rank, rank - 1, message);
		if (!error)
			error = check_way(p, 0, rank, message);
		if (!error)
			error = check_way(p, rank, 0, message);
	}
	return error;
}

static enum dist_error check_room(const struct dist__platform *p, int ranks,
				  struct dist_message *message)
{
	if (ranks <= p->num_ranks)
		return DIST_OK;
	if ((size_t)p->num_ranks == p->num_hosts)
		return dist__refuse(
			message, "platform %s has %zu hosts, %d ranks need %d",
			p->path, p->num_hosts, ranks, ranks);
	return dist__refuse(
		message,
		"platform %s has %zu hosts with room for %d ranks, not "
		"for %d",
		p->path, p->num_hosts, p->num_ranks, ranks);
}

/* ---- opening -------------------------------------------------------- */

enum dist_error
dist__platform_load(const char *path, struct dist__plain *plain, int ranks,
		    const struct dist__link_overrides *overrides,
		    struct dist__platform **platform,
		    struct dist_message *message)
{
	struct dist__platform *p = calloc(1, sizeof *p);
	enum dist_error error = DIST_OK;

	if (!p)
		return DIST_ERR_NO_MEMORY;
	p->path = path;
	dist__platform_start_engine();
	if (plain ? !dist__engine_build(&plain->graph, message->text,
					sizeof message->text)
		  : !dist__engine_load(path, message->text,
				       sizeof message->text))
		error = DIST_ERR_INVALID_ARGUMENT;
	/* SimGrid's words quote the file. */
	dist__printable(message->text);
	if (!error)
		error = dist__platform_check_model(path, message);
	if (!error)
		error = check_links(p, message);
	if (!error)
		error = dist__platform_seat_ranks(p, message);
	if (!error)
		error = check_speeds(p, message);
	if (!error)
		error = dist__platform_read_any(p, message);
	if (!error)
		error = dist__platform_read_queues(p, message);
	if (!error)
		error = dist__platform_read_calibrations(p, message);
	if (!error)
		error = dist__platform_rewire(p, overrides, message);
	if (!error)
		error = check_room(p, ranks, message);
	if (!error && !plain)
		error = check_ways(p, ranks, message);
	if (error) {
		dist__platform_close(p);
		return error;
	}
	dist__platform_collect_facts(p, overrides);
	*platform = p;
	return DIST_OK;
}

void dist__platform_close(struct dist__platform *p)
{
	if (!p)
		return;
	free(p->seats);
	free(p);
}

const struct dist__fact *dist__platform_facts(const struct dist__platform *p,
					      size_t *n)
{
	*n = p->num_facts;
	return p->facts;
}
