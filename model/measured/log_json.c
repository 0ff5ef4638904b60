/* log_json.c - the file that nccl-tests writes with -J, read as rows. */
#include "model/measured/log_json.h"

#include <string.h>

#include "model/measured/log_line.h"

/* Of numbers, which have six decimals. */
#define ROUNDING 5e-7

/* What reads the file, and where it is. */
struct reader {
	struct collectives *table;
	struct log_run *run;
	struct log_notes *notes;
	struct dist_message *message;
	size_t result; /* its place in results */
};

static enum dist_error refuse(const struct reader *r, const char *expected)
{
	return dist__tsv_refuse(&r->table->tsv, 1, r->message, "%s", expected);
}

static enum dist_error refuse_result(const struct reader *r,
				     const char *expected)
{
	return dist__tsv_refuse(&r->table->tsv, 1, r->message,
				"results[%zu]: %s", r->result, expected);
}

/* ---- rows ------------------------------------------------------------- */

static struct value_number number(const json_t *place, const char *key)
{
	const json_t *value = json_object_get(place, key);

	return (struct value_number){json_number_value(value), ROUNDING,
				     json_is_number(value)};
}

static enum dist_error read_place(const struct reader *r, const json_t *place,
				  const struct collective_row *all)
{
	struct collective_row *row;

	if (!place || json_is_null(place))
		return DIST_OK;
	if (json_object_get(place, "cpu_time"))
		return refuse_result(
			r, "times of the GPU: -C 1 reports the processor's");
	row = collectives_add(r->table, all, 1);
	if (!row)
		return DIST_ERR_NO_MEMORY;
	row->time_us = number(place, "time");
	row->algbw_GBps = number(place, "alg_bw");
	row->busbw_GBps = number(place, "bus_bw");
	if (row->time_us.value <= 0)
		return refuse_result(r, "a time above 0");
	if (json_number_value(json_object_get(place, "nwrong")) > 0)
		r->notes->wrong_rows++;
	return DIST_OK;
}

static enum dist_error read_result(const struct reader *r, const json_t *result)
{
	const json_t *size = json_object_get(result, "size");
	const char *type = json_string_value(json_object_get(result, "type"));
	struct collective_row row = {.memory = "device", .statistic = "mean"};
	enum dist_error error;

	if (!json_is_integer(size) || json_integer_value(size) < 0)
		return refuse_result(r, "a size in bytes");
	row.bytes = (size_t)json_integer_value(size);
	row.use = row.bytes > 0 ? VALUE_VALIDATION : VALUE_NEITHER;
	if (type)
		(void)log_type_find(type, &row.dtype);
	row.place = "out";
	error = read_place(r, json_object_get(result, "out_of_place"), &row);
	row.place = "in";
	return error ? error
		     : read_place(r, json_object_get(result, "in_place"), &row);
}

/* ---- the run ---------------------------------------------------------- */

static int count(const json_t *config, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(config, key));

	return value > 0 && value <= 1 << 12 ? (int)value : 1;
}

/* The list has the first rank of each process. */
static enum dist_error read_devices(const struct reader *r,
				    const json_t *config)
{
	const json_t *devices = json_object_get(config, "devices"), *device;
	size_t i;

	json_array_foreach(devices, i, device)
	{
		const json_t *host = json_object_get(device, "hostname");

		if (json_integer_value(json_object_get(device, "group")) > 0)
			return refuse(r, LOG_ONE_GROUP);
		if (!json_is_string(host))
			return refuse(r, "a hostname of each device");
		if (!log_run_add_host(r->run, json_string_value(host),
				      json_string_length(host)))
			return DIST_ERR_NO_MEMORY;
		if (!r->run->gpu)
			r->run->gpu = json_string_value(
				json_object_get(device, "device_info"));
	}
	r->run->process_ranks = count(config, "ngpus");
	r->run->listed = (int)json_array_size(devices) *
			 count(config, "nthreads") * r->run->process_ranks;
	return DIST_OK;
}

static void read_words(const struct reader *r, const json_t *document)
{
	const json_t *args = json_object_get(document, "args"), *word;
	const char *program = json_string_value(json_array_get(args, 0));
	static const char version[] = "\"nccl_version\":";
	char *code = strstr(r->table->tsv.text, version);
	size_t i;

	if (program)
		r->run->test = log_test_find(program, strlen(program));
	json_array_foreach(json_object_get(document, "env"), i, word)
	{
		if (json_is_string(word))
			log_run_note_forced(r->run, json_string_value(word));
	}
	if (code)
		r->run->version = log_version_of_code(
			code + strlen(version) +
			strspn(code + strlen(version), " "));
}

enum dist_error log_json_read(struct collectives *table, struct log_run *run,
			      struct log_notes *notes, json_t **document,
			      struct dist_message *message)
{
	struct reader r = {table, run, notes, message, 0};
	const json_t *results, *result;
	enum dist_error error;
	json_error_t wrong;

	*document = json_loads(table->tsv.text, 0, &wrong);
	if (!*document)
		return dist__tsv_refuse(&table->tsv, wrong.line, message,
					"the whole file of nccl-tests' -J: %s",
					wrong.text);
	results = json_object_get(*document, "results");
	if (!json_is_array(results))
		return refuse(&r, "results, as in the file of nccl-tests' -J");
	error = read_devices(&r, json_object_get(*document, "config"));
	if (!error)
		read_words(&r, *document);
	for (; !error && r.result < json_array_size(results); r.result++) {
		result = json_array_get(results, r.result);
		error = read_result(&r, result);
	}
	return error;
}
