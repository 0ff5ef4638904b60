/* Constants of all machines together: found again where the model itself made
 * the times, and not known of a machine that is left out. */
#include <math.h>

#include "base/data.h"
#include "model/cluster/machine.h"
#include "model/library/library.h"
#include "model/validation/calibrated_model.h"
#include "model/validation/call.h"
#include "model/validation/least_squares.h"
#include "model/validation/population.h"
#include "tests/support/data_files.h"

/* ---- least squares ---------------------------------------------------- */

/* 3 = 2 a + b, 1 = a - b, each counted so much that what is thought of a and b
 * before hardly matters; and a row that is far off. */
static void lines(void *context, const double *x, size_t first, size_t last,
		  double *r)
{
	const double all[] = {2 * x[0] + x[1] - 3, x[0] - x[1] - 1, x[0] - 90};

	(void)context;
	for (size_t i = first; i < last; i++)
		r[i] = all[i];
}

Test(population, least_squares_meets_rows_and_resists_one)
{
	static const size_t first[] = {0, 0}, last[] = {3, 3};
	static const double weights[] = {1e6, 1e6, 1};
	double x[2] = {0, 0};
	struct least_squares problem = {.num = 2,
					.x = x,
					.num_rows = 3,
					.weights = weights,
					.first = first,
					.last = last,
					.residuals = lines};

	okay(least_squares_solve(&problem));
	cr_expect_float_eq(x[0], 4.0 / 3, 1e-4);
	cr_expect_float_eq(x[1], 1.0 / 3, 1e-4);
}

/* ---- tables of machines ------------------------------------------------ */

#define ROWS 24

static void load_profile(const char *name, struct dist__profile *profile)
{
	struct dist_message message;
	char path[4096];

	okay(dist__data_find("profiles", name, ".yaml", path, sizeof path,
			     &message));
	okay(dist__profile_load(profile, path, &message));
}

/* All-reduces of 8 bytes to 64 MiB on two nodes, which take what the profile
 * says. */
static struct collectives made(const char *machine, const char *transport,
			       int node_ranks,
			       const struct dist__profile *profile,
			       struct collective_row *rows)
{
	struct dist_message message;
	struct machine description;
	char path[4096];

	okay(dist__data_find("machines", machine, ".yaml", path, sizeof path,
			     &message));
	okay(machine_load(&description, path, &message));
	for (size_t i = 0; i < ROWS; i++) {
		struct library_estimate estimate;
		struct library_call call;
		struct fabric fabric;

		rows[i] = (struct collective_row){
			.use = VALUE_VALIDATION,
			.collective = COLLECTIVE_ALL_REDUCE,
			.machine = machine,
			.transport = transport,
			.library = "nccl",
			.dtype = "float32",
			.nodes = 2,
			.ranks = 2 * node_ranks,
			.bytes = (size_t)8 << i,
		};
		call = call_of_row(&rows[i]);
		okay(machine_fabric(&description, transport, 2, node_ranks,
				    &fabric, &message));
		fabric.guessed = false;
		fabric.num_calibrations = 0;
		okay(library_estimate(profile, &fabric, &call, &estimate,
				      &message));
		rows[i].time_us.value = library_time_ns(&estimate) / 1e3;
	}
	return (struct collectives){.tsv = {.num_rows = ROWS}, .rows = rows};
}

static double fitted(const char *constant, const struct collectives *table,
		     const char *without_machine, const char *without_transport)
{
	const struct collectives *const tables[] = {table};
	const struct population population = {
		.tables = tables,
		.num_tables = 1,
		.without_machine = without_machine,
		.without_transport = without_transport};
	struct dist__profile profile;
	double value;

	load_profile("nccl", &profile);
	okay(population_fit(&population, "nccl", &profile));
	value = dist__profile_constant(&profile, constant, -1);
	dist__profile_release(&profile);
	return value;
}

Test(population, a_machine_that_is_left_out_says_nothing)
{
	struct collective_row rows[ROWS];
	struct dist__profile profile;
	struct collectives table;

	load_profile("nccl", &profile);
	okay(dist__profile_set(&profile, "efa_us", 40));
	table = made("aws-p5", "efa", 8, &profile, rows);
	dist__profile_release(&profile);
	cr_expect_float_eq(fitted("efa_us", &table, NULL, NULL), 40, 6);
	cr_expect_float_eq(fitted("efa_us", &table, "xe9680-h100", "ib"),
			   fitted("efa_us", &table, NULL, NULL), 1e-9);
	cr_expect_float_eq(fitted("efa_us", &table, "aws-p5", NULL), 15, 1e-9);
	cr_expect_float_eq(fitted("efa_us", &table, NULL, "efa-x"), 15, 1e-9);
}

/* Short calls say what a hop takes where the rate of the card is not known. */
Test(population, short_calls_count_where_no_rate_is_known)
{
	struct collective_row rows[ROWS];
	struct dist__profile profile;
	struct collectives table;

	load_profile("nccl", &profile);
	okay(dist__profile_set(&profile, "tcp_us", 60));
	table = made("aws-1-gpu", "tcp", 1, &profile, rows);
	dist__profile_release(&profile);
	cr_expect_gt(fitted("tcp_us", &table, NULL, NULL), 32);
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].bytes > 4096)
			rows[i].time_us.value *= 10;
	cr_expect_gt(fitted("tcp_us", &table, NULL, NULL), 32);
	cr_expect_float_eq(fitted("net_share", &table, NULL, NULL), 0.9, 0.02);
}

/* ---- what comes with Lockstep ------------------------------------------ */

Test(population, the_profile_has_what_all_tables_come_to)
{
	const struct collectives *tables[128];
	static struct collectives loaded[128];
	struct population population = {.tables = tables};
	struct dist__profile profile, fit;
	const struct library_constant *constant;
	struct dist_message message;
	struct dist__files files = data_files("measured/collectives", ".tsv");

	cr_assert_lt(files.num, 128);
	for (size_t i = 0; i < files.num; i++) {
		okay(collectives_load(&loaded[i], files.paths[i], &message));
		tables[i] = &loaded[i];
	}
	population.num_tables = files.num;
	load_profile("nccl", &profile);
	load_profile("nccl", &fit);
	okay(population_fit(&population, "nccl", &fit));
	for (constant = library_fitted(&fit); constant->name; constant++) {
		double value = library_constant_value(&fit, constant);

		cr_expect_float_eq(library_constant_value(&profile, constant),
				   value, 0.01 * fabs(value), "%s: %g",
				   constant->name, value);
	}
	for (size_t i = 0; i < files.num; i++)
		dist__tsv_release(&loaded[i].tsv);
	dist__files_release(&files);
	dist__profile_release(&profile);
	dist__profile_release(&fit);
}
