/* calibrate_advice.c - what to look at where measured times are not what their
 * machine can do, or what the model says. */
#include "cli/calibrate_advice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "model/cluster/machine.h"

/* More than a link's rate by its rounding; much less than it; a median error
 * that is no good prediction; rows of one size that differ; a row that takes so
 * much longer than one of the next size. */
#define TOO_MUCH   1.05
#define TOO_LITTLE 0.1
#define TOO_FAR    0.2
#define NOISY      0.15
#define STANDS_OUT 1.5

__attribute__((format(printf, 2, 3))) static void
add(struct calibrate_advice *advice, const char *format, ...)
{
	char line[sizeof advice->lines[0]];
	va_list arguments;

	if (advice->num == ADVICE_LINES)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < advice->num; i++)
		if (strcmp(advice->lines[i], line) == 0)
			return;
	memcpy(advice->lines[advice->num++], line, sizeof line);
}

static const struct collective_row *
find_largest(const struct collectives *table)
{
	const struct collective_row *largest = NULL;

	for (size_t i = 0; i < table->tsv.num_rows; i++)
		if (!largest || table->rows[i].bytes > largest->bytes)
			largest = &table->rows[i];
	return largest;
}

/* What the largest call makes of the links. */
static void look_at_rate(struct calibrate_advice *advice,
			 const struct machine *machine,
			 const struct collective_row *row)
{
	struct dist_message ignored;
	struct fabric fabric;
	double share, link_Bps, bytes;

	if (row->bytes < (size_t)64 << 20 ||
	    machine_fabric(machine, row->transport, row->nodes,
			   row->ranks / row->nodes, &fabric, &ignored) ||
	    fabric.guessed)
		return;
	link_Bps = row->nodes > 1 ? fabric.cards * fabric.card_Bps
				  : fabric.intra_Bps;
	if (fabric.card_nodes > 1 || !(link_Bps > 0))
		return;
	bytes = (double)row->bytes *
		collective_bus_factor(row->collective,
				      row->nodes > 1 ? row->nodes : row->ranks);
	/* Switches may sum. */
	if (row->collective == COLLECTIVE_ALL_REDUCE && row->nodes == 1 &&
	    fabric.intra == FABRIC_NVSWITCH)
		bytes /= 2;
	if (row->collective == COLLECTIVE_ALL_TO_ALL && row->nodes > 1)
		bytes *= fabric.node_ranks;
	share = bytes / (row->time_us.value * 1e-6) / link_Bps;
	if (share > TOO_MUCH && row->nodes > 1)
		add(advice,
		    "the rate is %.0f %% of what %d card%s of %.0f Gbit/s "
		    "ha%s: are there more or faster ones, or is it another "
		    "transport?",
		    share * 100, fabric.cards, fabric.cards == 1 ? "" : "s",
		    fabric.card_Bps * 8e-9, fabric.cards == 1 ? "s" : "ve");
	else if (share > TOO_MUCH)
		add(advice,
		    "the rate is %.0f %% of what the links of a GPU have, "
		    "%.0f GB/s: is it this machine?",
		    share * 100, link_Bps / 1e9);
	else if (share < TOO_LITTLE)
		add(advice,
		    "the rate is only %.0f %% of what the links have: is it "
		    "another transport, or are sizes above %zu MiB missing?",
		    share * 100, row->bytes >> 20);
}

/* Times of one size, and of sizes that follow each other. Rows of a run are in
 * its order: out of place, in place, the next size. */
static void look_at_noise(struct calibrate_advice *advice,
			  const struct collectives *table)
{
	size_t num = table->tsv.num_rows, pairs = 0, outliers = 0;
	double *spread = calloc(num + 1, sizeof *spread);

	for (size_t i = 0; spread && i < num; i++) {
		const struct collective_row *row = &table->rows[i];

		for (size_t j = i + 1; j < num && j <= i + 2; j++) {
			const struct collective_row *next = row + (j - i);
			double ratio = row->time_us.value / next->time_us.value;

			if (next->collective != row->collective)
				break;
			if (next->bytes == row->bytes)
				spread[pairs++] = fabs(ratio - 1);
			if (next->bytes > row->bytes &&
			    strcmp(next->place, row->place) == 0)
				outliers += ratio > STANDS_OUT;
		}
	}
	if (pairs > 0) {
		dist__sort_numbers(spread, pairs);
		if (dist__quantile(spread, pairs, 0.5) > NOISY)
			add(advice,
			    "rows of one size differ by %.0f %% (median): no "
			    "prediction can be nearer",
			    dist__quantile(spread, pairs, 0.5) * 100);
	}
	if (outliers > 0)
		add(advice,
		    "rows that take half again as long as the next size: "
		    "%zu; noise, or a first call that starts things (-w)",
		    outliers);
	free(spread);
}

void calibrate_advise(struct calibrate_advice *advice,
		      const struct machine *machine,
		      const struct collectives *table,
		      const struct calibration *calibration, double error)
{
	const struct collective_row *largest = find_largest(table);
	size_t before = advice->num;

	if (!largest)
		return;
	look_at_rate(advice, machine, largest);
	for (size_t i = 0; i < calibration->num_constants; i++) {
		const struct calibration_constant *c =
			&calibration->constants[i];

		if (c->is_at_bound && strcmp(c->name, "launch_us") == 0)
			add(advice,
			    "launch_us ends at %g, its bound: calls start "
			    "sooner than modelled; were they timed in a CUDA "
			    "graph (-G) or several at once (-m)?",
			    c->value);
		else if (c->is_at_bound)
			add(advice,
			    "%s ends at %g, its bound: is it this machine and "
			    "transport?",
			    c->name, c->value);
	}
	look_at_noise(advice, table);
	/* What nothing else explains. */
	if (error <= TOO_FAR || advice->num > before)
		return;
	if (!largest->version && strcmp(largest->library, "nccl") == 0)
		add(advice, "the log does not say which NCCL it is: "
			    "--nccl-version 2.M");
	if (!largest->algorithm)
		add(advice, "were an algorithm or protocol forced (NCCL_ALGO, "
			    "NCCL_PROTO), the log would have to say it");
}
