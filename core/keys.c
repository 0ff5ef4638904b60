/* keys.c - what the rank's records say of a store that is not of ours. */
#include "check/record.h"
#include "core/state.h"
#include "lockstep/store.h"

static struct check_site take_site(struct dist_group *group)
{
	struct dist__site noted = dist__site_take(group);
	struct check_site site;

	check_site_set(&site, noted.file, noted.line);
	return site;
}

void dist_await_key(struct dist_group *group, const char *key,
		    int64_t timeout_ns)
{
	struct check_slot *slot;

	if (!group || !key)
		return;
	slot = group->place.slot;
	dist__rank_lock(group);
	if (slot->state != CHECK_RANK_WAITING) {
		const struct check_site site = take_site(group);

		(void)check_await_key(slot, "store_wait", key, timeout_ns, 0,
				      &site);
	}
	dist__rank_unlock(group);
}

void dist_await_key_end(struct dist_group *group, enum dist_error error)
{
	const struct check_call *call;
	struct check_slot *slot;

	if (!group)
		return;
	slot = group->place.slot;
	dist__rank_lock(group);
	call = check_call_find(slot, slot->waiting);
	if (call && call->tag == CHECK_TAG_STORE)
		check_await_key_end(slot, slot->waiting, (int32_t)error);
	dist__rank_unlock(group);
}

void dist_has_stored(struct dist_group *group, const char *key)
{
	struct check_site site;

	if (!group || !key)
		return;
	dist__rank_lock(group);
	site = take_site(group);
	check_store(group->place.slot, key, &site);
	dist__rank_unlock(group);
}
