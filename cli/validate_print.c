/* validate_print.c - errors by table: for people, as JSON, and row by row for
 * plots. */
#include <math.h>
#include <string.h>

#include "cli/validate.h"
#include "model/validation/population.h"

/* Not known where there are no rows. */
static struct dist__cell percent(const struct accuracy *accuracy,
				 double fraction)
{
	return cell_percent(accuracy->num ? fraction : NAN);
}

#define ACCURACY_COLUMNS "rows;median|median %;p90|p90 %;worst|worst %;"
#define CELLS_OF_ACCURACY(a)                                                   \
	cell_size((a)->num), percent(a, (a)->median), percent(a, (a)->p90),    \
		percent(a, (a)->worst)

/* ---- collectives ------------------------------------------------------- */

static struct dist__cell good(const struct accuracy *all, bool blind)
{
	return cell_text(!all->num                      ? NULL
			 : accuracy_is_good(all, blind) ? "yes"
							: "no");
}

/* For people a table of which no row could be predicted is left out. */
static struct dist__rows errors_of(const struct validate *validate,
				   bool with_empty)
{
	static const char columns[] =
		"name|table;" ACCURACY_COLUMNS
		"median_to_32KiB|to 32 KiB;median_to_64MiB|to 64 "
		"MiB;median_above|above;fit_median|fit median %;fit_p90|fit "
		"p90 %;good;choices|;left_out|";
	static const char blind_columns[] =
		"name|table;" ACCURACY_COLUMNS
		"blind_median|blind median %;blind_p90|blind p90 "
		"%;no_fabric_median|no fabric median %;no_fabric_p90|no fabric "
		"p90 %;fit_median|fit median %;fit_p90|fit p90 %;good|blind "
		"good";
	struct dist__rows table = {.columns = validate->is_blind ? blind_columns
								 : columns};
	char choices[512];

	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *of = &validate->tables[i];
		const struct accuracy *in = of->ranges, *fit = &of->fit;

		if (of->outcome.num == 0 &&
		    !(with_empty && of->wanted && !of->is_steps))
			continue;
		if (validate->is_blind) {
			const struct accuracy *blind = of->blind_errors;

			ADD_ROW(&table, cell_text(of->name),
				CELLS_OF_ACCURACY(&in[ACCURACY_ALL]),
				percent(&blind[0], blind[0].median),
				percent(&blind[0], blind[0].p90),
				percent(&blind[1], blind[1].median),
				percent(&blind[1], blind[1].p90),
				percent(fit, fit->median),
				percent(fit, fit->p90), good(&blind[0], true));
			continue;
		}
		outcome_choices(&of->outcome, choices, sizeof choices);
		ADD_ROW(&table, cell_text(of->name),
			CELLS_OF_ACCURACY(&in[ACCURACY_ALL]),
			percent(&in[0], in[0].median),
			percent(&in[1], in[1].median),
			percent(&in[2], in[2].median),
			percent(fit, fit->median), percent(fit, fit->p90),
			good(&in[ACCURACY_ALL], false), cell_copy(choices),
			cell_size(of->outcome.left_out.num));
	}
	return table;
}

/* The calls of profiles, predicted and measured. */
static struct dist__rows calls_of(const struct validate *validate)
{
	struct dist__rows table = {
		.columns = "name|profile;collective;bytes;ranks;nodes;calls;"
			   "measured_us|measured us;predicted_us|predicted us;"
			   "ratio|predicted / measured;algorithm;protocol"};

	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *of = &validate->tables[i];

		for (size_t r = 0; of->is_profile && r < of->outcome.num; r++) {
			const struct outcome_row *row = &of->outcome.rows[r];
			const struct collective_row *measured = row->row;

			ADD_ROW(&table, cell_text(of->name),
				cell_text(
					collective_name(measured->collective)),
				cell_size(measured->bytes),
				cell_int(measured->ranks),
				cell_int(measured->nodes),
				cell_size(measured->iterations),
				cell_fixed(1, measured->time_us.value),
				cell_fixed(1, row->predicted_us),
				cell_fixed(2, row->predicted_us /
						      measured->time_us.value),
				cell_text(row->algorithm),
				cell_text(*row->protocol ? row->protocol
							 : NULL));
		}
	}
	return table;
}

