/* calibration_measure.h - measuring what model/loopback fits. */
#ifndef LOCKSTEP_CLI_CALIBRATION_MEASURE_H
#define LOCKSTEP_CLI_CALIBRATION_MEASURE_H

#include "model/loopback/calibration.h"

/* Passes: so many times as many batches of each measure. */
#define CALIBRATION_PASSES      3
#define CALIBRATION_MOST_PASSES 9

struct calibration_job {
	int world_size; /* 0: this process is one rank of a job */
	int passes;
	const char *intra, *bind_to; /* of the ranks; NULL: the environment's */
};

/* calibration_measure runs the ranks of job over TCP on this machine, or is one
 * rank of a job that has been started, and takes all measures. Returns one of
 * enum dist_exit; a failure has been reported. measures->world_size is 0 when
 * the measures are another process's: that of rank 0. */
int calibration_measure(const struct calibration_job *job,
			struct calibration_measures *measures);

#endif
