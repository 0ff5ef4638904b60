/* calibration.h - what the rows that are given away say of a basis. */
#ifndef LOCKSTEP_VALIDATION_CALIBRATION_H
#define LOCKSTEP_VALIDATION_CALIBRATION_H

#include "validation/basis.h"

/*
 * calibration_take moves the constants of basis's profile, or its scales where
 * its library has none to move, by the rows for calibration of its machine,
 * network and library in the tables of bases: the smallest and the largest size
 * that the model has a word on. Without such rows nothing moves. Where the
 * library refuses, basis has a refusal.
 */
void calibration_take(struct basis *basis, const struct bases *bases);

#endif
