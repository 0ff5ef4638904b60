/* run_nodes.c - --nnodes, --node-rank, --rdzv-*, --master-*, --max-restarts and
 * --monitor-interval. */
#include "cli/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/text.h"
#define SECOND ((int64_t)1000000000)

/* torchrun's ports where none is said. */
#define STATIC_PORT 29500
#define C10D_PORT   29400

/* More would be taken for a mistake; the store serves no more agents. */
#define MAX_NODES 4000

/* ---- one option --------------------------------------------------------- */

static int choose_range(const char *text, struct dist__nodes_spec *nodes)
{
	char first[16];
	const char *colon;

	nodes->min_nodes = nodes->max_nodes = 1;
	if (!text)
		return DIST_EXIT_OK;
	colon = strchr(text, ':');
	snprintf(first, sizeof first, "%.*s",
		 colon ? (int)(colon - text) : (int)sizeof first - 1, text);
	if (!run_number(first, 1, MAX_NODES, &nodes->min_nodes) ||
	    !run_number(colon ? colon + 1 : first, nodes->min_nodes, MAX_NODES,
			&nodes->max_nodes))
		return run_refuse("--nnodes", text,
				  "a number of nodes, or MIN:MAX");
	return DIST_EXIT_OK;
}

static int choose_port(const char *text, int *port)
{
	if (text && !run_number(text, 0, 65535, port))
		return run_refuse("--master-port", text,
				  "a port from 0 (any free one) to 65535");
	return DIST_EXIT_OK;
}

/* A name that stands in paths and in messages between agents. */
static bool is_name(const char *text)
{
	return *text && strlen(text) < sizeof(((struct run_plan *)0)->run_id) &&
	       !strpbrk(text, " \t\n/");
}

static int choose_names(const struct run_request *request,
			struct run_plan *plan)
{
	static const char expected[] =
		"a name of at most 63 letters, without spaces and slashes";
	const char *id = request->rdzv_id ? request->rdzv_id : "none";

	if (!is_name(id))
		return run_refuse("--rdzv-id", id, expected);
	if (request->role && !is_name(request->role))
		return run_refuse("--role", request->role, expected);
	if (request->standalone)
		snprintf(plan->run_id, sizeof plan->run_id, "standalone-%ld",
			 (long)getpid());
	else
		snprintf(plan->run_id, sizeof plan->run_id, "%s", id);
	plan->nodes.run_id = plan->run_id;
	return DIST_EXIT_OK;
}

static int choose_restarts(const struct run_request *request,
			   struct run_plan *plan)
{
	const char *text = request->max_restarts;

	if (text && !run_number(text, 0, 1 << 20, &plan->max_restarts))
		return run_refuse("--max-restarts", text, "a number from 0 on");
	text = request->monitor_interval;
	if (text && (!dist__seconds_read(text, &plan->monitor_ns) ||
		     plan->monitor_ns < SECOND / 1000))
		return run_refuse("--monitor-interval", text,
				  "seconds, 0.001 or more");
	return DIST_EXIT_OK;
}

/* ---- --rdzv-conf -------------------------------------------------------- */

/* Reads one KEY=VALUE. attempts: of keep_alive_ns, which is one interval. */
static bool parse_setting(const char *key, const char *value,
			  struct dist__nodes_spec *nodes, int *attempts)
{
	const struct {
		const char *key;
		int64_t *ns;
	} times[] = {
		{"join_timeout", &nodes->join_ns},
		{"timeout", &nodes->join_ns},
		{"last_call_timeout", &nodes->last_call_ns},
		{"keep_alive_interval", &nodes->keep_alive_ns},
	};

	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
		if (strcmp(key, times[i].key) == 0)
			return dist__seconds_read(value, times[i].ns) &&
			       *times[i].ns > 0;
	if (strcmp(key, "keep_alive_max_attempt") == 0)
		return run_number(value, 1, 1000, attempts);
	nodes->host_known = true;
	nodes->is_host = strcmp(value, "1") == 0 ||
			 strcmp(value, "true") == 0 ||
			 strcmp(value, "True") == 0;
	return strcmp(key, "is_host") == 0;
}

static int choose_settings(const char *text, struct dist__nodes_spec *nodes)
{
	char *copy = strdup(text ? text : ""), *rest = NULL, *value;
	int attempts = 5;
	bool good = copy != NULL;

	nodes->join_ns = 600 * SECOND;
	nodes->last_call_ns = 30 * SECOND;
	nodes->keep_alive_ns = SECOND;
	for (char *key = copy ? strtok_r(copy, ",", &rest) : NULL; key && good;
	     key = strtok_r(NULL, ",", &rest)) {
		value = strchr(key, '=');
		if (value)
			*value++ = '\0';
		good = value && parse_setting(key, value, nodes, &attempts);
	}
	nodes->keep_alive_ns *= attempts;
	free(copy);
	return good ? DIST_EXIT_OK
		    : run_refuse("--rdzv-conf", text,
				 "KEY=VALUE,... of join_timeout, timeout, "
				 "last_call_timeout, keep_alive_interval "
				 "(seconds), keep_alive_max_attempt, is_host");
}

/* ---- several nodes ------------------------------------------------------ */

/* Reads HOST[:PORT], or [ADDRESS][:PORT] with colons in it. Port 0, any free
 * one, is for a node that nobody looks for. */
