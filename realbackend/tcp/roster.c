#include "realbackend/tcp/roster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dist__roster_init(struct dist__roster *roster)
{
	memset(roster, 0, sizeof *roster);
}

void dist__roster_release(struct dist__roster *roster)
{
	free(roster->addresses);
	memset(roster, 0, sizeof *roster);
}

__attribute__((format(printf, 2, 3))) static enum dist__roster_answer
fail(struct dist__roster *roster, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(roster->failure, sizeof roster->failure, format, args);
	va_end(args);
	return DIST__ROSTER_FAILED;
}

static bool open_roster(struct dist__roster *roster, int rank, int world_size)
{
	roster->addresses =
		calloc((size_t)world_size, sizeof *roster->addresses);
	if (!roster->addresses)
		return false;
	roster->world_size = world_size;
	roster->first = rank;
	return true;
}

enum dist__roster_answer dist__roster_join(struct dist__roster *roster,
					   int rank, int world_size,
					   const char *address)
{
	char *entry;

	if (roster->failure[0])
		return DIST__ROSTER_FAILED;
	if (world_size < 1 || world_size > DIST__ROSTER_MAX_WORLD)
		return fail(roster,
			    "rank %d says the world size is %d: expected 1 to "
			    "%d",
			    rank, world_size, DIST__ROSTER_MAX_WORLD);
	if (!roster->world_size && !open_roster(roster, rank, world_size))
		return fail(roster, "no memory for %d ranks", world_size);
	if (world_size != roster->world_size)
		return fail(roster,
			    "rank %d says the world size is %d, rank %d says "
			    "it is %d",
			    rank, world_size, roster->first,
			    roster->world_size);
	if (rank < 0 || rank >= world_size)
		return fail(roster,
			    "a rank %d came to a world of %d: expected 0 to %d",
			    rank, world_size, world_size - 1);
	entry = roster->addresses[rank];
	if (roster->complete)
		return entry[0] ? DIST__ROSTER_REFUSED : DIST__ROSTER_AGAIN;
	if (entry[0])
		return fail(roster,
			    "two ranks call themselves rank %d: one at %s, one "
			    "at %s",
			    rank, entry, address);
	snprintf(entry, DIST__ADDRESS_TEXT, "%s", address);
	roster->came++;
	roster->complete = roster->came == roster->world_size;
	return roster->complete ? DIST__ROSTER_COMPLETE : DIST__ROSTER_WAIT;
}

void dist__roster_leave(struct dist__roster *roster, int rank)
{
	if (rank < 0 || rank >= roster->world_size ||
	    !roster->addresses[rank][0])
		return;
	roster->addresses[rank][0] = '\0';
	roster->came--;
}

void dist__roster_distrust(struct dist__roster *roster, int rank, int judge)
{
	if (!roster->failure[0])
		(void)fail(roster,
			   "rank %d has another LOCKSTEP_SECRET than rank %d, "
			   "or one of them has none",
			   rank, judge);
}

static void name_missing(struct dist__roster *roster)
{
	size_t used, size = sizeof roster->failure;
	const char *before = "";

	for (int rank = 0; rank < roster->world_size; rank++) {
		if (roster->addresses[rank][0])
			continue;
		used = strlen(roster->failure);
		if (used > size - 96) {
			snprintf(roster->failure + used, size - used, ", ...");
			return;
		}
		snprintf(roster->failure + used, size - used, "%s%d", before,
			 rank);
		before = ", ";
	}
}

void dist__roster_late(struct dist__roster *roster)
{
	size_t used, size = sizeof roster->failure;

	if (roster->failure[0] || roster->complete)
		return;
	(void)fail(roster, "%d of %d ranks came; missing: ", roster->came,
		   roster->world_size);
	name_missing(roster);
	used = strlen(roster->failure);
	if (roster->turned_away)
		snprintf(roster->failure + used, size - used,
			 "; turned away for another LOCKSTEP_SECRET, or none: "
			 "%d",
			 roster->turned_away);
}

void dist__roster_tell(const struct dist__roster *roster, const char *token,
		       struct dist__parcel *parcel)
{
	if (roster->failure[0]) {
		dist__parcel_init(parcel, DIST_ERR_RENDEZVOUS, 0);
		dist__parcel_add_text(parcel, roster->failure);
		return;
	}
	dist__parcel_init(parcel, DIST_OK, 0);
	dist__parcel_add_text(parcel, token);
	for (int rank = 0; rank < roster->world_size; rank++)
		dist__parcel_add_text(parcel, roster->addresses[rank]);
}
