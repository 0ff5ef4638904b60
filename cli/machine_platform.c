#include "cli/machine_platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "base/refuse.h"
#include "model/cluster/machine.h"
#include "model/library/library.h"

static enum dist_error complain(struct dist_message *message)
{
	return dist__refuse_as(message, DIST_ERR_IO, "temporary file: %s",
			       dist__file_why(errno));
}

/* ---- the machine -------------------------------------------------------- */

static enum dist_error split(struct machine_platform *platform,
			     const char *text, struct dist_message *message)
{
	size_t len = strcspn(text, ":");
	const char *transport = text[len] ? text + len + 1 : "";

	if (len == 0 || len >= sizeof platform->name ||
	    (text[len] && !*transport) ||
	    strlen(transport) >= sizeof platform->transport)
		return dist__refuse(
			message,
			"--machine: expected NAME[:TRANSPORT], not \"%.80s\"",
			text);
	memcpy(platform->name, text, len);
	strcpy(platform->transport, transport);
	return DIST_OK;
}

static const char *transport_of(const struct machine_platform *platform)
{
	return platform->transport[0] ? platform->transport : NULL;
}

enum dist_error machine_platform_open(struct machine_platform *platform,
				      const char *text,
				      struct dist_message *message)
{
	struct platform_nodes node = {.count = 1};
	enum dist_error error;

	memset(platform, 0, sizeof *platform);
	error = split(platform, text, message);
	if (!error)
		error = machine_find(&platform->machine, platform->name,
				     message);
	if (!error)
		error = platform_of_machine(&platform->machine,
					    transport_of(platform), 0, &node,
					    message);
	return error;
}

static double rate_of(const struct dist__rewiring *links)
{
	return links->bandwidth.is_factor ? 0 : links->bandwidth.value;
}

void machine_platform_rewire(struct machine_platform *platform,
			     const struct dist__link_overrides *overrides)
{
	platform->card_Bps = rate_of(&overrides->inter);
	platform->intra_Bps = rate_of(&overrides->intra);
}

void machine_platform_title(const struct machine_platform *platform, char *text,
			    size_t size)
{
	const struct machine_network *network;
	struct dist_message message;

	/* The transport is one of the machine's, since the platform is open. */
	if (machine_network_choose(&platform->machine, transport_of(platform),
				   &network, &message))
		network = NULL;
	snprintf(text, size, "%s%s%s", platform->name, network ? ":" : "",
		 network ? network->transport : "");
}

int machine_platform_node_ranks(const struct machine_platform *platform,
				int ranks)
{
	int gpus = platform->machine.gpus_per_node > 0
			   ? (int)platform->machine.gpus_per_node
			   : 1;

	if (platform->ranks_per_node > 0)
		gpus = platform->ranks_per_node;
	return ranks < gpus ? ranks : gpus;
}

const char *machine_platform_library(const struct machine_platform *platform)
{
	return library_of_gpu(platform->machine.gpu);
}

static int count_nodes(const struct machine_platform *platform, int ranks)
{
	int node_ranks = machine_platform_node_ranks(platform, ranks);

	return (ranks + node_ranks - 1) / node_ranks;
}

enum dist_error machine_platform_check(const struct machine_platform *platform,
				       int ranks, struct dist_message *message)
{
	struct fabric fabric;

	return machine_fabric(&platform->machine, transport_of(platform),
			      count_nodes(platform, ranks),
			      machine_platform_node_ranks(platform, ranks),
			      &fabric, message);
}

enum dist_error machine_platform_allows(const struct machine_platform *platform,
					enum dist__fidelity fidelity,
					struct dist_message *message)
{
	if (!platform->topology || fidelity != DIST__FIDELITY_FORMULA)
		return DIST_OK;
	return dist__refuse(message,
			    "--topology: expected --fidelity flow or message: "
			    "by a closed form nobody shares its links");
}

static enum dist_error find_fabric(const struct machine_platform *platform,
				   int ranks, struct fabric *fabric,
				   struct dist_message *message)
{
	return machine_fabric(&platform->machine, transport_of(platform),
			      count_nodes(platform, ranks),
			      machine_platform_node_ranks(platform, ranks),
			      fabric, message);
}

