#include "realbackend/wire/transport.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/backend.h"
#include "realbackend/wire/lane.h"
#include "realbackend/wire/mesh.h"
#include "realbackend/wire/progress.h"

/* How long leaving may take while a peer does not read what was sent. */
#define FLUSH_NS ((int64_t)1000000000)

/* So many messages at once need no memory but the stack's. */
#define EXCHANGE_FEW 16

struct tcp_transport {
	struct dist__transport base;
	struct dist__mesh mesh;
	void *meeting;
	void (*leave)(void *meeting);
	int64_t overslept_ns; /* by tcp_compute, not made up for yet */
};

static struct dist__mesh *mesh_of(struct dist__transport *transport)
{
	return &((struct tcp_transport *)transport)->mesh;
}

/* ---- posting ------------------------------------------------------------ */

static void request_init(struct dist__request *request,
			 const struct dist__message *m,
			 enum dist__request_kind kind)
{
	const struct dist__frame frame = dist__frame_of(m, DIST__FRAME_DATA);

	request->next = NULL;
	request->m = *m;
	request->kind = kind;
	request->error = DIST_OK;
	request->complete = false;
	request->counted = false;
	request->awaited = false;
	request->lent = false;
	request->cell = dist__pace_cell(m);
	request->written = 0;
	if (kind != DIST__REQUEST_SEND)
		return;
	dist__frame_encode(&frame, request->header);
	request->head = DIST__FRAME_BYTES;
	if (m->bytes == 0 || m->bytes > DIST__SHORT_BYTES)
		return;
	memcpy(request->header + request->head, m->data, m->bytes);
	request->head += m->bytes;
}

/* Dials a peer, and lets go on what is held for want of a receive. */
static void reach(struct dist__mesh *mesh, int rank)
{
	struct dist__peer *peer = &mesh->peers[rank];

	if (peer->state == DIST__PEER_IDLE)
		dist__handshake_dial(mesh, peer);
	else if (peer->connection)
		dist__connection_resume(mesh, peer->connection);
}

/* Of a receive from any source, all sources are dialled: what becomes of them
 * shows on a connection alone. */
static void post_receive(struct dist__mesh *mesh, struct dist__request *request)
{
	const struct dist__members *members = request->m.members;
	int peer = request->m.peer;

	if (!dist__matching_post(mesh, request))
		return;
	if (peer != DIST_ANY_SOURCE) {
		reach(mesh, peer);
		return;
	}
	for (int i = 0; i < members->world_size; i++)
		if (dist__global_rank(members, i) != mesh->rank)
			reach(mesh, dist__global_rank(members, i));
	dist__matching_any_lost(mesh);
}

/* Makes a request of m and posts it. On an error there is none. */
static enum dist_error post(struct dist__mesh *mesh,
			    struct dist__request *request,
			    const struct dist__message *m,
			    enum dist__request_kind kind)
{
	uint64_t completions = mesh->completions;
	struct dist__group_state *group = dist__matching_enter(mesh, m);
	enum dist_error error = DIST_OK;

	assert(m->peer >= 0 || (m->peer == DIST_ANY_SOURCE && m->tag >= 0 &&
				kind == DIST__REQUEST_RECEIVE));
	assert(m->peer < mesh->world_size && m->peer != mesh->rank);
	assert(m->data || !m->bytes);
	if (!group)
		return DIST_ERR_NO_MEMORY;
	if (group->aborted)
		return DIST_ERR_ABORTED;
	if (kind == DIST__REQUEST_SEND)
		error = dist__peer_refuses(&mesh->peers[m->peer], m->group);
	if (error)
		return error;
	request_init(request, m, kind);
	if (kind == DIST__REQUEST_SEND) {
		struct dist__peer *peer = &mesh->peers[request->m.peer];
		bool first = !peer->sends.first;

		dist__queue_append(&peer->sends, request);
		if (peer->state == DIST__PEER_IDLE)
			dist__handshake_dial(mesh, peer);
		else if (peer->state == DIST__PEER_OPEN && first)
			dist__connection_write(mesh, peer->connection);
	} else {
		post_receive(mesh, request);
	}
	dist__progress_posted(mesh->progress, request, completions);
	return DIST_OK;
}

static enum dist_error post_new(struct dist__transport *transport,
				const struct dist__message *m,
				enum dist__request_kind kind,
				struct dist__request **request)
{
	struct dist__mesh *mesh = mesh_of(transport);
	struct dist__request *fresh = malloc(sizeof *fresh);
	enum dist_error error;

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	/* It may start the background thread. */
	dist__transport_share(transport);
	pthread_mutex_lock(&mesh->mutex);
	error = post(mesh, fresh, m, kind);
	pthread_mutex_unlock(&mesh->mutex);
	if (error)
		free(fresh);
	else
		*request = fresh;
	return error;
}

