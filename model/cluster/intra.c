/* intra.c - inside a node: --intra. */
#include "model/cluster/description.h"

#include <string.h>

#include "base/refuse.h"
#include "model/cluster/clause.h"

/* The NVLinks of the hybrid cube mesh of eight V100, as `nvidia-smi topo -m`
 * shows them on a DGX-1: six of each GPU. */
#define CUBE_GPUS 8
static const unsigned char cube_mesh[CUBE_GPUS][CUBE_GPUS] = {
	{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0},
	{1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
	{2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
	{0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
};

/* The word is a GPU's bandwidth; lat= is that of a way of `links` links. */
static enum dist_error read_gpu(const struct platform_clause *clause,
				double hop_s, int links,
				struct platform_wire *gpu,
				struct dist_message *message)
{
	enum dist_error error = platform_clause_bandwidth(
		clause, NULL, &gpu->bandwidth_Bps, message);

	if (!error)
		error = platform_clause_latency(clause, "lat", &hop_s, message);
	gpu->latency_s = hop_s / links;
	return error;
}

static enum dist_error read_nvswitch(const struct platform_clause *clause,
				     struct platform_intra *intra,
				     struct dist_message *message)
{
	enum dist_error error =
		platform_clause_only(clause, "lat reached", message);

	intra->kind = PLATFORM_NVSWITCH;
	return error ? error
		     : read_gpu(clause, PLATFORM_NVLINK_HOP_S, 2, &intra->gpu,
				message);
}

static enum dist_error read_cube_mesh(const struct platform_clause *clause,
				      struct platform_intra *intra,
				      struct dist_message *message)
{
	enum dist_error error =
		platform_clause_only(clause, "lat reached", message);

	intra->kind = PLATFORM_MESH;
	for (int i = 0; i < CUBE_GPUS; i++)
		memcpy(intra->links[i], cube_mesh[i], CUBE_GPUS);
	return error ? error
		     : read_gpu(clause, PLATFORM_NVLINK_HOP_S, 1, &intra->gpu,
				message);
}

static enum dist_error read_pcie(const struct platform_clause *clause,
				 struct platform_intra *intra,
				 struct dist_message *message)
{
	const char *sockets = platform_clause_value(clause, "sockets");
	enum dist_error error = platform_clause_only(
		clause, "lat reached sockets socket", message);

	intra->kind = PLATFORM_PCIE;
	intra->sockets = 1;
	if (!error)
		error = read_gpu(clause, PLATFORM_PCIE_HOP_S, 2, &intra->gpu,
				 message);
	if (error)
		return error;
	if (sockets && !platform_read_count(sockets, 8, &intra->sockets))
		return dist__refuse(
			message,
			"--intra pcie: sockets: expected 1 to 8, not \"%s\"",
			sockets);
	if (intra->sockets == 1 && !platform_clause_value(clause, "socket"))
		return DIST_OK;
	intra->socket.latency_s = intra->gpu.latency_s;
	return platform_clause_bandwidth(clause, "socket",
					 &intra->socket.bandwidth_Bps, message);
}

enum dist_error platform_read_intra(const char *text,
				    struct platform_intra *intra,
				    struct dist_message *message)
{
	struct platform_clause clause;
	enum dist_error error =
		platform_clause_read("--intra", text, &clause, message);

	if (error)
		return error;
	memset(intra, 0, sizeof *intra);
	intra->reached = platform_clause_value(&clause, "reached");
	if (strcmp(clause.kind, "nvswitch") == 0)
		return read_nvswitch(&clause, intra, message);
	if (strcmp(clause.kind, "cube-mesh") == 0)
		return read_cube_mesh(&clause, intra, message);
	if (strcmp(clause.kind, "pcie") == 0)
		return read_pcie(&clause, intra, message);
	return dist__refuse(message,
			    "--intra: expected nvswitch:BANDWIDTH, "
			    "cube-mesh:BANDWIDTH or pcie:BANDWIDTH, not \"%s\"",
			    text);
}
