/*
 * rendezvous.c - every rank opens a listener for its peers and sends its
 * address to the server at rank 0 (JOIN). The reply to that request has the
 * token of the job and the addresses of all ranks. After the address come the
 * transport that the rank wants within its machine, "shm" or "tcp", and the
 * number of its node, if a launcher set it.
 *
 * The ranks know where rank 0 serves (env://, tcp://), or rank 0 writes it to
 * a store that all share:
 *
 *	lockstep/jobs		number of jobs that met in this store: N
 *	lockstep/N/server	host and port
 */
#include "realbackend/store/rendezvous.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/refuse.h"
#include "base/text.h"
#include "realbackend/store/environment.h"
#include "realbackend/store/store.h"
#include "realbackend/store/roster.h"
#include "realbackend/store/store_client.h"
#include "realbackend/store/store_server.h"

/* What a rank's own wait goes on after the store should have told it. */
#define GRACE_NS ((int64_t)300 * 1000000)
/* Between two attempts to join while the job of before is ending. */
#define AGAIN_MS 5

/* The server of rank 0. */
struct door {
	const char *host;
	int port;
	bool awaited; /* it may not be there yet */
	int64_t deadline_ns;
	bool answered; /* it has told who is in the job, or why there is none */
	char text[DIST__ADDRESS_TEXT]; /* buffer that host may point to */
};

/* ---- the store of rank 0 ------------------------------------------------ */

/* The listener: the launcher's, which every store of this process uses again,
 * or one of our own. */
static enum dist_error open_store(const struct dist__environment *e,
				  int *listener, int *port,
				  struct dist_message *message)
{
	enum dist_error error;
	bool given = e->store_fd >= 0 &&
		     dist__socket_is_listening(e->store_fd) &&
		     dist__socket_port(e->store_fd) == e->master_port;

	if (given) {
		(void)dist__socket_cloexec(e->store_fd, true);
		*listener = dup(e->store_fd);
		if (*listener < 0 || !dist__socket_prepare(*listener))
			return DIST_ERR_IO;
		*port = e->master_port;
		return DIST_OK;
	}
	error = dist__socket_listen(e->master_addr, e->master_port, listener,
				    message);
	if (error)
		return error;
	dist__secret_warn(*listener);
	*port = dist__socket_port(*listener);
	if (e->master_port == 0)
		fprintf(stderr, "lockstep: store listening on %s:%d\n",
			e->master_addr, *port);
	return DIST_OK;
}

/* ---- joining ------------------------------------------------------------ */

/* Opens the listener for the peers on the host of address. */
static enum dist_error open_listener(const struct dist__environment *e,
				     struct dist__rendezvous *r,
				     struct dist__address address,
				     char text[DIST__ADDRESS_TEXT])
{
	if (dist__socket_listen_at(&address, &r->listener) != DIST_OK ||
	    !dist__socket_local(r->listener, &address))
		return DIST_ERR_IO;
	dist__socket_tune_local(r->listener);
	dist__address_format(&address, ' ', text);
	(void)dist__append(text, DIST__ADDRESS_TEXT, " %s",
			   e->shares ? "shm" : "tcp");
	if (e->group_rank >= 0)
		(void)dist__append(text, DIST__ADDRESS_TEXT, " %d",
				   e->group_rank);
	return DIST_OK;
}

/* Reads what open_listener() of a rank wrote; the number is -1 without one. */
static bool read_seat(char *text, struct dist__address *address, bool *shares,
		      int *group)
{
	char *space = strchr(text, ' ');
	char word[4];

	space = space ? strchr(space + 1, ' ') : NULL;
	*group = -1;
	if (!space || sscanf(space, " %3s %d", word, group) < 1)
		return false;
	*shares = strcmp(word, "shm") == 0;
	*space = '\0';
	return dist__address_parse(text, address);
}

static bool read_roster(const struct dist__parcel *reply, int world_size,
			struct dist__rendezvous *r)
{
	struct dist__bytes string;
	char text[DIST__ADDRESS_TEXT];
	size_t offset = 0;
	bool shares;