static enum dist_error tcp_isend(struct dist__transport *transport,
				 const struct dist__message *m,
				 struct dist__request **request)
{
	return post_new(transport, m, DIST__REQUEST_SEND, request);
}

static enum dist_error tcp_irecv(struct dist__transport *transport,
				 const struct dist__message *m,
				 struct dist__request **request)
{
	return post_new(transport, m, DIST__REQUEST_RECEIVE, request);
}

/* ---- ending ------------------------------------------------------------- */

/* Waits for request, and takes it back if that is too long. */
static enum dist_error end(struct dist__mesh *mesh,
			   struct dist__request *request, int64_t deadline_ns)
{
	uint64_t completions;

	if (dist__progress_wait(mesh->progress, request, deadline_ns))
		return request->error;
	completions = mesh->completions;
	dist__request_withdraw(mesh, request);
	dist__progress_touched(mesh->progress, completions);
	return DIST_ERR_TIMEOUT;
}

static enum dist_error tcp_wait(struct dist__transport *transport,
				struct dist__request *request,
				int64_t deadline_ns)
{
	struct dist__mesh *mesh = mesh_of(transport);
	enum dist_error error;

	pthread_mutex_lock(&mesh->mutex);
	error = end(mesh, request, deadline_ns);
	pthread_mutex_unlock(&mesh->mutex);
	free(request);
	return error;
}

/* Sends n messages, or posts them to requests, the first that fails last;
 * stores how many were posted. */
static enum dist_error send_all(struct dist__mesh *mesh,
				struct dist__request *requests,
				const struct dist__message *messages, int n,
				int *posted)
{
	enum dist_error error = DIST_OK;

	*posted = 0;
	for (int i = 0; i < n && !error; i++) {
		if (dist__quick_send(mesh, &messages[i]))
			continue;
		error = post(mesh, &requests[*posted], &messages[i],
			     DIST__REQUEST_SEND);
		*posted += !error;
	}
	return error;
}

/* As send_all: receives. */
static enum dist_error receive_all(struct dist__mesh *mesh,
				   struct dist__request *requests,
				   const struct dist__message *messages, int n,
				   int *posted)
{
	bool few = n > 0 && n <= DIST__QUICK_MOST;
	uint64_t missing =
		few ? dist__quick_receive(mesh, messages, n) : UINT64_MAX;
	enum dist_error error = DIST_OK;

	*posted = 0;
	for (int i = 0; i < n && !error; i++) {
		if (few && !(missing >> i & 1))
			continue;
		error = post(mesh, &requests[*posted], &messages[i],
			     DIST__REQUEST_RECEIVE);
		*posted += !error;
	}
	return error;
}

/* Waits for n requests; once something failed the others have until now. */
static enum dist_error end_all(struct dist__mesh *mesh,
			       struct dist__request *requests, int n,
			       int64_t deadline_ns, enum dist_error error)
{
	enum dist_error one;

	for (int i = 0; i < n; i++) {
		one = end(mesh, &requests[i], error ? 0 : deadline_ns);
		error = error ? error : one;
	}
	return error;
}

/*
 * What goes is posted first: the peers get it while the rest is posted. A
 * thread that is the only one takes the mutex to wait with requests, no sooner:
 * giving it back takes until what was written is out of this processor.
 */
static enum dist_error tcp_exchange(struct dist__transport *transport,
				    const struct dist__message *in, int num_in,
				    const struct dist__message *out,
				    int num_out, int64_t deadline_ns)
{
	struct dist__mesh *mesh = mesh_of(transport);
	struct dist__request few[EXCHANGE_FEW], *requests = few;
	struct dist__request *receives;
	size_t n = (size_t)num_in + (size_t)num_out;
	enum dist_error error;
	int sent, received = 0;
	bool locked = !transport->single;

	if (n > EXCHANGE_FEW)
		requests = malloc(n * sizeof *requests);
	if (!requests)
		return DIST_ERR_NO_MEMORY;
	receives = requests + num_out;
	if (locked)
		pthread_mutex_lock(&mesh->mutex);
	mesh->alone = !locked;
	error = send_all(mesh, requests, out, num_out, &sent);
	if (!error)
		error = receive_all(mesh, receives, in, num_in, &received);
	mesh->alone = false;
	if (!locked && num_in + sent > 0)
		transport->waits++;
	if (!locked && sent + received > 0) {
		pthread_mutex_lock(&mesh->mutex);
		locked = true;
	}
	error = end_all(mesh, receives, received, deadline_ns, error);
	error = end_all(mesh, requests, sent, deadline_ns, error);
	if (locked)
		pthread_mutex_unlock(&mesh->mutex);
	if (requests != few)
		free(requests);
	return error;
}

