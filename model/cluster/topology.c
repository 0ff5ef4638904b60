/*
 * topology.c - the switches between the nodes: --topology.
 *
 * A hop that is not stated takes 0.13 us, what NVIDIA states of its Quantum
 * InfiniBand switches from port to port (QM8700 data sheet).
 */
#include "model/cluster/description.h"

#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"
#include "model/cluster/clause.h"

#define HOP_S      0.13e-6
#define MOST_TAPER 64.0

static enum dist_error expect_shape(const struct platform_clause *clause,
				    struct platform_fabric *fabric, int least,
				    int most, const char *text,
				    struct dist_message *message)
{
	enum dist_error error;

	fabric->levels = most;
	error = platform_clause_shape(clause, fabric->shape, &fabric->levels,
				      message);
	if (error || fabric->levels >= least)
		return error;
	return dist__refuse(message,
			    "--topology %s: expected %s, not "
			    "\"%s\"",
			    clause->kind, text, clause->word);
}

static enum dist_error read_star(const struct platform_clause *clause,
				 struct platform_fabric *fabric,
				 struct dist_message *message)
{
	fabric->topology = PLATFORM_STAR;
	if (!*clause->word && clause->num_keys == 0)
		return DIST_OK;
	return dist__refuse(message,
			    "--topology star: expected nothing behind it");
}

static enum dist_error read_leaf_spine(const struct platform_clause *clause,
				       struct platform_fabric *fabric,
				       struct dist_message *message)
{
	enum dist_error error =
		platform_clause_only(clause, "uplink hop", message);

	fabric->topology = PLATFORM_LEAF_SPINE;
	if (!error)
		error = expect_shape(clause, fabric, 2, 2, "LEAVESxSPINES",
				     message);
	return error ? error
		     : platform_clause_bandwidth(clause, "uplink",
						 &fabric->uplink_Bps, message);
}

static enum dist_error read_taper(const struct platform_clause *clause,
				  double *taper, struct dist_message *message)
{
	const char *text = platform_clause_value(clause, "taper");

	*taper = 1;
	if (!text)
		return DIST_OK;
	if (dist__number_read(text, taper) && *taper >= 1 &&
	    *taper <= MOST_TAPER)
		return DIST_OK;
	return dist__refuse(message,
			    "--topology %s: taper: expected 1 to %g, "
			    "bandwidth below a switch by above it, not "
			    "\"%s\"",
			    clause->kind, MOST_TAPER, text);
}

static enum dist_error read_fat_tree(const struct platform_clause *clause,
				     struct platform_fabric *fabric,
				     struct dist_message *message)
{
	enum dist_error error =
		platform_clause_only(clause, "taper hop", message);

	fabric->topology = PLATFORM_FAT_TREE;
	if (!error)
		error = expect_shape(clause, fabric, 2, 3,
				     "NODESxLEAVES or NODESxLEAVESxPODS",
				     message);
	return error ? error : read_taper(clause, &fabric->taper, message);
}

static enum dist_error read_dragonfly(const struct platform_clause *clause,
				      struct platform_fabric *fabric,
				      struct dist_message *message)
{
	enum dist_error error =
		platform_clause_only(clause, "local global hop", message);

	fabric->topology = PLATFORM_DRAGONFLY;
	if (!error)
		error = expect_shape(clause, fabric, 3, 3,
				     "GROUPSxROUTERSxNODES", message);
	if (!error)
		error = platform_clause_bandwidth(clause, "local",
						  &fabric->local_Bps, message);
	if (!error)
		error = platform_clause_bandwidth(clause, "global",
						  &fabric->global_Bps, message);
	return error;
}

static const struct {
	const char *name;
	enum dist_error (*read)(const struct platform_clause *clause,
				struct platform_fabric *fabric,
				struct dist_message *message);
} topologies[] = {{"star", read_star},
		  {"leaf-spine", read_leaf_spine},
		  {"fat-tree", read_fat_tree},
		  {"dragonfly", read_dragonfly}};

enum dist_error platform_read_topology(const char *text,
				       struct platform_fabric *fabric,
				       struct dist_message *message)
{
	struct platform_clause clause;
	enum dist_error error =
		platform_clause_read("--topology", text, &clause, message);

	if (error)
		return error;
	memset(fabric, 0, sizeof *fabric);
	fabric->hop_s = HOP_S;
	for (size_t i = 0; i < sizeof topologies / sizeof topologies[0]; i++)
		if (strcmp(clause.kind, topologies[i].name) == 0) {
			error = topologies[i].read(&clause, fabric, message);
			return error ? error
				     : platform_clause_latency(&clause, "hop",
							       &fabric->hop_s,
							       message);
		}
	return dist__refuse(message,
			    "--topology: expected star, leaf-spine:..., "
			    "fat-tree:... or dragonfly:..., not \"%s\"",
			    text);
}

enum dist_error platform_read_queues(const char *text, bool *queues,
				     struct dist_message *message)
{
	*queues = strcmp(text, "fifo") == 0;
	if (*queues || strcmp(text, "none") == 0)
		return DIST_OK;
	return dist__refuse(
		message, "--queues: expected fifo or none, not \"%s\"", text);
}
