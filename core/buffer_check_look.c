/* buffer_check_look.c - compares memory in use at each of the rank's calls, so
 * that a change can be placed between two of them. */
#include "core/buffer_check.h"

#include "core/shadow_copy.h"
#include "core/buffer_check_state.h"

/* What one call looks at, at most. */
#define MOST_REGIONS 16
#define MOST_BYTES   ((size_t)1 << 20)

static const char *change_now(const struct dist__region *region)
{
	return dist__shadow_copy_change(region->holding, region->tensor.data,
					dist__tensor_bytes(&region->tensor));
}

const char *dist__region_change(const struct dist__region *region)
{
	return region->changed ? region->changed : change_now(region);
}

/* Whether the memory of watch must be what it was: nobody aborted it. */
static bool is_held(const struct dist__buffer_check *watch)
{
	if (watch->ended || watch->released || watch->blocks ||
	    watch->group->poison)
		return false;
	return !dist__op_is_done(watch->op) || !watch->op->error;
}

void dist__buffer_check_look(const struct dist_group *group,
			     const struct dist__site *site)
{
	struct dist__buffer_check *w = group->root->last_watch;
	size_t regions = 0, bytes = 0;

	if (group->place.debug < DIST__DEBUG_DETAIL || !site->file)
		return;
	for (; w && regions < MOST_REGIONS; w = w->before) {
		if (!is_held(w))
			continue;
		for (size_t i = 0; i < w->num_regions; i++) {
			struct dist__region *region = &w->regions[i];

			if (region->guard || region->changed)
				continue;
			regions++;
			bytes += dist__tensor_bytes(&region->tensor);
			if (regions > MOST_REGIONS || bytes > MOST_BYTES)
				return;
			dist__region_lift(w, region, true);
			region->changed = change_now(region);
			dist__region_lift(w, region, false);
			if (region->changed)
				region->until = *site;
			else
				region->calm = *site;
		}
	}
}
