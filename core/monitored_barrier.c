/* monitored_barrier.c - a barrier that names the ranks that did not come. */
#include "base/text.h"
#include "core/state.h"

#include <stdio.h>
#include <stdlib.h>

#undef dist_monitored_barrier

/* Writes "rank 2" or "ranks 2, 5, 7"; where they do not fit, the first. */
static void name_ranks(const bool *missing, int world_size, char *text,
		       size_t size)
{
	int count = 0;

	for (int rank = 0; rank < world_size; rank++)
		count += missing[rank];
	snprintf(text, size, count == 1 ? "rank" : "ranks");
	for (int rank = 0, named = 0; rank < world_size; rank++) {
		if (!missing[rank])
			continue;
		if (strlen(text) + 16 > size) {
			(void)dist__append(text, size, ", ...");
			return;
		}
		(void)dist__append(text, size, "%s %d", named++ ? "," : "",
				   rank);
	}
}

enum dist_error dist_monitored_barrier(struct dist_group *group,
				       int64_t timeout_ns, bool wait_all_ranks)
{
	struct dist__op request = {.kind = DIST__MONITORED_BARRIER,
				   .wait_all = wait_all_ranks,
				   .deadline_ns = timeout_ns,
				   .peer = -1,
				   .tag = -1};
	enum dist_error error;
	char names[256];
	bool any = false;

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (timeout_ns < 0)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "monitored_barrier: timeout_ns is %lld: "
				  "expected 0 or more",
				  (long long)timeout_ns);
	request.missing = calloc((size_t)group->members.world_size,
				 sizeof *request.missing);
	if (!request.missing)
		return DIST_ERR_NO_MEMORY;
	error = dist__submit(group, &request, NULL);
	for (int rank = 0; rank < group->members.world_size; rank++)
		any |= request.missing[rank];
	if (error && any) {
		name_ranks(request.missing, group->members.world_size, names,
			   sizeof names);
		(void)dist__fail(group, error,
				 "monitored_barrier: %s did not come: %s",
				 names, dist_error_string(error));
	}
	free(group->missing);
	group->missing = error && any ? request.missing : NULL;
	if (!group->missing)
		free(request.missing);
	return error;
}

int dist_monitored_barrier_missing(const struct dist_group *group, int *ranks,
				   int room)
{
	int count = 0;

	if (!group || !group->missing)
		return 0;
	for (int rank = 0; rank < group->members.world_size; rank++)
		if (group->missing[rank] && count++ < room)
			ranks[count - 1] = rank;
	return count;
}
