/* calibrate_machines.h - constants of the machines that come with Lockstep,
 * fitted to the rows of its tables that are marked for calibration. */
#ifndef LOCKSTEP_CLI_CALIBRATE_MACHINES_H
#define LOCKSTEP_CLI_CALIBRATE_MACHINES_H

/*
 * calibrate_machines writes DIR/NAME.yaml of each machine with such rows, or
 * only of the machine `name` (NULL: all): its description with the constants.
 * The date changes only with a constant. Returns one of enum dist_exit; a
 * failure has been reported.
 */
int calibrate_machines(const char *name, const char *dir);

#endif
