#include "scenarios/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lockstep/measure.h"

enum dist_error waits_add(struct waits *waits, struct wait wait)
{
	return dist__array_add(&waits->list, &waits->num, &wait, sizeof wait)
		       ? DIST_OK
		       : DIST_ERR_NO_MEMORY;
}

int64_t wait_idle_ns(const struct wait *wait, int64_t peer_ns)
{
	int64_t until_ns = peer_ns < wait->to_ns ? peer_ns : wait->to_ns;

	return until_ns > wait->from_ns ? until_ns - wait->from_ns : 0;
}

enum dist_error waits_idle(const struct waits *waits, struct dist_group *group,
			   int64_t *idle_ns)
{
	enum dist_error error;
	int64_t *last_ns;

	if (waits->num == 0 || dist_get_world_size(group) < 2)
		return DIST_OK;
	last_ns = malloc(waits->num * sizeof *last_ns);
	if (!last_ns)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < waits->num; i++)
		last_ns[i] = waits->list[i].begun_ns;
	error = dist_all_reduce(dist_untimed(group),
				dist_tensor(last_ns, waits->num, DIST_INT64),
				DIST_MAX, NULL);
	for (size_t i = 0; !error && i < waits->num; i++)
		*idle_ns += wait_idle_ns(&waits->list[i], last_ns[i]);
	free(last_ns);
	return error;
}

void waits_release(struct waits *waits)
{
	free(waits->list);
	memset(waits, 0, sizeof *waits);
}