	if (!dist__parcel_next(reply, &offset, &string))
		return false;
	dist__bytes_copy(string, text, sizeof text);
	r->token = strtoull(text, NULL, 16);
	r->all_share = true;
	for (int rank = 0; rank < world_size; rank++) {
		if (!dist__parcel_next(reply, &offset, &string))
			return false;
		dist__bytes_copy(string, text, sizeof text);
		if (!read_seat(text, &r->addresses[rank], &shares,
			       &r->nodes[rank]))
			return false;
		r->all_share &= shares;
	}
	return true;
}

/* Takes in the answer to a rank that joined, and releases it. */
static enum dist_error take_answer(const struct dist__environment *e,
				   struct dist__rendezvous *r,
				   struct door *door,
				   struct dist__parcel *reply,
				   struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	door->answered = true;
	if (dist__parcel_code(reply) != DIST_OK) {
		dist__store_explain(reply, message);
		dist__roster_heed(reply, &r->failure);
		error = DIST_ERR_RENDEZVOUS;
	} else if (!read_roster(reply, e->world_size, r)) {
		error = DIST_ERR_IO;
	}
	dist__parcel_release(reply);
	return error;
}

static enum dist_error no_answer(const struct door *door, enum dist_error error,
				 struct dist_message *message)
{
	if (error != DIST_ERR_TIMEOUT && error != DIST_ERR_IO)
		return error;
	return dist__refuse_as(
		message, DIST_ERR_RENDEZVOUS,
		"rendezvous: the store at %.200s:%d %s", door->host, door->port,
		error == DIST_ERR_TIMEOUT
			? "did not answer in time; has rank 0 come?"
			: "hung up; rank 0 has ended or is no rank of ours");
}

/* Asks once. *again: the store still belongs to the job of before. */
static enum dist_error join_once(const struct dist__environment *e,
				 struct dist__rendezvous *r, struct door *door,
				 bool *again, struct dist_message *message)
{
	struct dist__parcel request, reply;
	char address[DIST__ADDRESS_TEXT], number[16];
	int64_t left_ns = door->deadline_ns - dist__clock_ns();
	struct dist__address local;
	enum dist_error error;

	/* By what this machine reaches the store: the others came the same
	 * way. */
	if (!dist__store_local(r->place.store, &local))
		return DIST_ERR_IO;
	error = open_listener(e, r, local, address);
	if (error)
		return error;
	dist__parcel_init(&request, DIST__STORE_JOIN,
			  left_ns > 0 ? left_ns : 0);
	snprintf(number, sizeof number, "%d", e->rank);
	dist__parcel_add_text(&request, number);
	snprintf(number, sizeof number, "%d", e->world_size);
	dist__parcel_add_text(&request, number);
	dist__parcel_add_text(&request, address);
	error = dist__store_call(r->place.store, &request,
				 dist__deadline_ns(door->deadline_ns, GRACE_NS),
				 &reply);
	dist__parcel_release(&request);
	*again = error == DIST_ERR_IO;
	if (error)
		return no_answer(door, error, message);
	*again = dist__parcel_code(&reply) == DIST__STORE_AGAIN;
	return take_answer(e, r, door, &reply, message);
}

void dist__rendezvous_leave(struct dist__rendezvous_place *place)
{
	dist__store_free(place->store);
	dist__store_server_stop(place->server);
	dist_store_free(place->file);
}

static void hang_up(struct dist__rendezvous *r)
{
	dist__store_free(r->place.store);
	if (r->listener >= 0)
		close(r->listener);
	r->place.store = NULL;
	r->listener = -1;
}

static enum dist_error join(const struct dist__environment *e,
			    struct dist__rendezvous *r, struct door *door,
			    struct dist_message *message)
{
	enum dist_error error;
	bool again;

	for (;;) {
		again = false;
		error = dist__store_connect(door->host, door->port,
					    door->awaited, door->deadline_ns,
					    &r->place.store, message);
		if (!error)
			error = join_once(e, r, door, &again, message);
		if (!again || dist__clock_ns() >= door->deadline_ns)
			return error;
		hang_up(r);
		poll(NULL, 0, AGAIN_MS);
	}
}

static enum dist_error meet_at_rank_0(const struct dist__environment *e,
				      struct dist__rendezvous *r,
				      struct dist_message *message)
{
	struct door door = {.host = e->master_addr,
			    .port = e->master_port,
			    .awaited = true};
	enum dist_error error = DIST_OK;

