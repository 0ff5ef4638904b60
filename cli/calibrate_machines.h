/* calibrate_machines.h - the constants of the machines that come with Lockstep,
 * from the rows of its own tables that are declared as calibration. */
#ifndef LOCKSTEP_CLI_CALIBRATE_MACHINES_H
#define LOCKSTEP_CLI_CALIBRATE_MACHINES_H

/*
 * calibrate_machines writes DIR/NAME.yaml of each machine that has such rows,
 * or of the one of that name alone (NULL: all): its description with what they
 * say. A date stays where no constant moved. Returns one of enum dist_exit; a
 * failure has been reported.
 */
int calibrate_machines(const char *name, const char *dir);

#endif
