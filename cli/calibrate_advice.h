/* calibrate_advice.h - hints when measured times do not fit the machine or the
 * model. */
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
 * calibrate_advise adds a line for each of these: the rows of table carry more
 * than the links of machine, or much less; calibration ends at a bound; the
 * rows spread; the median error of the model is large.
 */
void calibrate_advise(struct calibrate_advice *advice,
		      const struct machine *machine,
		      const struct collectives *table,
		      const struct calibration *calibration, double error);

#endif