/* From which size on the ring beats the tree. */
static struct dist__rows crossovers_of(const struct validate *validate)
{
	struct dist__rows table = {
		.columns = "name|table;predicted_MiB|predicted "
			   "MiB;measured_MiB|measured MiB;ratio",
		.unknown = "none"};

	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *of = &validate->tables[i];
		struct crossover at;
		double predicted, measured;

		if (!crossover_find(&of->outcome, &at))
			continue;
		predicted = at.predicted_bytes > 0 ? at.predicted_bytes : NAN;
		measured = at.measured_bytes > 0 ? at.measured_bytes : NAN;
		ADD_ROW(&table, cell_text(of->name),
			cell_number(CELL_REAL, 3, predicted / (1 << 20)),
			cell_number(CELL_REAL, 3, measured / (1 << 20)),
			cell_fixed(2, predicted / measured));
	}
	return table;
}

/* ---- steps ------------------------------------------------------------- */

/* The bound on the median error of a schedule. */
static double goal_of(enum stream_schedule schedule)
{
	return stream_overlaps(schedule) ? 0.12 : 0.07;
}

/* What all tables of steps say together. */
struct steps_summary {
	size_t parts, good; /* schedules of tables, and those within bounds */
	struct step_order order;
};

static void add_steps(struct dist__rows *table, const struct validate_table *of,
		      bool is_blind, struct steps_summary *sum)
{
	struct step_order order = step_outcome_order(&of->step_outcome);

	sum->order.pairs += order.pairs;
	sum->order.right += order.right;
	for (int s = 0; s < STREAM_SCHEDULES; s++) {
		enum stream_schedule schedule = (enum stream_schedule)s;
		const struct accuracy *part = &of->schedules[s];
		const struct accuracy *blind = &of->blind_schedules[s];
		bool holds = part->median <= goal_of(schedule);

		if (!part->num)
			continue;
		sum->parts++;
		sum->good += holds;
		if (is_blind)
			ADD_ROW(table, cell_text(of->name),
				cell_text(stream_schedule_name(schedule)),
				CELLS_OF_ACCURACY(part),
				percent(blind, blind->median),
				percent(blind, blind->p90));
		else
			ADD_ROW(table, cell_text(of->name),
				cell_text(stream_schedule_name(schedule)),
				CELLS_OF_ACCURACY(part),
				cell_number(CELL_PERCENT, 0, goal_of(schedule)),
				cell_text(holds ? "yes" : "no"));
	}
}

static void print_steps_summary(const struct steps_summary *sum, FILE *out)
{
	if (sum->parts == 0)
		return;
	fprintf(out,
		"\nSteps: %zu of %zu schedules of tables hold their bound by "
		"median",
		sum->good, sum->parts);
	if (sum->order.pairs > 0)
		fprintf(out,
			"; of %zu pairs of schedules that differ by more than "
			"two standard deviations the faster one is predicted "
			"right in %zu",
			sum->order.pairs, sum->order.right);
	fputs(".\n", out);
}

/* ---- constants --------------------------------------------------------- */

static enum dist_error load(const char *library, struct dist__profile *profile)
{
	struct dist_message ignored;

	dist__profile_init(profile);
	return dist__profile_find(profile, library, &ignored);
}

/* Adds the rows of one library; as: its profile, fit: as all tables say. */
static void add_library(const struct validate *validate, const char *library,
			const struct dist__profile *as,
			const struct dist__profile *fit,
			struct dist__rows *table)
{
	const struct library_constant *constant = library_fitted(as);

