#include "model/loopback/calibration.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/output.h"

#define PATH_SIZE 4096

/* What the numbers hold for: the machine, in words without a date. */
static void describe_machine(char *text, size_t size)
{
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_congestion_control", "r");
	char control[32] = "unknown";
	struct utsname name = {.sysname = "?"};

	if (file) {
		if (fgets(control, sizeof control, file))
			control[strcspn(control, "\n")] = '\0';
		fclose(file);
	}
	(void)uname(&name);
	snprintf(text, size,
		 "%ld cores, %.16s %.40s %.16s, TCP congestion control %s",
		 sysconf(_SC_NPROCESSORS_ONLN), name.sysname, name.release,
		 name.machine, control);
}

static void write_config(struct dist__output *out)
{
	static const char *const props[][2] = {
		{"network/model", "CM02"},
		{"network/crosstraffic", "0"},
		{"network/TCP-gamma", "0"},
		{"network/latency-factor", "1"},
		{"network/bandwidth-factor", "1"},
		{"network/weight-S", "0"}};

	dist__output_text(out, "  <config id=\"General\">\n");
	for (size_t i = 0; i < sizeof props / sizeof props[0]; i++)
		dist__output_print(out, "    <prop id=\"%s\" value=\"%s\"/>\n",
				   props[i][0], props[i][1]);
	dist__output_text(out, "  </config>\n");
}

/* Comments in XML must not hold two dashes in a row. */
static void write_origin(struct dist__output *out, const char *machine,
			 const struct calibration_measures *m,
			 const struct calibration_model *model)
{
	const char *noisiest;

	dist__output_print(out,
			   "<!-- This machine's loopback, fitted for %d ranks "
			   "by lockstep calibrate\n"
			   "     Machine: %s.\n",
			   model->world_size, machine);
	dist__output_print(out,
			   "     Medians: round of a barrier %.2f us, half "
			   "round trip of one pair alone\n"
			   "     %.2f us, 1 MiB in a stream of one pair alone "
			   "%.2f us; all ranks at once %.3f GB/s.\n",
			   m->round.median / 1e3, m->half_trip.median / 1e3,
			   m->pair_message.median / 1e3,
			   model->capacity_Bps / 1e9);
	dist__output_print(out,
			   "     What is between two sizes misses the measured "
			   "exchanges by %.0f %% at most;\n"
			   "     the noisiest measure has an interquartile "
			   "range of %.0f %% of its median.\n",
			   model->residual * 100,
			   calibration_spread(m, &noisiest) * 100);
	dist__output_text(
		out, "     A message and its bytes take processor time, by the "
		     "profile, and next to no\n"
		     "     latency; a link carries what a core sends. -->\n");
}

/*
 * Every route is a private link up, the shared one, which carries what all
 * cores send, a private link down. The latency is spread evenly: a link without
 * any would share its bandwidth oddly. All ranks are on one node.
 */
static void write_platform(struct dist__output *out, int hosts,
			   const char *machine,
			   const struct calibration_measures *m,
			   const struct calibration_model *model)
{
	dist__output_text(out, "<?xml version='1.0'?>\n"
			       "<!DOCTYPE platform SYSTEM "
			       "\"https://simgrid.org/simgrid.dtd\">\n");
	write_origin(out, machine, m, model);
	dist__output_text(out, "<platform version=\"4.1\">\n");
	write_config(out);
	dist__output_print(out,
			   "  <cluster id=\"loopback\" prefix=\"rank-\" "
			   "suffix=\"\" radical=\"0-%d\"\n"
			   "           speed=\"1Gf\" bw=\"%.0fBps\" "
			   "lat=\"%.3fns\" sharing_policy=\"SPLITDUPLEX\"\n"
			   "           bb_bw=\"%.0fBps\" bb_lat=\"%.3fns\" "
			   "bb_sharing_policy=\"SHARED\">\n"
			   "    <prop id=\"node\" value=\"loopback\"/>\n"
			   "  </cluster>\n"
			   "</platform>\n",
			   hosts - 1, model->pair_Bps, model->latency_ns / 3,
			   model->cores * model->pair_Bps,
			   model->latency_ns / 3);
}

/* Where the numbers hold, and a sentence more about it. */
struct place {
	const char *name;
	const char *text;
	const char *note;
	size_t window_bytes; /* 0: no send waits for its receive */
};

static const struct place loopback = {
	"loopback", "on this machine's loopback",
	" The platform beside this file belongs to it.", 0};

/* What a connection may carry before its receiver has told of more: half of the
 * buffer that Linux gives it at first (tcp(7): tcp_rmem, tcp_adv_win_scale). */