static int choose_endpoint(const char *text, int port, struct run_plan *plan)
{
	const char *host = text, *end, *digits;

	if (*text == '[') {
		host = text + 1;
		end = strchr(text, ']');
		digits = end ? end + 1 : NULL;
	} else {
		end = digits = text + strcspn(text, ":");
	}
	plan->nodes.endpoint_port = port;
	if (!end || end == host ||
	    (size_t)(end - host) >= sizeof plan->endpoint_host ||
	    strpbrk(host, " \t\n") ||
	    (*digits && (*digits != ':' ||
			 !run_number(digits + 1, plan->nodes.max_nodes > 1,
				     65535, &plan->nodes.endpoint_port))))
		return run_refuse("--rdzv-endpoint", text,
				  "HOST:PORT, with a port from 1 to 65535");
	snprintf(plan->endpoint_host, sizeof plan->endpoint_host, "%.*s",
		 (int)(end - host), host);
	plan->nodes.endpoint_host = plan->endpoint_host;
	return DIST_EXIT_OK;
}

/* Every node is told its number and where node 0 is. */
static int choose_static(const struct run_request *request,
			 struct run_plan *plan)
{
	struct dist__nodes_spec *nodes = &plan->nodes;
	const char *rank = request->node_rank ? request->node_rank : "0";
	int usual = nodes->max_nodes > 1 ? STATIC_PORT : 0;
	int port = request->master_port ? plan->master_port : usual;

	if (nodes->min_nodes != nodes->max_nodes)
		return run_refuse("--nnodes", request->nnodes,
				  "one number; a range takes "
				  "--rdzv-backend=c10d");
	if (!run_number(rank, 0, nodes->max_nodes - 1, &nodes->node_rank))
		return run_refuse("--node-rank", rank,
				  "a number below that of the nodes");
	if (request->rdzv_endpoint && *request->rdzv_endpoint)
		return choose_endpoint(request->rdzv_endpoint, port, plan);
	if (nodes->max_nodes > 1 && port == 0)
		return run_refuse("--master-port", request->master_port,
				  "one that the other nodes can know");
	snprintf(plan->endpoint_host, sizeof plan->endpoint_host, "%s",
		 request->master_addr ? request->master_addr : "127.0.0.1");
	nodes->endpoint_host = plan->endpoint_host;
	nodes->endpoint_port = port;
	return DIST_EXIT_OK;
}

static int choose_backend(const struct run_request *request,
			  struct run_plan *plan)
{
	const char *name = request->rdzv_backend;

	if (!request->standalone && (!name || strcmp(name, "static") == 0))
		return choose_static(request, plan);
	if (!request->standalone && strcmp(name, "c10d") != 0)
		return run_refuse("--rdzv-backend", name, "static or c10d");
	plan->nodes.node_rank = -1;
	if (plan->nodes.max_nodes == 1)
		return DIST_EXIT_OK;
	if (request->standalone)
		return run_refuse("--nnodes", request->nnodes,
				  "1 with --standalone");
	return choose_endpoint(request->rdzv_endpoint && *request->rdzv_endpoint
				       ? request->rdzv_endpoint
				       : "localhost",
			       C10D_PORT, plan);
}

/* Says which options the simulation has no use for: they say how processes of
 * several machines find each other. */
static void tell_unused(const struct run_request *request)
{
	const struct {
		const char *option, *value;
	} options[] = {
		{"--rdzv-backend", request->rdzv_backend},
		{"--rdzv-endpoint", request->rdzv_endpoint},
		{"--rdzv-conf", request->rdzv_conf},
		{"--monitor-interval", request->monitor_interval},
		{"--master-addr", request->master_addr},
		{"--master-port", request->master_port},
	};
	char text[256] = "";

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (options[i].value && *options[i].value)
			(void)dist__append(text, sizeof text, "%s%s",
					   *text ? ", " : "",
					   options[i].option);
	if (*text)
		fprintf(stderr,
			"lockstep %s: %s: no meaning in a simulation, "
			"ignored\n",
			run_command, text);
}

static int check_simulated(const struct run_request *request,
			   const struct run_plan *plan)
{
	if (plan->nodes.min_nodes != plan->nodes.max_nodes)
		return run_refuse("--nnodes", request->nnodes,
				  "one number: a simulated world does not "
				  "change");
	if (plan->max_restarts > 0)
		return run_refuse("--max-restarts", request->max_restarts,
				  "0, as a simulation would end the same way "
				  "again");
	if (request->standalone && plan->nodes.max_nodes > 1)
		return run_refuse("--nnodes", request->nnodes,
				  "1 with --standalone");
	if (request->node_rank && strcmp(request->node_rank, "0") != 0)
		return run_refuse("--node-rank", request->node_rank,
				  "0, as all nodes are simulated here");
	tell_unused(request);
	return DIST_EXIT_OK;
}

int run_choose_nodes(const struct run_request *request, struct run_plan *plan)
{
	int status = choose_range(request->nnodes, &plan->nodes);

	if (!status)
		status = choose_port(request->master_port, &plan->master_port);
	if (!status)
		status = choose_settings(request->rdzv_conf, &plan->nodes);
	if (!status)
		status = choose_restarts(request, plan);
	if (!status)
		status = choose_names(request, plan);
	if (status)
		return status;
	return plan->world->in_process ? check_simulated(request, plan)
				       : choose_backend(request, plan);
}