void machine_platform_calibration(struct machine_platform *platform,
				  const struct dist__profile *profile,
				  int ranks, char *text, size_t size)
{
	struct dist_message ignored;
	struct fabric fabric;

	if (find_fabric(platform, ranks, &fabric, &ignored))
		fabric = (struct fabric){.gpu = ""};
	platform->may_guess =
		library_calibration_say(profile, &fabric, text, size);
}

/* ---- files -------------------------------------------------------------- */

/* Fills in rates that the machine's description does not have. */
static enum dist_error find_rates(const struct machine_platform *platform,
				  struct platform_nodes *node,
				  struct dist_message *message)
{
	bool intra, inter;

	if (node->inter.nic.bandwidth_Bps <= 0)
		node->inter.nic.bandwidth_Bps = platform->card_Bps;
	if (node->intra.gpu.bandwidth_Bps <= 0)
		node->intra.gpu.bandwidth_Bps = platform->intra_Bps;
	intra = node->gpus > 1 && node->intra.gpu.bandwidth_Bps <= 0;
	inter = node->count > 1 && node->inter.fabric[0] &&
		node->inter.nic.bandwidth_Bps <= 0;
	if (platform->may_guess)
		platform_guess_rates(node);
	else if (intra || inter)
		return dist__refuse(message,
				    "machine %s: the rate of its links is not "
				    "known; expected %s%s%s, or another "
				    "machine",
				    platform->name,
				    inter ? "--inter-bandwidth RATE" : "",
				    inter && intra ? " and " : "",
				    intra ? "--intra-bandwidth RATE" : "");
	return DIST_OK;
}

static enum dist_error describe(const struct machine_platform *platform,
				int ranks, bool any,
				struct platform_description *d,
				struct dist_message *message)
{
	int nodes = count_nodes(platform, ranks);
	enum dist_error error = platform_read_topology(
		platform->topology ? platform->topology : "star", &d->fabric,
		message);

	d->kinds = 1;
	d->any_nodes = any;
	d->nodes[0].count = any && nodes > 2 ? 2 : nodes;
	if (!error)
		error = platform_of_machine(
			&platform->machine, transport_of(platform),
			machine_platform_node_ranks(platform, ranks),
			&d->nodes[0], message);
	if (!error)
		error = find_rates(platform, &d->nodes[0], message);
	return error ? error : platform_check(d, message);
}

/* Opens the file, or empties it for the next platform. */
static enum dist_error make_room(struct machine_platform *platform,
				 struct dist_message *message)
{
	if (!platform->file)
		platform->file = tmpfile();
	if (!platform->file || ftruncate(fileno(platform->file), 0))
		return complain(message);
	rewind(platform->file);
	snprintf(platform->path, sizeof platform->path, "/proc/self/fd/%d",
		 fileno(platform->file));
	return DIST_OK;
}

static enum dist_error save(const struct machine_platform *platform,
			    const struct platform_description *d,
			    struct dist_message *message)
{
	enum dist_error error;
	char command[640];

	snprintf(command, sizeof command, "lockstep predict --machine %s%s%s",
		 platform->name, platform->transport[0] ? ":" : "",
		 platform->transport);
	error = platform_write(d, NULL, command, platform->file, message);
	if (error == DIST_ERR_IO || (fflush(platform->file) && !error))
		error = complain(message);
	return error;
}

enum dist_error machine_platform_write(struct machine_platform *platform,
				       int ranks, bool any,
				       struct dist_message *message)
{
	struct platform_description *d = calloc(1, sizeof *d);
	enum dist_error error = d ? DIST_OK : DIST_ERR_NO_MEMORY;

	if (!error)
		error = make_room(platform, message);
	if (!error)
		error = describe(platform, ranks, any, d, message);
	if (!error)
		error = save(platform, d, message);
	free(d);
	return error;
}

void machine_platform_close(struct machine_platform *platform)
{
	if (platform->file)
		fclose(platform->file);
	platform->file = NULL;
}