static size_t first_window(void)
{
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_rmem", "r");
	size_t bytes = 131072; /* Linux's own default */

	if (file) {
		if (fscanf(file, "%*u %zu", &bytes) != 1)
			bytes = 131072;
		fclose(file);
	}
	return bytes / 2;
}

/* Of the largest that a core has alone the part of each rank that takes turns
 * on it; 0: the C library does not know. */
static size_t own_cache_bytes(const struct calibration_model *model)
{
	long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
	int turns = calibration_turns(model->world_size, model->cores);

	return bytes > 0 ? (size_t)bytes / (size_t)turns : 0;
}

static void write_rates(struct dist__output *out,
			const struct calibration_model *model)
{
	dist__output_text(out, "rates:\n");
	for (size_t i = 0; i < model->num_rates; i++) {
		const struct dist__rate *rate = &model->rates[i];

		dist__output_print(out, "  - {bytes: %zu, share: %.4g",
				   rate->bytes, rate->shares[DIST__LOAD]);
		if (rate->shares[DIST__CORE_LOAD] != rate->shares[DIST__LOAD])
			dist__output_print(out, ", core_share: %.4g",
					   rate->shares[DIST__CORE_LOAD]);
		if (model->in_memory)
			dist__output_print(out, ", sum_share: %.4g",
					   rate->shares[DIST__SUM]);
		if (model->cores > 0)
			dist__output_print(out, ", copy_share: %.4g",
					   rate->shares[DIST__COPY]);
		dist__output_text(out, "}\n");
	}
}

static void write_profile(struct dist__output *out, const struct place *place,
			  const char *machine,
			  const struct calibration_model *model)
{
	dist__output_print(
		out,
		"# Lockstep's own TCP back end %s, with the built-in\n"
		"# selection of algorithms. message_overhead_ns: time to issue "
		"a send of 8\n"
		"# bytes in a stream of 64. reduce_Bps: float32 sums of 1 MiB "
		"on %d ranks at\n"
		"# once. Medians of 21 batches.%s\n"
		"name: %s\n"
		"version: 1\n"
		"source: lockstep calibrate on %d ranks; %s\n"
		"message_overhead_ns: %.0f\n"
		"reduce_Bps: %.4g\n"
		"p2p: buffered\n",
		place->text, model->world_size, place->note, place->name,
		model->world_size, machine, model->overhead_ns,
		model->reduce_Bps);
	if (model->cores > 0)
		dist__output_print(out,
				   "receive_overhead_ns: %.0f\n"
				   "cores: %d\n"
				   "send_Bps: %.4g\n"
				   "receive_Bps: %.4g\n"
				   "copy_Bps: %.4g\n"
				   "intra: %s\n",
				   model->receive_ns, model->cores,
				   model->send_Bps, model->receive_Bps,
				   model->copy_Bps,
				   model->in_memory ? "shm" : "tcp");
	if (model->in_memory)
		dist__output_print(out,
				   "call_ns: %.0f\n"
				   "wait_ns: %.0f\n",
				   model->call_ns, model->wait_ns);
	dist__output_print(out, "window_bytes: %zu\n", place->window_bytes);
	write_rates(out, model);
	if (model->cores > 0)
		dist__output_print(out,
				   "rates_ranks: %d\n"
				   "cache_bytes: %zu\n",
				   model->world_size, own_cache_bytes(model));
}

enum dist_error calibration_write(const char *dir, int hosts,
				  const struct calibration_measures *measures,
				  const struct calibration_model *model,
				  struct dist_message *message)
{
	struct dist__output *platform = NULL, *profile = NULL;
	char path[PATH_SIZE], machine[160];
	enum dist_error error;

	describe_machine(machine, sizeof machine);
	snprintf(path, sizeof path, "%s/loopback.xml", dir);
	error = dist__output_open(path, &platform, message);
	if (error)
		return error;
	snprintf(path, sizeof path, "%s/loopback.yaml", dir);
	error = dist__output_open(path, &profile, message);
	if (error) {
		dist__output_abandon(platform);
		return error;
	}
	write_platform(platform, hosts, machine, measures, model);
	write_profile(profile, &loopback, machine, model);
	error = dist__output_close(platform, message);
	if (error)
		dist__output_abandon(profile);
	else
		error = dist__output_close(profile, message);
	return error;
}

enum dist_error calibration_write_wire(const char *dir,
				       const struct calibration_model *model,
				       struct dist_message *message)
{
	const struct place wire = {"wire", "between hosts", "", first_window()};
	struct dist__output *profile = NULL;
	char path[PATH_SIZE], machine[160];
	enum dist_error error;

	describe_machine(machine, sizeof machine);
	snprintf(path, sizeof path, "%s/wire.yaml", dir);
	error = dist__output_open(path, &profile, message);
	if (error)
		return error;
	write_profile(profile, &wire, machine, model);
	return dist__output_close(profile, message);
}