static bool tcp_test(struct dist__transport *transport,
		     struct dist__request *request)
{
	struct dist__mesh *mesh = mesh_of(transport);
	bool complete = false, ours = false;

	if (request) {
		pthread_mutex_lock(&mesh->mutex);
		if (!request->complete)
			dist__progress_look(mesh->progress, request);
		complete = request->complete;
		ours = request->m.tag < 0;
		pthread_mutex_unlock(&mesh->mutex);
	}
	/* A loop around this call must not keep others from the processor that
	 * the answer needs. Ours look at more than one message, then rest. */
	if (!complete && !ours)
		sched_yield();
	return complete;
}

static void tcp_abort(struct dist__transport *transport, uint32_t group)
{
	struct dist__mesh *mesh = mesh_of(transport);
	uint64_t completions;

	pthread_mutex_lock(&mesh->mutex);
	completions = mesh->completions;
	dist__mesh_abort(mesh, group);
	for (int rank = 0; rank < mesh->world_size; rank++)
		if (mesh->peers[rank].state == DIST__PEER_OPEN)
			dist__connection_write(mesh,
					       mesh->peers[rank].connection);
	dist__progress_touched(mesh->progress, completions);
	pthread_mutex_unlock(&mesh->mutex);
}

static const char *tcp_words(struct dist__transport *transport)
{
	struct dist__mesh *mesh = mesh_of(transport);

	/* They are written once, under the lock. */
	pthread_mutex_lock(&mesh->mutex);
	pthread_mutex_unlock(&mesh->mutex);
	return mesh->text;
}

/* ---- clock -------------------------------------------------------------- */

static int64_t tcp_now_ns(struct dist__transport *transport)
{
	(void)transport;
	return dist__clock_ns();
}

/*
 * A device's time, slept. A busy processor wakes us late, which a device would
 * not notice: what one sleep runs over, the next ones make up for.
 */
static enum dist_error tcp_compute(struct dist__transport *transport,
				   int64_t duration_ns)
{
	struct tcp_transport *t = (struct tcp_transport *)transport;
	int64_t until_ns = dist__clock_after(duration_ns);
	struct timespec until;

	if (t->overslept_ns >= duration_ns) {
		t->overslept_ns -= duration_ns;
		return DIST_OK;
	}
	until_ns -= t->overslept_ns;
	until = dist__clock_timespec(until_ns);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
	t->overslept_ns = dist__clock_ns() - until_ns;
	return DIST_OK;
}

/* ---- leaving ------------------------------------------------------------ */

/* Whether anything is to be sent to peers in the states from `first` on that
 * can still get it. */
static bool has_sends(const struct dist__mesh *mesh,
		      enum dist__peer_state first)
{
	for (int rank = 0; rank < mesh->world_size; rank++)
		if (mesh->peers[rank].state >= first &&
		    mesh->peers[rank].state <= DIST__PEER_OPEN &&
		    (mesh->peers[rank].sends.first ||
		     mesh->peers[rank].lent.first))
			return true;
	return false;
}

/* Reads all that has come of peer, frame by frame. */
static void read_last(struct dist__mesh *mesh, struct dist__peer *peer,
		      int64_t deadline_ns)
{
	uint64_t before;

	do {
		if (peer->state != DIST__PEER_OPEN)
			return;
		before = mesh->moved;
		dist__connection_read(mesh, peer->connection);
	} while (mesh->moved != before && dist__clock_ns() < deadline_ns);
}

/* Writes what is queued, then goodbye; waits for slow readers only so long. */
static void say_goodbye(struct dist__mesh *mesh)
{
	int64_t deadline_ns = dist__clock_after(FLUSH_NS);

	for (int rank = 0; rank < mesh->world_size; rank++) {
		struct dist__peer *peer = &mesh->peers[rank];

		if (peer->state == DIST__PEER_OPEN &&
		    dist__request_control(peer, DIST__FRAME_BYE, 0))
			dist__connection_write(mesh, peer->connection);
	}
	while (has_sends(mesh, DIST__PEER_OPEN) &&
	       dist__clock_ns() < deadline_ns)
		dist__progress_until(mesh->progress, deadline_ns);
	/* Closing with something unread makes the kernel send a reset, which
	 * could overtake what the peer has not read yet. And a peer may have
	 * given up a collective after its first message. */
	for (int rank = 0; rank < mesh->world_size; rank++)
		read_last(mesh, &mesh->peers[rank], deadline_ns);
}

