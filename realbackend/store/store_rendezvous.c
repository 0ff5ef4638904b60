/*
 * store_rendezvous.c - every rank writes an entry to the store and increments a
 * count. The rank that completes the count, or that finds an error or runs out
 * of time, makes the roster of the entries and publishes it. The roster that is
 * published first counts for all ranks.
 *
 *	lockstep/jobs		number of jobs that met in this store: N
 *	lockstep/N/world_size	of the first rank, and its rank
 *	lockstep/N/rank/R	world size, address and proof of rank R
 *	lockstep/N/came		number of entries
 *	lockstep/N/roster	a parcel, see roster.h
 */
#include "realbackend/store/store_rendezvous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "realbackend/store/store.h"
#include "realbackend/store/environment.h"
#include "realbackend/store/roster.h"
#include "realbackend/wire/secret.h"

/* For the published roster to be seen by who published, or was too late. */
#define PROMPT_NS ((int64_t)5 * 1000000000)

#define MEETS_IN_STORE "rank that meets in a store"

/* A proof in hexadecimal, or "-": no secret. */
#define PROOF_TEXT (2 * DIST__PROOF_BYTES + 1)

struct entry {
	int world_size;
	char address[DIST__ADDRESS_TEXT]; /* "host port" */
	char proof[PROOF_TEXT];
};

struct meeting {
	struct dist_store *store; /* what is below lockstep/N */
	const struct dist__environment *e;
	struct entry self;
	struct dist__roster roster; /* as far as this rank knows */
};

/* ---- entries ------------------------------------------------------------ */

enum { ENTRY_TEXT = 256 };

static bool read_entry(const char *text, struct entry *entry)
{
	/* The widths are those of the fields, less the final 0. */
	return sscanf(text, "%d %64s %71[^\n]", &entry->world_size,
		      entry->proof, entry->address) == 3;
}

/* What rank must have for a proof. Errors: NO_MEMORY. */
static enum dist_error prove(int rank, char text[PROOF_TEXT])
{
	struct dist__claim claim = {.role = MEETS_IN_STORE,
				    .dialler = (uint32_t)rank};
	unsigned char proof[DIST__PROOF_BYTES];
	bool failed;
	char *secret = dist__secret_copy(&failed);

	strcpy(text, "-");
	if (!secret)
		return failed ? DIST_ERR_NO_MEMORY : DIST_OK;
	dist__secret_prove(secret, &claim, proof);
	for (int i = 0; i < DIST__PROOF_BYTES; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", proof[i]);
	free(secret);
	return DIST_OK;
}

/* ---- the roster --------------------------------------------------------- */

/* Publishes the roster, unless there is one. */
static enum dist_error publish(struct meeting *meeting)
{
	struct dist__store_request request = {.op = DIST__STORE_COMPARE_SET,
					      .key = dist__bytes_text("roster"),
					      .expected = dist__bytes_text("")};
	char token[DIST__TOKEN_TEXT] = "";
	struct dist__parcel parcel;
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (!dist__token_draw(token))
		return DIST_ERR_IO;
	dist__roster_write(&meeting->roster, token, &parcel);
	request.value = (struct dist__bytes){parcel.data, parcel.len};
	if (!parcel.failed)
		error = meeting->store->kind->ask(meeting->store, &request);
	if (!error)
		free((void *)request.found.data);
	dist__parcel_release(&parcel);
	return error;
}

/* Reads the entry of rank, if there is one, into the roster. */
static enum dist_error enrol(struct meeting *meeting, int rank)
{
	struct dist__store_request request = {.op = DIST__STORE_GET};
	char key[32], proof[PROOF_TEXT];
	enum dist_error error;
	struct entry entry;

	snprintf(key, sizeof key, "rank/%d", rank);
	request.key = dist__bytes_text(key);
	error = meeting->store->kind->ask(meeting->store, &request);
	if (error || !request.there)
		return error;
	error = prove(rank, proof);
	if (!error && !read_entry((const char *)request.found.data, &entry))
		error = DIST_ERR_IO;
	if (!error && strcmp(entry.proof, proof) != 0)
		dist__roster_distrust(&meeting->roster, rank, meeting->e->rank);
	if (!error)
		(void)dist__roster_join(&meeting->roster, rank,
					entry.world_size, entry.address);
	free((void *)request.found.data);
	return error;
}

/* Calls the roster of all who came, and publishes it. */
static enum dist_error conclude(struct meeting *meeting)
{
	enum dist_error error = DIST_OK;

	for (int rank = 0; rank < meeting->e->world_size && !error; rank++)
		error = enrol(meeting, rank);
	dist__roster_late(&meeting->roster);
	return error ? error : publish(meeting);
}

/* ---- joining ------------------------------------------------------------ */

/* Leaves what this rank says under key, where nobody else did: otherwise *other
 * is what is there, for the caller to free. */
static enum dist_error leave(struct meeting *meeting, const char *key,
			     const char *text, char **other)
{
	enum dist_error error;

	error = dist_store_compare_set(meeting->store, key, "", text, other,
				       NULL);
	if (!error && strcmp(*other, text) == 0) {
		free(*other);
		*other = NULL;
	}
	return error;
}

/* Holds this rank's world size against that of the first one. */
static enum dist_error compare_sizes(struct meeting *meeting)
{
	int rank = meeting->e->rank, first, world_size;
	char text[64], *other = NULL;
	enum dist_error error;

