/* calibration.h - what the rows that are given away say of a model. */
#ifndef LOCKSTEP_MODEL_VALIDATION_CALIBRATION_H
#define LOCKSTEP_MODEL_VALIDATION_CALIBRATION_H

#include "model/validation/calibrated_model.h"

/*
 * calibration_take moves the constants of calibrated's profile, or its scales
 * where its library has none to move, by the rows for calibration of its
 * machine, network and library in the tables of models: the smallest and the
 * largest size that the model has a word on. Without such rows nothing moves.
 * Where the library refuses, calibrated has a refusal.
 */
void calibration_take(struct calibrated_model *calibrated,
		      const struct calibrated_models *models);

#endif
