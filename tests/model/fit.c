/*
 * What the simulator makes of a calibration's fit: calls in which all wait for
 * all, one after the other, take what was measured. Of four ranks on two cores,
 * through memory: a call takes 200 ns, a send 100, a receive 200.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/loopback/calibration.h"
#include "tests/support/okay.h"

#define RANKS 4
#define TURNS 2
#define CALLS 100
#define ERROR 0.03 /* the first call waits for nobody of the one before */

static struct dist__sample exactly(double value)
{
	return (struct dist__sample){value, value, value, value, value};
}

static struct calibration_measures measures(double waits_ns)
{
	struct calibration_measures m = {
		.world_size = RANKS,
		.cores = RANKS / TURNS,
		.in_memory = true,
		.pair_message = exactly(200000),
		.reduce = exactly(70000),
		.one_way = exactly(26000),
		.call = exactly(200),
		.sends = exactly(200 + 3 * 100),
		.receives = exactly(200 + 3 * 200 + 200 + 100),
		.waits = exactly(waits_ns),
	};

	for (int i = 0; i < CALIBRATION_SIZES; i++) {
		double bytes = (double)calibration_bytes[i];

		m.exchange[i] = exactly(1600 + bytes / 4);
		m.sums[i] = exactly(3200 + bytes / 2);
		m.copies[i] = exactly(bytes / 16);
	}
	return m;
}

static int rank_main(void *arg)
{
	double *took_ns = arg;
	struct dist_group *group;
	enum dist_error error = DIST_OK;
	struct dist_tensor all = {NULL, 8 * RANKS, DIST_UINT8};
	int64_t start_ns;

	if (dist_init_process_group(NULL, &group))
		return 1;
	start_ns = dist_now_ns(group);
	for (int i = 0; i < CALLS && !error; i++)
		error = dist_all_to_all_single(group, all, all, NULL, NULL,
					       NULL);
	if (dist_get_rank(group) == 0)
		*took_ns = (double)(dist_now_ns(group) - start_ns) / CALLS;
	return dist_destroy_process_group(group) || error;
}

static void expect_simulated(double waits_ns)
{
	struct calibration_measures measured = measures(waits_ns);
	struct calibration_model model;
	struct dist_message message;
	char dir[] = "/tmp/lockstep-fit-XXXXXX", platform[64], profile[64];
	struct dist_launch_options options = {.backend = "sim",
					      .platform = platform,
					      .profile = profile,
					      .algorithm = "all_to_all=linear",
					      .world_size = RANKS};
	double took_ns = 0;

	calibration_fit(&measured, &model);
	cr_assert_not_null(mkdtemp(dir));
	snprintf(platform, sizeof platform, "%s/loopback.xml", dir);
	snprintf(profile, sizeof profile, "%s/loopback.yaml", dir);
	okay_or(calibration_write(dir, RANKS, &measured, &model, &message),
		message);
	cr_expect_eq(dist_launch(&options, rank_main, &took_ns), 0);
	unlink(platform);
	unlink(profile);
	rmdir(dir);
	cr_expect(fabs(took_ns / waits_ns - 1) <= ERROR,
		  "%.0f ns, simulated %.0f; a wait of %.0f ns", waits_ns,
		  took_ns, model.wait_ns);
}

Test(fit, simulates_short_waits_as_measured)
{
	expect_simulated(TURNS * (200 + 3 * 300) + 500);
}

Test(fit, simulates_long_waits_as_measured)
{
	expect_simulated(TURNS * (200 + 3 * 300) + 2500);
}