	for (; constant->name; constant++) {
		double low = INFINITY, high = -INFINITY;

		if (constant->spread == 0 ||
		    !isfinite(library_constant_value(as, constant)))
			continue;
		for (size_t i = 0; i < validate->blind[0].num; i++) {
			const struct calibrated_model *model =
				validate->blind[0].all[i];
			double value = library_constant_value(&model->profile,
							      constant);

			if (strcmp(model->profile.name, as->name) != 0)
				continue;
			low = fmin(low, value);
			high = fmax(high, value);
		}
		ADD_ROW(table, cell_text(library), cell_copy(constant->name),
			cell_real(constant->start),
			cell_real(library_constant_value(as, constant)),
			cell_real(library_constant_value(fit, constant)),
			cell_real(low), cell_real(high));
	}
}

/* The constants that no source states: their values before the fit, in the
 * profile, fitted to all tables, and the range when one machine at a time is
 * left out. No rows unless is_blind. */
static struct dist__rows constants_of(const struct validate *validate)
{
	static const char *const libraries[] = {"nccl", "openmpi", "mpich",
						"gloo"};
	const struct population population = {
		.tables = validate->models.tables,
		.num_tables = validate->models.num_tables};
	struct dist__rows table = {
		.columns = "library;constant;start;profile;all_tables|all "
			   "tables;least|least without one;most|most without "
			   "one"};

	for (size_t i = 0;
	     validate->is_blind && i < sizeof libraries / sizeof libraries[0];
	     i++) {
		struct dist__profile as, fit;

		if (load(libraries[i], &as) == DIST_OK &&
		    load(libraries[i], &fit) == DIST_OK &&
		    library_fitted(&as)) {
			if (population_fit(&population, libraries[i], &fit))
				table.failed = true;
			else
				add_library(validate, libraries[i], &as, &fit,
					    &table);
		}
		dist__profile_release(&as);
		dist__profile_release(&fit);
	}
	return table;
}

/* ---- lists ------------------------------------------------------------- */

/* A list of one line each, below its lead. */
struct list {
	const char *lead;
	bool markdown;
	bool begun;
	FILE *out;
};

/* Begins a line with a name. */
static void begin_item(struct list *list, const char *name)
{
	if (!list->begun)
		fprintf(list->out, "\n%s:\n\n", list->lead);
	list->begun = true;
	fprintf(list->out, "%s%s", list->markdown ? "- " : "", name);
}

static void print_choices(const struct validate *validate, struct list list)
{
	char text[512];

	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *table = &validate->tables[i];

		outcome_choices(&table->outcome, text, sizeof text);
		if (!text[0])
			continue;
		begin_item(&list, table->name);
		fprintf(list.out, ": %s\n", text);
	}
}

static void print_model(const struct calibrated_model *model, struct list *list)
{
	const struct calibration *calibration = model->calibration;
	const struct calibrated_key *key = &model->key;
	char text[256];

	begin_item(list, key->machine);
	fprintf(list->out,
		", %s, %s%s%s: ", key->transport ? key->transport : "one node",
		key->library, key->version ? " " : "",
		key->version ? key->version : "");
	for (size_t i = 0; i < calibration->num_constants; i++)
		fprintf(list->out, "%s %.4g, ", calibration->constants[i].name,
			calibration->constants[i].value);
	library_calibration_describe(calibration, text, sizeof text);
	fprintf(list->out, "%s\n", text);
}

static void print_left_out(const struct validate *validate, struct list list)
{
	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *table = &validate->tables[i];
		const struct left_out *left_out =
			table->is_steps ? &table->step_outcome.left_out
					: &table->outcome.left_out;

		for (size_t r = 0; r < left_out->num_reasons; r++) {
			begin_item(&list, table->name);
			fprintf(list.out, ": %zu rows: %s\n",
				left_out->reasons[r].num,
				left_out->reasons[r].text);
		}
	}
}

static void print_lists(const struct validate *validate, bool markdown,
			FILE *out)
{
	struct list moved = {"Constants of machines", markdown, false, out};

	print_choices(validate,
		      (struct list){"What the libraries are predicted to "
				    "choose, to which size",
				    markdown, false, out});
	for (size_t i = 0; i < validate->models.num; i++)
		if (validate->models.all[i]->calibration)
			print_model(validate->models.all[i], &moved);
	print_left_out(validate,
		       (struct list){"Left out", markdown, false, out});
}