void dist__tcp_transport_leave(struct dist__transport *transport)
{
	struct dist__mesh *mesh = &((struct tcp_transport *)transport)->mesh;
	int64_t deadline_ns = dist__clock_after(FLUSH_NS);
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_mutex_timedlock(&mesh->mutex, &until))
		return;
	while (has_sends(mesh, DIST__PEER_IDLE) &&
	       dist__clock_ns() < deadline_ns)
		dist__progress_until(mesh->progress, deadline_ns);
	say_goodbye(mesh);
	pthread_mutex_unlock(&mesh->mutex);
}

static void mesh_release(struct dist__mesh *mesh)
{
	for (int rank = 0; mesh->peers && rank < mesh->world_size; rank++)
		dist__peer_end(mesh, &mesh->peers[rank], DIST__PEER_LOST,
			       DIST_ERR_ABORTED);
	for (size_t i = 0; i < mesh->num_connections; i++)
		dist__connection_kill(mesh, mesh->connections[i]);
	dist__connections_reap(mesh);
	if (mesh->peers)
		dist__matching_free(mesh);
	dist__progress_free(mesh->progress);
	for (int rank = 0; mesh->peers && rank < mesh->world_size; rank++)
		free(mesh->peers[rank].left_groups);
	close(mesh->listener);
	free(mesh->connections);
	free(mesh->groups);
	free(mesh->peers);
	free(mesh->secret);
	pthread_mutex_destroy(&mesh->mutex);
}

static enum dist_error tcp_free(struct dist__transport *transport)
{
	struct tcp_transport *tcp = (struct tcp_transport *)transport;
	struct dist__mesh *mesh = &tcp->mesh;
	bool untaken;

	dist__progress_stop(mesh->progress);
	pthread_mutex_lock(&mesh->mutex);
	say_goodbye(mesh);
	untaken = dist__matching_untaken(mesh);
	pthread_mutex_unlock(&mesh->mutex);
	mesh_release(mesh);
	if (tcp->meeting)
		tcp->leave(tcp->meeting);
	free(tcp);
	return untaken ? DIST_ERR_MISMATCH : DIST_OK;
}

static const struct dist__transport_ops tcp_ops = {
	.combines = true,
	.isend = tcp_isend,
	.irecv = tcp_irecv,
	.wait = tcp_wait,
	.exchange = tcp_exchange,
	.test = tcp_test,
	.now_ns = tcp_now_ns,
	.compute = tcp_compute,
	.lanes = &dist__lanes,
	.events = &dist__events,
	.abort = tcp_abort,
	.failure_text = tcp_words,
	.free = tcp_free,
};

/* ---- making ------------------------------------------------------------- */

static bool mesh_init(struct dist__mesh *mesh,
		      const struct dist__endpoint *endpoint)
{

	mesh->rank = endpoint->rank;
	mesh->world_size = endpoint->world_size;
	mesh->token = endpoint->token;
	mesh->shares = endpoint->shares;
	mesh->crowded = endpoint->crowded;
	mesh->keep_alive_ns = endpoint->keep_alive_ns;
	mesh->unexpected_most = endpoint->unexpected_bytes;
	mesh->pulse_ns = DIST_TIMEOUT_NEVER;
	mesh->listener = endpoint->listener;
	pthread_mutex_init(&mesh->mutex, NULL);
	mesh->peers = calloc((size_t)mesh->world_size, sizeof *mesh->peers);
	if (endpoint->secret)
		mesh->secret = strdup(endpoint->secret);
	if (!mesh->peers || (endpoint->secret && !mesh->secret))
		return false;
	for (int rank = 0; rank < mesh->world_size; rank++) {
		struct dist__peer *peer = &mesh->peers[rank];

		peer->rank = rank;
		peer->address = endpoint->addresses[rank];
		dist__queue_init(&peer->sends);
		dist__queue_init(&peer->lent);
		dist__queue_init(&peer->receives);
		dist__matching_init(peer);
	}
	dist__queue_init(&mesh->any_receives);
	return true;
}

enum dist_error dist__tcp_transport_new(const struct dist__endpoint *endpoint,
					struct dist__transport **transport)
{
	struct tcp_transport *tcp = calloc(1, sizeof *tcp);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (tcp && mesh_init(&tcp->mesh, endpoint))
		error = dist__progress_new(&tcp->mesh, endpoint->crowded,
					   &tcp->mesh.progress);
	if (!error) {
		tcp->base.ops = &tcp_ops;
		tcp->base.shares_memory = endpoint->all_share;
		tcp->base.single = true;
		tcp->meeting = endpoint->meeting;
		tcp->leave = endpoint->leave;
		*transport = &tcp->base;
		return DIST_OK;
	}
	if (tcp)
		mesh_release(&tcp->mesh);
	else
		close(endpoint->listener);
	if (endpoint->meeting)
		endpoint->leave(endpoint->meeting);
	free(tcp);
	return error;
}
