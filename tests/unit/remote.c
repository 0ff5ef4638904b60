/* What a rank writes down about remote calls. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "check/record.h"
#include "lockstep/types.h"

static struct check_slot *slot_of(void)
{
	struct check_slot *slot = calloc(1, sizeof *slot);

	cr_assert(slot);
	check_rpc_join(slot, 0, 0, 2, "ps");
	return slot;
}

Test(remote, a_call_is_queued_runs_and_is_gone)
{
	struct check_slot *slot = slot_of();
	uint32_t place = check_rpc_queue(slot, 1, 7, "add", 10);
	const struct check_serving *serving = &slot->remote.servings[place];

	cr_expect_eq(serving->state, CHECK_SERVING_QUEUED);
	cr_expect_eq(serving->caller, 1);
	cr_expect_eq(serving->call, 7);
	check_rpc_run(slot, place, 11);
	cr_expect_eq(serving->state, CHECK_SERVING_RUNNING);
	cr_expect_eq(serving->since_ns, 11);
	check_rpc_served(slot, place);
	cr_expect_eq(serving->state, CHECK_SERVING_NONE);
	cr_expect_eq(slot->remote.served, 1);
	free(slot);
}

Test(remote, what_finds_no_room_is_counted)
{
	struct check_slot *slot = slot_of();
	uint32_t place = 0;

	for (int i = 0; i <= CHECK_SERVINGS; i++)
		place = check_rpc_queue(slot, 1, 1 + (uint64_t)i, "add", 10);
	cr_expect_eq(place, CHECK_NOWHERE);
	cr_expect_eq(slot->remote.servings_unknown, 1);
	check_rpc_run(slot, place, 11);
	check_rpc_served(slot, place);
	cr_expect_eq(slot->remote.servings_unknown, 0);
	check_rpc_served(slot, 3);
	cr_expect_eq(check_rpc_queue(slot, 1, 99, "add", 12), 3);
	free(slot);
}

Test(remote, a_failed_wait_stays_until_its_thread_goes_on)
{
	struct check_slot *slot = slot_of();
	struct check_rpc_wait wait = {.by = CHECK_BY_OWN, .worker = 1};
	uint32_t place = check_rpc_wait(slot, &wait);
	const struct check_rpc_wait *first = &slot->remote.waits[place];

	cr_expect_eq(first->state, CHECK_WAITS_STILL);
	check_rpc_wait_end(slot, place, DIST_ERR_TIMEOUT, 5);
	cr_expect_eq(first->state, CHECK_WAIT_FAILED);
	wait.by = 0;
	cr_expect_neq(check_rpc_wait(slot, &wait), place);
	cr_expect_eq(first->state, CHECK_WAIT_FAILED);
	wait.by = CHECK_BY_OWN;
	cr_expect_eq(check_rpc_wait(slot, &wait), place);
	check_rpc_wait_end(slot, place, DIST_OK, 6);
	cr_expect_eq(first->state, CHECK_WAIT_NONE);
	free(slot);
}
