/*
 * inter.c - out of a node: --inter.
 *
 * A message takes lat= from card to card under one switch, half of it on each
 * side. Where it is not stated: InfiniBand and RoCE, 1.7 us, TCP, 21.2 us, the
 * half round trips that MPI shows for 4 bytes on 100 Gbit/s InfiniBand and 10
 * Gbit/s Ethernet (OSU latency 5.7, github.com/dexhunter/allreduce-experiments,
 * 100g-latency.txt and 10g-latency.txt). A GPU's way to its card is as fast as
 * its cards unless pcie= says less.
 */
#include "model/cluster/description.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"
#include "model/cluster/clause.h"
#include "model/library/transport.h"

#define TCP_HOP_S 21.2e-6
#define EFA_HOP_S 20e-6 /* of measured machines: a round figure */

static const struct {
	const char *name;
	double latency_s; /* 0: must be stated */
} fabrics[] = {{"ib", PLATFORM_IB_HOP_S},
	       {"roce", PLATFORM_IB_HOP_S},
	       {"efa", 0},
	       {"tcp", TCP_HOP_S}};

#define NUM_FABRICS (sizeof(fabrics) / sizeof(fabrics[0]))

double platform_wire_latency_s(const char *transport)
{
	if (transport_is(transport, "efa"))
		return EFA_HOP_S;
	return strncmp(transport, "tcp", 3) == 0 ? TCP_HOP_S
						 : PLATFORM_IB_HOP_S;
}

/* [COUNTx]BANDWIDTH */
static enum dist_error read_nics(const struct platform_clause *clause,
				 struct platform_inter *inter,
				 struct dist_message *message)
{
	const char *x = strchr(clause->word, 'x');
	const char *bandwidth = x ? x + 1 : clause->word;
	char count[16];

	inter->nics = 1;
	snprintf(count, sizeof count, "%.*s", x ? (int)(x - clause->word) : 0,
		 clause->word);
	if ((!x || platform_read_count(count, PLATFORM_NICS, &inter->nics)) &&
	    dist__bandwidth_read(bandwidth, &inter->nic.bandwidth_Bps))
		return DIST_OK;
	return dist__refuse(message,
			    "--inter %s: expected [CARDSx]BANDWIDTH with 1 to "
			    "%d cards and a unit, such as 8x400G, not \"%s\"",
			    clause->kind, PLATFORM_NICS, clause->word);
}

static enum dist_error read_latency(const struct platform_clause *clause,
				    double latency_s,
				    struct platform_inter *inter,
				    struct dist_message *message)
{
	enum dist_error error =
		platform_clause_latency(clause, "lat", &latency_s, message);

	if (!error && latency_s == 0)
		return dist__refuse(message,
				    "--inter %s: expected lat=TIME, from card "
				    "to card, such as lat=15us",
				    clause->kind);
	inter->nic.latency_s = latency_s / 2;
	return error;
}

enum dist_error platform_read_inter(const char *text,
				    struct platform_inter *inter,
				    struct dist_message *message)
{
	struct platform_clause clause;
	enum dist_error error =
		platform_clause_read("--inter", text, &clause, message);
	size_t i = 0;

	if (error)
		return error;
	while (i < NUM_FABRICS && strcmp(clause.kind, fabrics[i].name) != 0)
		i++;
	if (i == NUM_FABRICS)
		return dist__refuse(message,
				    "--inter: expected ib, roce, efa or tcp, "
				    "then :[CARDSx]BANDWIDTH, not \"%s\"",
				    text);
	memset(inter, 0, sizeof *inter);
	snprintf(inter->fabric, sizeof inter->fabric, "%s", fabrics[i].name);
	inter->bonded = platform_clause_value(&clause, "bonded") != NULL;
	error = platform_clause_only(&clause, "lat pcie bonded", message);
	if (!error)
		error = read_nics(&clause, inter, message);
	if (!error)
		error = read_latency(&clause, fabrics[i].latency_s, inter,
				     message);
	if (!error && platform_clause_value(&clause, "pcie"))
		error = platform_clause_bandwidth(&clause, "pcie",
						  &inter->pcie_Bps, message);
	return error;
}