/* ---- the whole --------------------------------------------------------- */

static void print_range(const struct validate_summary *summary,
			enum accuracy_range range, const char *text, FILE *out)
{
	if (summary->ranges[range].num)
		fprintf(out, ", %s %.1f %%", text,
			100 * summary->ranges[range].median);
}

static void print_summary(const struct validate_summary *summary, FILE *out)
{
	const struct accuracy *all = &summary->ranges[ACCURACY_ALL];

	if (!summary->tables)
		return;
	fprintf(out,
		"\nCollectives: %zu of %zu tables hold median <= %g %% and p90 "
		"<= %g %%. Medians over tables: median %.1f %%, p90 %.1f %%",
		summary->good, summary->tables, 100 * ACCURACY_GOOD_MEDIAN,
		100 * ACCURACY_GOOD_P90, 100 * all->median, 100 * all->p90);
	print_range(summary, ACCURACY_SMALL, "median to 32 KiB", out);
	print_range(summary, ACCURACY_MIDDLE, "to 64 MiB", out);
	print_range(summary, ACCURACY_LARGE, "above", out);
	fprintf(out,
		". The fit of two numbers that has seen the rows: median %.1f "
		"%%, p90 %.1f %%.\n",
		100 * summary->fit.median, 100 * summary->fit.p90);
}

static void print_blind(const struct validate *validate,
			const struct validate_summary *summary, FILE *out)
{
	const struct accuracy *machine = &summary->blind[0];
	const struct accuracy *fabric = &summary->blind[1];

	if (!validate->is_blind || !machine->num)
		return;
	fprintf(out,
		"Blind, each table's machine left out of every constant: "
		"median %.1f %%, p90 %.1f %%; %zu of %zu tables hold %g %% and "
		"%g %%. Its kind of network left out too: median %.1f %%, p90 "
		"%.1f %%.\n",
		100 * machine->median, 100 * machine->p90, summary->blind_good,
		machine->num, 100 * ACCURACY_BLIND_MEDIAN,
		100 * ACCURACY_BLIND_P90, 100 * fabric->median,
		100 * fabric->p90);
	if (!isnan(summary->held[0]))
		fprintf(out,
			"Intervals, of other machines' errors: %.0f %% of the "
			"rows lie within them, on machines with rows of their "
			"own %.0f %%, of steps %.0f %%.\n",
			100 * summary->held[0], 100 * summary->held[1],
			100 * summary->held[2]);
}

static json_t *summary_json(const struct validate_summary *summary,
			    const struct steps_summary *sum)
{
	static const char *const held[] = {
		"in_interval", "own_rows_in_interval", "steps_in_interval"};
	const struct accuracy *all = &summary->ranges[ACCURACY_ALL];
	const struct accuracy *blind = summary->blind;
	json_t *object = json_pack(
		"{sI sI sf sf sf sf sI sf sf sf sf sI sI sI sI}", "tables",
		(json_int_t)summary->tables, "good", (json_int_t)summary->good,
		"median", all->median, "p90", all->p90, "fit_median",
		summary->fit.median, "fit_p90", summary->fit.p90, "blind_good",
		(json_int_t)summary->blind_good, "blind_median",
		blind[0].median, "blind_p90", blind[0].p90, "no_fabric_median",
		blind[1].median, "no_fabric_p90", blind[1].p90, "schedules",
		(json_int_t)sum->parts, "good_schedules", (json_int_t)sum->good,
		"pairs", (json_int_t)sum->order.pairs, "pairs_right",
		(json_int_t)sum->order.right);

	for (int i = 0; object && i < 3; i++)
		if (!isnan(summary->held[i]))
			json_object_set_new(object, held[i],
					    json_real(summary->held[i]));
	return object;
}