	snprintf(text, sizeof text, "%d %d", meeting->self.world_size, rank);
	error = leave(meeting, "world_size", text, &other);
	if (error || !other)
		return error;
	if (sscanf(other, "%d %d", &world_size, &first) != 2) {
		error = DIST_ERR_IO;
	} else if (world_size != meeting->self.world_size) {
		(void)dist__roster_join(&meeting->roster, first, world_size,
					"elsewhere");
		(void)dist__roster_join(&meeting->roster, rank,
					meeting->self.world_size,
					meeting->self.address);
		error = publish(meeting);
	}
	free(other);
	return error;
}

/* Leaves the entry of this rank; *taken: another has this number. */
static enum dist_error enter(struct meeting *meeting, bool *taken)
{
	char key[32], text[ENTRY_TEXT], *other = NULL;
	int rank = meeting->e->rank;
	enum dist_error error;
	struct entry entry;

	snprintf(key, sizeof key, "rank/%d", rank);
	snprintf(text, sizeof text, "%d %s %s", meeting->self.world_size,
		 meeting->self.proof, meeting->self.address);
	error = leave(meeting, key, text, &other);
	*taken = other != NULL;
	if (error || !other)
		return error;
	if (!read_entry(other, &entry)) {
		error = DIST_ERR_IO;
	} else {
		(void)dist__roster_join(&meeting->roster, rank,
					entry.world_size, entry.address);
		(void)dist__roster_join(&meeting->roster, rank,
					entry.world_size,
					meeting->self.address);
		error = publish(meeting);
	}
	free(other);
	return error;
}

/* Waits for the roster; the first one to be too late calls it. */
static enum dist_error await_roster(struct meeting *meeting,
				    struct dist__parcel *reply)
{
	char *value = NULL;
	enum dist_error error;
	size_t len = 0;

	error = dist__store_get_within(meeting->store, "roster",
				       meeting->e->timeout_ns, &value, &len);
	if (error == DIST_ERR_TIMEOUT) {
		error = conclude(meeting);
		if (!error)
			error = dist__store_get_within(meeting->store, "roster",
						       PROMPT_NS, &value, &len);
	}
	if (error)
		return error;
	*reply = (struct dist__parcel){
		.data = (unsigned char *)value, .len = len, .max = len};
	if (len >= DIST__PARCEL_HEADER &&
	    dist__parcel_wanted(reply, DIST__PARCEL_MAX_REPLY) == len &&
	    dist__parcel_valid(reply))
		return DIST_OK;
	dist__parcel_release(reply);
	return DIST_ERR_IO;
}

static enum dist_error join(struct meeting *meeting, struct dist_store *whole,
			    int64_t number, struct dist__parcel *reply)
{
	enum dist_error error;
	int64_t came = 0;
	bool taken = false;

	error = compare_sizes(meeting);
	if (!error)
		error = enter(meeting, &taken);
	if (!error && !taken)
		error = dist_store_add(meeting->store, "came", 1, &came);
	if (!error && came == meeting->self.world_size) {
		char before[24], after[24], *now = NULL;

		/* A job more has met here: the next one begins anew. */
		snprintf(before, sizeof before, "%lld", (long long)number);
		snprintf(after, sizeof after, "%lld", (long long)number + 1);
		error = dist_store_compare_set(whole, "lockstep/jobs", before,
					       after, &now, NULL);
		free(now);
		if (!error)
			error = conclude(meeting);
	}
	return error ? error : await_roster(meeting, reply);
}

enum dist_error dist__store_rendezvous_join(struct dist_store *store,
					    const struct dist__environment *e,
					    const char *address,
					    struct dist__parcel *reply)
{
	struct meeting meeting = {.e = e, .self.world_size = e->world_size};
	enum dist_error error;
	char prefix[40];
	int64_t number;

	snprintf(meeting.self.address, sizeof meeting.self.address, "%s",
		 address);
	error = prove(e->rank, meeting.self.proof);
	if (!error)
		error = dist_store_add(store, "lockstep/jobs", 0, &number);
	if (error)
		return error;
	snprintf(prefix, sizeof prefix, "lockstep/%lld", (long long)number);
	error = dist_prefix_store_new(prefix, store, &meeting.store);
	if (error)
		return error;
	dist__roster_init(&meeting.roster);
	error = join(&meeting, store, number, reply);
	dist__roster_release(&meeting.roster);
	dist_store_free(meeting.store);
	return error;
}

enum dist_error dist__store_rendezvous_is_over(struct dist_store *store,
					       bool *over)
{
	static const char *const keys[] = {"lockstep/0/roster"};

	return dist_store_check(store, keys, 1, over);
}
