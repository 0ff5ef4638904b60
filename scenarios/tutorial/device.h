/* device.h - the time that computing takes. */
#ifndef LOCKSTEP_TUTORIAL_DEVICE_H
#define LOCKSTEP_TUTORIAL_DEVICE_H

#include <string.h>

#include "lockstep/dist.h"

/*
 * device_spend lets duration_ns pass on a simulated rank's clock, for what the
 * rank has just computed: that itself takes no simulated time, and the time it
 * really took would be another one in every run. In a real world it has passed
 * already. Errors: dist_compute's.
 */
DIST_MUST_CHECK static inline enum dist_error
device_spend(struct dist_group *group, double duration_ns, const char *label)
{
	if (strcmp(dist_get_backend(group), "sim") != 0)
		return DIST_OK;
	return dist_compute(group, (int64_t)duration_ns, label);
}

#endif
