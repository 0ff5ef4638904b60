/* calibrate_advice.h - what to look at where measured times are not what their
 * machine can do, or what the model says. */
#ifndef LOCKSTEP_CLI_CALIBRATE_ADVICE_H
#define LOCKSTEP_CLI_CALIBRATE_ADVICE_H

#include "model/measured/collectives.h"
#include "model/measured/machine.h"

#define ADVICE_LINES 8

struct calibrate_advice {
	char lines[ADVICE_LINES][192];
	size_t num;
};

/*
 * calibrate_advise looks at the rows of a table: whether they carry more than
 * the links of machine, or much less, whether calibration ends at a bound,
 * whether the rows spread, and whether what the model says of them (error: the
 * median) is off. Lines that are there stay.
 */
void calibrate_advise(struct calibrate_advice *advice,
		      const struct machine *machine,
		      const struct collectives *table,
		      const struct calibration *calibration, double error);

#endif
