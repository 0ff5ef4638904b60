/* bench_interval.c - how far the simulated times of a collective may be off, by
 * the ranges of sizes that errors are known of. */
#include "cli/bench_interval.h"

#include <math.h>
#include <string.h>

#include "cli/tally.h"

enum dist_error bench_interval_make(struct bench_interval *interval,
				    const struct dist__tally *tally,
				    enum collective collective,
				    struct dist_message *message)
{
	/* One of each range. */
	static const size_t bytes[] = {
		[ACCURACY_SMALL] = 0,
		[ACCURACY_MIDDLE] = 1 << 20,
		[ACCURACY_LARGE] = 1 << 30,
	};
	struct intervals intervals;
	enum dist_error error;

	*interval = (struct bench_interval){
		.is_simulated = tally->fidelity != DIST__FIDELITY_AUTO};
	if (!interval->is_simulated)
		return DIST_OK;
	error = intervals_load(&intervals, message);
	for (int r = 0; !error && r < ACCURACY_ALL; r++) {
		const struct interval_case of = tally_call(
			tally, collective_name(collective), bytes[r]);

		error = intervals_find(&intervals, &of, NULL,
				       &interval->ranges[r]);
	}
	dist__tsv_release(&intervals.tsv);
	return error;
}

static double factor_of(const struct bench_interval *interval,
			const struct sweep_row *row)
{
	return interval->is_simulated
		       ? interval->ranges[accuracy_range_of(row->bytes)].factor
		       : NAN;
}

double bench_interval_low(const struct bench_interval *interval,
			  const struct sweep_row *row)
{
	return row->time_us / factor_of(interval, row);
}

double bench_interval_high(const struct bench_interval *interval,
			   const struct sweep_row *row)
{
	return row->time_us * factor_of(interval, row);
}

static bool has_range(const struct sweep_row *rows, size_t num,
		      enum accuracy_range range)
{
	for (size_t i = 0; i < num; i++)
		if (accuracy_range_of(rows[i].bytes) == range)
			return true;
	return false;
}

void bench_interval_print(const struct bench_interval *interval,
			  const struct sweep_row *rows, size_t num, FILE *out)
{
	char text[256], before[256] = "";

	for (int r = 0; interval->is_simulated && r < ACCURACY_ALL; r++) {
		if (!has_range(rows, num, (enum accuracy_range)r))
			continue;
		interval_describe(&interval->ranges[r], text, sizeof text);
		if (strcmp(text, before) != 0)
			fprintf(out, "# Interval             : %s\n", text);
		memcpy(before, text, sizeof before);
	}
}