	if (e->rank == 0) {
		int listener = -1;

		error = open_store(e, &listener, &door.port, message);
		if (!error)
			error = dist__store_server_start(listener,
							 &r->place.server);
	}
	door.deadline_ns = dist__clock_after(e->timeout_ns);
	return error ? error : join(e, r, &door, message);
}

/* ---- in a store that others made ---------------------------------------- */

/* The address by which this host is known: as the store sees it, by its name,
 * or, where that leads nowhere, for this machine alone. */
static bool find_host(struct dist_store *store, struct dist__address *address)
{
	struct dist_message unread;
	char host[256] = "";

	if (dist__store_local_host(store, host, sizeof host))
		return dist__socket_resolve(host, 0, address, 1, &unread) == 1;
	if (gethostname(host, sizeof host - 1) == 0 &&
	    dist__socket_resolve(host, 0, address, 1, &unread) == 1 &&
	    dist__socket_can_bind(address))
		return true;
	return dist__socket_resolve("127.0.0.1", 0, address, 1, &unread) == 1;
}

/* Serves, and writes where to key, unless another rank 0 has done so. */
static enum dist_error open_door(struct dist_store *store, const char *key,
				 struct dist__rendezvous *r)
{
	char text[DIST__ADDRESS_TEXT], *first = NULL;
	struct dist__address address;
	enum dist_error error;
	int listener;

	if (!find_host(store, &address) ||
	    dist__socket_listen_at(&address, &listener) != DIST_OK)
		return DIST_ERR_IO;
	dist__secret_warn(listener);
	if (!dist__socket_local(listener, &address)) {
		close(listener);
		return DIST_ERR_IO;
	}
	dist__address_format(&address, ' ', text);
	error = dist__store_server_start(listener, &r->place.server);
	if (!error)
		error = dist_store_compare_set(store, key, "", text, &first,
					       NULL);
	free(first);
	return error;
}

/* Waits for what rank 0 writes to key, and stores it in *door. */
static enum dist_error find_door(struct dist_store *store, const char *key,
				 struct dist__rendezvous *r, struct door *door,
				 struct dist_message *message)
{
	int64_t left_ns = door->deadline_ns - dist__clock_ns();
	char *value, *space;
	enum dist_error error;
	size_t len;

	error = dist__store_get_within(store, key, left_ns > 0 ? left_ns : 0,
				       &value, &len);
	if (error == DIST_ERR_TIMEOUT) {
		r->failure.count = 1; /* rank 0 */
		return dist__refuse_as(message, DIST_ERR_RENDEZVOUS,
				       "rendezvous: rank 0 has not come to the "
				       "store that the ranks share");
	}
	if (error)
		return error;
	snprintf(door->text, sizeof door->text, "%s", value);
	free(value);
	space = strchr(door->text, ' ');
	if (!space)
		return DIST_ERR_IO;
	*space = '\0';
	door->host = door->text;
	door->port = atoi(space + 1);
	return DIST_OK;
}

/* Where the jobs that met in store before are number. */
static enum dist_error meet_as_job(const struct dist__environment *e,
				   struct dist__rendezvous *r,
				   struct dist_store *store, int64_t number,
				   struct door *door,
				   struct dist_message *message)
{
	char key[48], before[24], after[24];
	char *found = NULL;
	enum dist_error error = DIST_OK;

	snprintf(key, sizeof key, "lockstep/%lld/server", (long long)number);
	if (e->rank == 0)
		error = open_door(store, key, r);
	if (!error)
		error = find_door(store, key, r, door, message);
	if (!error)
		error = join(e, r, door, message);
	if (error)
		return error;
	/* Who comes back is in the next job, whoever has seen this one end. */
	snprintf(before, sizeof before, "%lld", (long long)number);
	snprintf(after, sizeof after, "%lld", (long long)number + 1);
	(void)!dist_store_compare_set(store, "lockstep/jobs", before, after,
				      &found, NULL);
	free(found);
	return DIST_OK;
}

static enum dist_error meet_in_store(const struct dist__environment *e,
				     struct dist__rendezvous *r,
				     struct dist_store *store, bool *answered,
				     struct dist_message *message)
{
	struct door door = {.deadline_ns = dist__clock_after(e->timeout_ns)};
	enum dist_error error;
	int64_t number;

