/*
 * formula.h - fidelity formula: a back end whose collectives take the time of
 * the model of the profile's library. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_FORMULA_H
#define LOCKSTEP_SIM_FORMULA_H

#include "sim/world.h"

/* dist__sim_formula_new is backend_new() of struct dist__world. */
enum dist_error dist__sim_formula_new(const struct dist__place *place,
				      const struct dist__members *members,
				      struct dist__backend **backend);

#endif
