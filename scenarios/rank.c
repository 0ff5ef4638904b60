#include "scenarios/rank.h"

#include <stdio.h>

enum dist_error rank_join(struct dist_group **group)
{
	struct dist_message message = {""};
	const struct dist_init_options options = {.message = &message};
	enum dist_error error = dist_init_process_group(&options, group);

	if (error)
		fprintf(stderr, "joining the group: %s\n",
			*message.text ? message.text
				      : dist_error_string(error));
	return error;
}

static bool verdict_speaks(enum dist_error error)
{
	switch (error) {
	case DIST_ERR_TIMEOUT:
	case DIST_ERR_MISMATCH:
	case DIST_ERR_DEADLOCK:
	case DIST_ERR_PEER_LOST:
	case DIST_ERR_ABORTED:
		return true;
	default:
		return false;
	}
}

static void say(int rank, const char *what, const char *text,
		enum dist_error error)
{
	if (verdict_speaks(error))
		return;
	fprintf(stderr, "rank %d: %s: %s\n", rank, what,
		*text ? text : dist_error_string(error));
}

int rank_leave(struct dist_group *group, const char *what,
	       enum dist_error error)
{
	int rank = dist_get_rank(group);
	enum dist_error end;

	if (error)
		say(rank, what, dist_error_message(group), error);
	end = dist_destroy_process_group(group);
	if (end && !error)
		say(rank, "leaving the group",
		    end == DIST_ERR_IO ? "its part of the trace cannot be "
					 "written"
				       : "",
		    end);
	return error || end;
}
