#include "realbackend/store/roster.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/text.h"

void dist__roster_init(struct dist__roster *roster)
{
	memset(roster, 0, sizeof *roster);
}

void dist__roster_release(struct dist__roster *roster)
{
	free(roster->addresses);
	free(roster->here);
	memset(roster, 0, sizeof *roster);
}

__attribute__((format(printf, 2, 3))) static enum dist__roster_answer
fail(struct dist__roster *roster, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(roster->failure.text, sizeof roster->failure.text, format,
		  args);
	va_end(args);
	dist__printable(roster->failure.text);
	return DIST__ROSTER_FAILED;
}

/* Notes that the failure turns on rank, which is not below those before. */
static void blame(struct check_rendezvous_failure *failure, int64_t rank)
{
	if (failure->count < CHECK_ABSENT)
		failure->ranks[failure->count++] = (uint32_t)rank;
}

static bool open_roster(struct dist__roster *roster, int rank, int world_size)
{
	roster->addresses =
		calloc((size_t)world_size, sizeof *roster->addresses);
	roster->here = calloc((size_t)world_size, sizeof *roster->here);
	if (!roster->addresses || !roster->here) {
		dist__roster_release(roster);
		return false;
	}
	roster->world_size = world_size;
	roster->first = rank;
	return true;
}

enum dist__roster_answer dist__roster_join(struct dist__roster *roster,
					   int rank, int world_size,
					   const char *address)
{
	char *entry;

	if (roster->failure.text[0])
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
	if (rank < 0 || rank >= world_size) {
		blame(&roster->failure, rank);
		return fail(roster,
			    "a rank %d came to a world of %d: expected 0 to %d",
			    rank, world_size, world_size - 1);
	}
	entry = roster->addresses[rank];
	if (roster->complete)
		return roster->here[rank] ? DIST__ROSTER_REFUSED
					  : DIST__ROSTER_AGAIN;
	if (roster->here[rank]) {
		blame(&roster->failure, rank);
		return fail(roster,
			    "two ranks call themselves rank %d: one at %s, one "
			    "at %s",
			    rank, entry, address);
	}
	snprintf(entry, DIST__ADDRESS_TEXT, "%s", address);
	roster->here[rank] = true;
	roster->came++;
	roster->complete = roster->came == roster->world_size;
	return roster->complete ? DIST__ROSTER_COMPLETE : DIST__ROSTER_WAIT;
}

void dist__roster_leave(struct dist__roster *roster, int rank)
{
	if (rank < 0 || rank >= roster->world_size || !roster->here[rank])
		return;
	roster->here[rank] = false;
	roster->came--;
}

static void name_missing(struct dist__roster *roster)
{
	size_t size = sizeof roster->failure.text;
	char *text = roster->failure.text;
	const char *before = "";

	for (int rank = 0; rank < roster->world_size; rank++) {
		if (roster->here[rank])
			continue;
		blame(&roster->failure, rank);
		if (strlen(text) > size - 96) {
			(void)dist__append(text, size, ", ...");
			return;
		}
		(void)dist__append(text, size, "%s%d", before, rank);
		before = ", ";
	}
}

/* Fails the roster because, as why says, not all came. */
static void fall_short(struct dist__roster *roster, const char *why)
{
	(void)fail(roster, "%s%d of %d ranks came; missing: ", why,
		   roster->came, roster->world_size);
	name_missing(roster);
}

void dist__roster_late(struct dist__roster *roster)
{
	if (roster->failure.text[0] || roster->complete)
		return;
	fall_short(roster, "");
	if (roster->turned_away)
		(void)dist__append(
			roster->failure.text, sizeof roster->failure.text,
			"; turned away for another LOCKSTEP_SECRET, or none: "
			"%d",
			roster->turned_away);
}

void dist__roster_crowded(struct dist__roster *roster)
{
	char limit[DIST__LIMIT_TEXT], why[DIST__LIMIT_TEXT + 64];

	if (roster->failure.text[0] || roster->complete)
		return;
	dist__socket_limit(roster->world_size, limit);
	snprintf(why, sizeof why,
		 "rank 0 may open no more files (%s): ", limit);
	if (roster->world_size > 0)
		fall_short(roster, why);
	else
		(void)fail(roster, "%snobody could come", why);
}

void dist__roster_write(const struct dist__roster *roster, const char *token,
			struct dist__parcel *parcel)
{
	const struct check_rendezvous_failure *failure = &roster->failure;
	char number[16];

	if (failure->text[0]) {
		dist__parcel_init(parcel, DIST_ERR_RENDEZVOUS, 0);
		dist__parcel_add_text(parcel, failure->text);
		for (uint32_t i = 0; i < failure->count; i++) {
			snprintf(number, sizeof number, "%u",
				 failure->ranks[i]);
			dist__parcel_add_text(parcel, number);
		}
		return;
	}
	dist__parcel_init(parcel, DIST_OK, 0);
	dist__parcel_add_text(parcel, token);
	for (int rank = 0; rank < roster->world_size; rank++)
		dist__parcel_add_text(parcel, roster->addresses[rank]);
}

void dist__roster_heed(const struct dist__parcel *parcel,
		       struct check_rendezvous_failure *failure)
{
	struct dist__bytes string;
	size_t offset = 0;
	int64_t rank;

	(void)dist__parcel_next(parcel, &offset, &string);
	while (dist__parcel_next(parcel, &offset, &string))
		if (dist__bytes_number(string, &rank) && rank >= 0 &&
		    rank <= INT_MAX)
			blame(failure, rank);
}
