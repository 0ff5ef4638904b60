/*
 * topology.c - the switches between the nodes: --topology.
 *
 * A hop that is not stated takes 0.13 us, what NVIDIA states of its Quantum
 * InfiniBand switches from port to port (QM8700 data sheet).
 */
#include "model/cluster/description.h"

#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"
#include "model/cluster/clause.h"

#define HOP_S      0.13e-6
#define MOST_TAPER 64.0

static const struct kind {
	const char *name;
	enum platform_topology topology;
	int least, most;   /* numbers of its shape */
	const char *shape; /* in words */
	const char *known; /* words that may stand behind it */
	struct {
		const char *name;
		size_t offset; /* in the fabric */
	} rates[2];
} kinds[] = {
	{"star", PLATFORM_STAR, .known = ""},
	{"leaf-spine", PLATFORM_LEAF_SPINE, 2, 2, "LEAVESxSPINES", "uplink hop",
	 .rates = {{"uplink", offsetof(struct platform_fabric, uplink_Bps)}}},
	{"fat-tree", PLATFORM_FAT_TREE, 2, 3,
	 "NODESxLEAVES or NODESxLEAVESxPODS", .known = "taper hop"},
	{"dragonfly", PLATFORM_DRAGONFLY, 3, 3, "GROUPSxROUTERSxNODES",
	 "local global hop",
	 .rates = {{"local", offsetof(struct platform_fabric, local_Bps)},
		   {"global", offsetof(struct platform_fabric, global_Bps)}}},
};

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
			    "--topology %s: taper: expected 1 to %g, bandwidth "
			    "below a switch by above it, not \"%s\"",
			    clause->kind, MOST_TAPER, text);
}

static enum dist_error read_shape(const struct platform_clause *clause,
				  const struct kind *kind,
				  struct platform_fabric *fabric,
				  struct dist_message *message)
{
	enum dist_error error =
		platform_clause_only(clause, kind->known, message);

	fabric->levels = kind->most;
	if (!error)
		error = platform_clause_shape(clause, fabric->shape,
					      &fabric->levels, message);
	if (!error && fabric->levels < kind->least)
		error = dist__refuse(message,
				     "--topology %s: expected %s, not \"%s\"",
				     clause->kind, kind->shape, clause->word);
	return error;
}

static enum dist_error read_kind(const struct platform_clause *clause,
				 const struct kind *kind,
				 struct platform_fabric *fabric,
				 struct dist_message *message)
{
	enum dist_error error = read_shape(clause, kind, fabric, message);

	for (int i = 0; i < 2 && kind->rates[i].name && !error; i++)
		error = platform_clause_bandwidth(
			clause, kind->rates[i].name,
			(double *)((char *)fabric + kind->rates[i].offset),
			message);
	if (!error && kind->topology == PLATFORM_FAT_TREE)
		error = read_taper(clause, &fabric->taper, message);
	return error ? error
		     : platform_clause_latency(clause, "hop", &fabric->hop_s,
					       message);
}

enum dist_error platform_read_topology(const char *text,
				       struct platform_fabric *fabric,
				       struct dist_message *message)
{
	struct platform_clause clause;
	const struct kind *kind = kinds,
			  *end = kinds + sizeof kinds / sizeof *kinds;
	enum dist_error error =
		platform_clause_read("--topology", text, &clause, message);

	if (error)
		return error;
	while (kind < end && strcmp(clause.kind, kind->name) != 0)
		kind++;
	if (kind == end)
		return dist__refuse(
			message,
			"--topology: expected star, leaf-spine:..., "
			"fat-tree:... or dragonfly:..., not \"%s\"",
			text);
	*fabric = (struct platform_fabric){.topology = kind->topology,
					   .hop_s = HOP_S};
	if (kind->topology != PLATFORM_STAR)
		return read_kind(&clause, kind, fabric, message);
	if (!*clause.word && clause.num_keys == 0)
		return DIST_OK;
	return dist__refuse(message,
			    "--topology star: expected nothing behind it");
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