	error = dist_store_add(store, "lockstep/jobs", 0, &number);
	if (!error)
		error = meet_as_job(e, r, store, number, &door, message);
	*answered = door.answered || r->failure.count > 0;
	if (!error || error == DIST_ERR_RENDEZVOUS)
		return error;
	snprintf(message->text, sizeof message->text,
		 "rendezvous: the store that the ranks share failed: %s",
		 dist_error_string(error));
	return error == DIST_ERR_TIMEOUT ? DIST_ERR_RENDEZVOUS : error;
}

static enum dist_error meet_in_file(const struct dist__environment *e,
				    struct dist__rendezvous *r,
				    struct dist_message *message)
{
	enum dist_error error;
	bool answered;

	error = dist__file_store_open(e->method.path, e->world_size,
				      e->timeout_ns, &r->place.file, message);
	if (error)
		return error;
	error = meet_in_store(e, r, r->place.file, &answered, message);
	if (error == DIST_ERR_RENDEZVOUS && !answered)
		(void)dist__append(message->text, sizeof message->text,
				   "; so says %.200s: if an earlier job wrote "
				   "it, delete the file",
				   e->method.path);
	return error;
}

/* ---- what follows from it ----------------------------------------------- */

/* Makes nodes of what the ranks said: those of one machine that have the same
 * number, so that two launchers on one machine stand for two. */
static void find_nodes(const struct dist__environment *e,
		       struct dist__rendezvous *r)
{
	for (int rank = e->world_size - 1; rank >= 0; rank--) {
		int node = 0;

		while (r->nodes[node] != r->nodes[rank] ||
		       !dist__address_same_host(&r->addresses[node],
						&r->addresses[rank]))
			node++;
		r->nodes[rank] = node;
	}
}

static void count_hosts(const struct dist__environment *e,
			struct dist__rendezvous *r)
{
	const struct dist__address *all = r->addresses;

	r->hosts = 0;
	r->local_ranks = 0;
	for (int rank = 0; rank < e->world_size; rank++) {
		int earlier = 0;

		r->local_ranks +=
			dist__address_same_host(&all[rank], &all[e->rank]);
		while (!dist__address_same_host(&all[earlier], &all[rank]))
			earlier++;
		r->hosts += earlier == rank;
	}
	if (e->local_world_size > 0)
		r->local_ranks = e->local_world_size;
}

/* A world of one: nobody to meet, but the same to give back. */
static enum dist_error meet_nobody(struct dist__rendezvous *r,
				   struct dist_message *message)
{
	enum dist_error error =
		dist__socket_listen("127.0.0.1", 0, &r->listener, message);

	if (!error && !dist__socket_local(r->listener, &r->addresses[0]))
		error = DIST_ERR_IO;
	return error;
}

enum dist_error dist__rendezvous_explain(const struct dist__environment *e,
					 enum dist_error error,
					 struct dist_message *message)
{
	char limit[DIST__LIMIT_TEXT];

	if (error != DIST_ERR_IO || errno != EMFILE)
		return error;
	dist__socket_limit(e->world_size, limit);
	return dist__refuse_as(
		message, DIST_ERR_RENDEZVOUS,
		"rendezvous: rank %d may open no more files (%s)", e->rank,
		limit);
}

enum dist_error dist__rendezvous_meet(const struct dist__environment *e,
				      struct dist__rendezvous *r,
				      struct dist_message *message)
{
	enum dist_error error;
	bool answered;

	memset(r, 0, sizeof *r);
	r->listener = -1;
	r->addresses = calloc((size_t)e->world_size, sizeof *r->addresses);
	r->nodes = calloc((size_t)e->world_size, sizeof *r->nodes);
	if (!r->addresses || !r->nodes) {
		free(r->addresses);
		free(r->nodes);
		return DIST_ERR_NO_MEMORY;
	}
	errno = 0;
	if (e->world_size == 1)
		error = meet_nobody(r, message);
	else if (e->method.kind == DIST__INIT_STORE)
		error = meet_in_store(e, r, e->store, &answered, message);
	else if (e->method.kind == DIST__INIT_FILE)
		error = meet_in_file(e, r, message);
	else
		error = meet_at_rank_0(e, r, message);
	if (!error) {
		count_hosts(e, r);
		find_nodes(e, r);
		return DIST_OK;
	}
	error = dist__rendezvous_explain(e, error, message);
	hang_up(r);
	dist__rendezvous_leave(&r->place);
	free(r->addresses);
	free(r->nodes);
	return error;
}
