/* calibration_measure.h - the measurements that model/loopback fits. */
#ifndef LOCKSTEP_CLI_CALIBRATION_MEASURE_H
#define LOCKSTEP_CLI_CALIBRATION_MEASURE_H

#include "model/loopback/calibration.h"

/* Passes over all measures; each pass repeats the batches of each. */
#define CALIBRATION_PASSES      3
#define CALIBRATION_MOST_PASSES 9

struct calibration_job {
	int world_size; /* 0: this process is one rank of a job */
	int passes;
	int attempts; /* at most, until one is quiet; a rank of a job makes 1 */
	const char *intra, *bind_to; /* of the ranks; NULL: the environment's */
};

/* calibration_measure takes all measures: it runs the ranks of job over TCP on
 * this machine, or is one rank of a running job. Returns one of enum dist_exit;
 * a failure has been reported. Only the process of rank 0 gets the measures; in
 * others measures->world_size is 0. */
int calibration_measure(const struct calibration_job *job,
			struct calibration_measures *measures);

#endif