int validate_print(const struct validate *validate,
		   const struct validate_summary *summary, enum dist__form form,
		   FILE *out)
{
	struct dist__section sections[] = {
		{"tables", "", errors_of(validate, form == FORM_JSON)},
		{"calls", "Calls of the profile:", calls_of(validate)},
		{"crossovers", "From which size on the ring beats the tree:",
		 crossovers_of(validate)},
		{"steps",
		 "",
		 {.columns = validate->is_blind
				     ? "name|steps;schedule;" ACCURACY_COLUMNS
				       "blind_median|blind median "
				       "%;blind_p90|blind p90 %"
				     : "name|steps;schedule;" ACCURACY_COLUMNS
				       "bound|bound %;good"}},
		{"constants", "Constants that no source states, fitted:",
		 constants_of(validate)},
	};
	struct dist__rows *errors = &sections[0].table;
	struct steps_summary sum = {.parts = 0};
	int failed = 0;

	for (size_t i = 0; i < validate->num; i++)
		add_steps(&sections[3].table, &validate->tables[i],
			  validate->is_blind, &sum);
	/* No empty line goes before the first. */
	if (form != FORM_JSON && errors->num_rows > 0) {
		failed = dist__rows_print(errors, form, out);
		dist__rows_release(errors);
	}
	failed |= dist__sections_print(
		sections, sizeof sections / sizeof *sections,
		form == FORM_JSON ? json_pack("{so}", "summary",
					      summary_json(summary, &sum))
				  : NULL,
		form, out);
	if (form == FORM_JSON)
		return failed;
	print_steps_summary(&sum, out);
	print_lists(validate, form == FORM_MARKDOWN, out);
	print_summary(summary, out);
	print_blind(validate, summary, out);
	return failed;
}

/* ---- row by row --------------------------------------------------------- */

static void add_rows(struct dist__rows *table, const struct validate_table *of)
{
	const struct outcome *blind = &of->blind[VALIDATE_NO_MACHINE];
	size_t b = 0; /* the same row in blind, which may lack some */

	for (size_t i = 0; i < of->outcome.num; i++) {
		const struct outcome_row *row = &of->outcome.rows[i];
		double measured_us = row->row->time_us.value, blind_us = NAN;

		if (b < blind->num && blind->rows[b].row == row->row)
			blind_us = blind->rows[b++].predicted_us;

		ADD_ROW(table, cell_text(of->name),
			cell_text(row->row->library),
			cell_text(collective_name(row->row->collective)),
			cell_int(row->row->ranks), cell_size(row->row->bytes),
			cell_text(row->algorithm),
			cell_text(*row->protocol ? row->protocol : NULL),
			cell_real(row->predicted_us), cell_real(measured_us),
			cell_real(row->predicted_us / measured_us),
			cell_real(row->fit_us > 0 ? row->fit_us : NAN),
			cell_real(blind_us));
	}
}

/* Steps have the library "steps", their model as algorithm and no bytes. */
static void add_step_rows(struct dist__rows *table,
			  const struct validate_table *of)
{
	for (size_t i = 0; i < of->step_outcome.num; i++) {
		const struct step_outcome_row *row = &of->step_outcome.rows[i];

		ADD_ROW(table, cell_text(of->name), cell_text("steps"),
			cell_text(stream_schedule_name(row->schedule)),
			cell_int(row->row->gpus), cell_int(CELL_UNKNOWN),
			cell_text(row->row->model), cell_text(NULL),
			cell_real(1e3 * row->predicted_ms),
			cell_real(1e3 * row->measured_ms),
			cell_real(row->predicted_ms / row->measured_ms),
			cell_real(NAN), cell_real(NAN));
	}
}

enum dist_error validate_write_tsv(const struct validate *validate,
				   const char *path,
				   struct dist_message *message)
{
	struct dist__rows table = {
		.columns = "table;library;what;ranks;bytes;algorithm;protocol;"
			   "predicted_us;measured_us;ratio;fit_us;blind_us"};

	for (size_t i = 0; i < validate->num; i++) {
		add_rows(&table, &validate->tables[i]);
		add_step_rows(&table, &validate->tables[i]);
	}
	return dist__rows_write(&table, NULL, path, message);
}
