#include "realbackend/wire/progress.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/wait.h"
#include "realbackend/wire/mesh.h"

/* The background thread looks this often whether it is needed... */
#define TICK_NS ((int64_t)250000)
/* ...and falls asleep for good after so many looks in vain. Short blocking
 * calls in a row thus wake it once, not once each. */
#define IDLE_TICKS 8

/* While it spins, a waiting thread tries the connection that counts, and polls
 * all of them once in so many looks: one system call each time, not two. With
 * something to write on any of them it polls all each time. */
#define LOOKS_A_POLL 8

/* A look at a socket calls the system, and takes as long as so many looks at
 * memory. */
#define SOCKET_LOOK 16

/* Bytes of another process's memory that a peer reads in a ns, at least. */
#define READ_RATE 8

/* While nothing moves a waiting thread looks again and again for so long before
 * it blocks, for to be woken up takes another 30 us, and more where somebody
 * else has the processor: several round trips, and long enough for the next
 * rank to have its turn, in which it may copy a MiB. */
#define SPIN_NS ((int64_t)200000)

/* Who gives the processor away to another process gets it back when that one's
 * time is over, some ms later; who blocks is woken up much sooner. So once it
 * took longer than taken_ns a waiting thread blocks instead, for so long. */
#define SHUN_NS ((int64_t)100000000)

/* How patient it is: it gives the processor away once in so many looks at
 * memory, and for a short message so often before it makes a request. While the
 * peer reads what it was lent it looks on, where that takes no longer than
 * reading_ns. */
struct patience {
	int64_t reading_ns, taken_ns;
	unsigned looks, turns;
};

/* With a processor for each rank of the machine. Now and then it goes all the
 * same: they may have been put on one. */
static const struct patience own = {
	.reading_ns = 1000000, .taken_ns = 500000, .looks = 256};
/* With more ranks than processors: they take it from each other, while they
 * copy or add up for some ms, too. Who takes it for longer is none of them. */
static const struct patience shared = {
	.taken_ns = 8000000, .looks = 1, .turns = 16};

/* What one thread polls. Entry 0 is the wake-up event, 1 the listener. */
struct poller {
	struct pollfd *fds;
	struct dist__connection **who;
	size_t max;
	size_t num;
};

struct dist__progress {
	struct dist__mesh *mesh;
	const struct patience *patience;
	int64_t shuns_until_ns; /* it gives no processor away before */
	unsigned followers;
	unsigned polling; /* threads in look(): connections stay allocated */
	unsigned looks;   /* at one request, by who does not wait for it */
	bool led;         /* a thread other than the background one leads, */
	bool led_idly;    /* which waits for what may come at any time: */
	bool claimed;     /* another waits for what it needs, and will lead */
	int wake;         /* an event */
	bool woken;       /* it has happened */
	struct poller front, back;

	pthread_t background;
	pthread_cond_t needed; /* to the background thread */
	bool started, asleep, stopping;
};

/* ---- polling ------------------------------------------------------------ */

static void kick(struct dist__progress *p)
{
	if (p->woken || !p->polling)
		return;
	p->woken = true;
	(void)eventfd_write(p->wake, 1);
}

static bool reserve(struct poller *poller, size_t wanted)
{
	size_t max = poller->max;

	return dist__array_room(&poller->fds, &max, wanted,
				sizeof *poller->fds) &&
	       dist__array_room(&poller->who, &poller->max, wanted,
				sizeof(struct dist__connection *));
}

static short events_of(const struct dist__connection *connection)
{
	switch (connection->state) {
	case DIST__CONNECTING:
		return POLLOUT;
	case DIST__CONNECTED:
		if (connection->shared)
			return POLLIN;
		return (short)((connection->held_until_ns ? 0 : POLLIN) |
			       (connection->peer->sends.first ? POLLOUT : 0));
	default:
		return POLLIN;
	}
}

static void gather(struct dist__progress *p, struct poller *poller,
		   int64_t now_ns)
{
	struct dist__mesh *mesh = p->mesh;
	size_t n = 2;

	/* Without memory those that fit are polled. */
	(void)reserve(poller, mesh->num_connections + 2);
	poller->fds[0] = (struct pollfd){.fd = p->wake, .events = POLLIN};
	poller->fds[1] = (struct pollfd){
		.fd = dist__handshake_accepts(mesh, now_ns) ? mesh->listener
							    : -1,
		.events = POLLIN};
	for (size_t i = 0; i < mesh->num_connections && n < poller->max; i++) {
		struct dist__connection *connection = mesh->connections[i];

		if (connection->state == DIST__DEAD)
			continue;
		poller->who[n] = connection;
		poller->fds[n++] = (struct pollfd){
			.fd = connection->fd, .events = events_of(connection)};
	}
	mesh->stale = false;
	poller->num = n;
}

static void serve(struct dist__mesh *mesh, struct dist__connection *connection,
		  short events)
{
	if (connection->state == DIST__CONNECTING) {
		dist__handshake_connected(mesh, connection);
		return;
	}
	if (connection->state == DIST__GREETING ||
	    connection->state == DIST__STRANGER) {
		dist__handshake_read(mesh, connection);
		return;
	}
	if (dist__connection_shares(connection)) {
		dist__connection_bell(mesh, connection);
		dist__connection_read(mesh, connection);
		return;
	}
	/* The peer is gone: what it sent will not wait in the socket. */
	if (connection->state != DIST__DEAD && (events & (POLLHUP | POLLERR)))
		dist__connection_resume(mesh, connection);
	if (connection->state != DIST__DEAD && (events & ~POLLOUT))
		dist__connection_read(mesh, connection);
	if (connection->state == DIST__CONNECTED && (events & POLLOUT))
		dist__connection_write(mesh, connection);
}

static void handle(struct dist__progress *p, struct poller *poller)
{
	struct dist__mesh *mesh = p->mesh;

	if (poller->fds[0].revents) {
		eventfd_t times;

		(void)eventfd_read(p->wake, &times);
		p->woken = false;
	}
	for (size_t i = 2; i < poller->num; i++)
		if (poller->fds[i].revents)
			serve(mesh, poller->who[i], poller->fds[i].revents);
	if (poller->fds[1].revents)
		dist__handshake_accept(mesh);
	dist__neighbours_serve(mesh);
}

static int64_t next_timer(const struct dist__mesh *mesh)
{
	int64_t handshake_ns = dist__handshake_timer(mesh);
	int64_t next_ns = dist__connection_timer(mesh);

	if (handshake_ns < next_ns)
		next_ns = handshake_ns;
	return mesh->pulse_ns < next_ns ? mesh->pulse_ns : next_ns;
}

/*
 * Polls once, until deadline_ns at most, and serves what is ready. The mutex is
 * released meanwhile. The background thread leaves everything to a leader that
 * has come up since, the wake-up event included.
 */
static void look(struct dist__progress *p, struct poller *poller,
		 int64_t deadline_ns)
{
	struct dist__mesh *mesh = p->mesh;
	int64_t timer_ns = next_timer(mesh);
	int64_t now_ns = deadline_ns ? dist__clock_ns() : 0;
	int ready, timeout_ms = 0;

	gather(p, poller, now_ns);
	if (deadline_ns && dist__neighbours_sleep(mesh))
		timeout_ms = dist__clock_poll_ms(
			timer_ns < deadline_ns ? timer_ns : deadline_ns);
	p->polling++;
	pthread_mutex_unlock(&mesh->mutex);
	ready = poll(poller->fds, (nfds_t)poller->num, timeout_ms);
	pthread_mutex_lock(&mesh->mutex);
	if (poller == &p->front || !p->led) {
		if (deadline_ns)
			dist__neighbours_wake(mesh);
		if (ready > 0)
			handle(p, poller);
		else
			dist__neighbours_serve(mesh);
		if (timer_ns != DIST_TIMEOUT_NEVER) {
			now_ns = dist__clock_ns();
			dist__handshake_timeouts(mesh, now_ns);
			dist__connection_timeouts(mesh, now_ns);
			dist__pulse_check(mesh, now_ns);
		}
	}
	if (--p->polling == 0)
		dist__connections_reap(mesh);
}

/* ---- waiting ------------------------------------------------------------ */

/* Tries the one connection that counts for request: often the answer is there
 * already, and this saves the poll. A send of lent memory waits to be told that
 * the peer has read it. Returns the price, in looks at memory. */
static unsigned look_directly(struct dist__mesh *mesh,
			      const struct dist__request *request)
{
	struct dist__connection *connection;
	struct dist__peer *peer;
	unsigned price;

	if (request->m.peer == DIST_ANY_SOURCE)
		return SOCKET_LOOK;
	peer = &mesh->peers[request->m.peer];
	connection = peer->connection;
	if (peer->state != DIST__PEER_OPEN)
		return SOCKET_LOOK;
	price = dist__connection_shares(connection) ? 1 : SOCKET_LOOK;
	if (request->kind == DIST__REQUEST_RECEIVE || request->lent)
		dist__connection_read(mesh, connection);
	else
		dist__connection_write(mesh, connection);
	/* What comes may wait for what goes. */
	if (mesh->stuck)
		dist__neighbours_write(mesh);
	return price;
}

/* The leader leaves. What the background thread polls for is its own again. */
static void step_down(struct dist__progress *p)
{
	p->led = p->led_idly = false;
	p->mesh->awaited = NULL;
	if (p->polling && !dist__neighbours_sleep(p->mesh))
		kick(p);
	if (p->followers)
		pthread_cond_broadcast(&p->mesh->announced);
}

/* Whether something waits until a socket takes it. */
static bool is_writing(const struct dist__mesh *mesh)
{
	for (size_t i = 0; i < mesh->num_connections; i++)
		if (events_of(mesh->connections[i]) & POLLOUT)
			return true;
	return false;
}

/* Leaves the processor to who needs it for the answer, then looks again. */
static void look_again(struct dist__progress *p,
		       const struct dist__request *request, bool poll_all,
		       int64_t now_ns)
{
	int64_t back_ns;

	pthread_mutex_unlock(&p->mesh->mutex);
	sched_yield();
	back_ns = dist__clock_ns();
	pthread_mutex_lock(&p->mesh->mutex);
	if (back_ns - now_ns > p->patience->taken_ns)
		p->shuns_until_ns = back_ns + SHUN_NS;
	if (poll_all)
		look(p, &p->front, 0);
	else if (!request->complete)
		(void)look_directly(p->mesh, request);
}

/* How long to spin for a request. */
static int64_t spin_ns(const struct patience *patience,
		       const struct dist__request *request)
{
	int64_t reading_ns = (int64_t)(request->m.bytes / READ_RATE);

	if (!request->lent || reading_ns > patience->reading_ns)
		reading_ns = 0;
	return SPIN_NS + reading_ns;
}

static void lead(struct dist__progress *p, struct dist__request *request,
		 int64_t deadline_ns)
{
	struct dist__mesh *mesh = p->mesh;
	uint64_t moved = mesh->moved;
	int64_t now_ns, spin_until_ns = 0;
	unsigned looks, yields = 0;

	p->led = true;
	p->led_idly = request->m.idles;
	p->claimed = false;
	mesh->awaited = request;
	looks = look_directly(mesh, request);
	while (!request->complete && !(p->led_idly && p->claimed)) {
		if (looks < p->patience->looks) {
			looks += look_directly(mesh, request);
			continue;
		}
		looks = 0;
		now_ns = dist__clock_ns();
		if (now_ns >= deadline_ns)
			break;
		if (!spin_until_ns || mesh->moved != moved)
			spin_until_ns = now_ns + spin_ns(p->patience, request);
		moved = mesh->moved;
		if (now_ns < spin_until_ns && now_ns >= p->shuns_until_ns)
			look_again(p, request,
				   ++yields % LOOKS_A_POLL == 0 ||
					   is_writing(mesh),
				   now_ns);
		else
			look(p, &p->front, deadline_ns);
	}
	step_down(p);
}

static void follow(struct dist__progress *p, struct dist__request *request,
		   int64_t deadline_ns)
{
	struct timespec until = dist__clock_timespec(deadline_ns);

	request->awaited = true;
	p->followers++;
	if (p->led_idly && !p->claimed) {
		p->claimed = true;
		kick(p);
	}
	if (deadline_ns == DIST_TIMEOUT_NEVER)
		pthread_cond_wait(&p->mesh->announced, &p->mesh->mutex);
	else
		pthread_cond_timedwait(&p->mesh->announced, &p->mesh->mutex,
				       &until);
	p->followers--;
	p->claimed = false;
	request->awaited = false;
}

/* Waits for what may come at any time: polls where nobody else does, but does
 * not take turns with another that waits again and again. When that has gone,
 * the background thread polls. */
static void wait_idly(struct dist__progress *p, struct dist__request *request,
		      int64_t deadline_ns)
{
	struct timespec until = dist__clock_timespec(deadline_ns);

	while (!request->complete && (deadline_ns == DIST_TIMEOUT_NEVER ||
				      dist__clock_ns() < deadline_ns)) {
		if (!p->led && !p->claimed)
			lead(p, request, deadline_ns);
		if (request->complete)
			break;
		request->awaited = true;
		pthread_cond_timedwait(&p->mesh->idle, &p->mesh->mutex, &until);
		request->awaited = false;
	}
}

bool dist__progress_wait(struct dist__progress *p,
			 struct dist__request *request, int64_t deadline_ns)
{
	if (request->m.idles) {
		wait_idly(p, request, deadline_ns);
		return request->complete;
	}
	while (!request->complete) {
		if (!p->led)
			lead(p, request, deadline_ns);
		else
			follow(p, request, deadline_ns);
		if (!request->complete && dist__clock_ns() >= deadline_ns)
			return false;
	}
	return true;
}

unsigned dist__progress_looks(const struct dist__progress *p)
{
	return p->patience->looks;
}

bool dist__progress_linger(struct dist__progress *p, unsigned *turns)
{
	bool alone = p->mesh->alone;

	if ((*turns)++ >= p->patience->turns)
		return false;
	if (!alone)
		pthread_mutex_unlock(&p->mesh->mutex);
	sched_yield();
	if (!alone)
		pthread_mutex_lock(&p->mesh->mutex);
	return true;
}

void dist__progress_look(struct dist__progress *p,
			 const struct dist__request *request)
{
	if (p->led)
		return;
	p->led = true;
	if (request)
		(void)look_directly(p->mesh, request);
	if (!request || (!request->complete && ++p->looks % LOOKS_A_POLL == 0))
		look(p, &p->front, 0);
	step_down(p);
}

void dist__progress_until(struct dist__progress *p, int64_t deadline_ns)
{
	look(p, &p->front, deadline_ns);
}

void dist__progress_touched(struct dist__progress *p, uint64_t completions)
{
	if (p->led && p->mesh->completions != completions)
		kick(p);
}

/* ---- the background thread ---------------------------------------------- */

static void doze(struct dist__progress *p, int64_t duration_ns)
{
	struct timespec until =
		dist__clock_timespec(dist__clock_ns() + duration_ns);

	pthread_cond_timedwait(&p->needed, &p->mesh->mutex, &until);
}

static void *background(void *arg)
{
	struct dist__progress *p = arg;
	struct dist__mesh *mesh = p->mesh;
	int idle = 0;

	pthread_mutex_lock(&mesh->mutex);
	while (!p->stopping) {
		if (!mesh->detached && ++idle > IDLE_TICKS) {
			p->asleep = true;
			pthread_cond_wait(&p->needed, &mesh->mutex);
			p->asleep = false;
			idle = 0;
		}
		/* Who posted a request will often wait for it at once. */
		doze(p, TICK_NS);
		while (!p->stopping && mesh->detached && !p->led)
			look(p, &p->back, DIST_TIMEOUT_NEVER);
		if (mesh->detached)
			idle = 0;
	}
	pthread_mutex_unlock(&mesh->mutex);
	return NULL;
}

static void need_background(struct dist__progress *p)
{
	if (p->asleep)
		pthread_cond_signal(&p->needed);
	if (p->started || p->stopping)
		return;
	/* Where it cannot start, bytes move in the rank's calls alone. */
	p->started = dist__thread_start(&p->background, background, p);
}

void dist__progress_posted(struct dist__progress *p,
			   struct dist__request *request, uint64_t completions)
{
	struct dist__mesh *mesh = p->mesh;
	bool known = request->m.peer != DIST_ANY_SOURCE &&
		     mesh->peers[request->m.peer].state == DIST__PEER_OPEN;

	dist__progress_touched(p, completions);
	if (request->complete)
		return;
	/* What is being polled does not know of a queue or a new socket. */
	if (request->kind == DIST__REQUEST_SEND || !known || mesh->stale)
		kick(p);
	if (request->m.tag >= 0) {
		request->counted = true;
		mesh->detached++;
		need_background(p);
	}
}

/* ---- life --------------------------------------------------------------- */

enum dist_error dist__progress_new(struct dist__mesh *mesh, bool crowded,
				   struct dist__progress **progress)
{
	struct dist__progress *p = calloc(1, sizeof *p);
	bool woken;

	if (!p)
		return DIST_ERR_NO_MEMORY;
	p->mesh = mesh;
	p->patience = crowded ? &shared : &own;
	dist__condition_init(&p->mesh->announced);
	dist__condition_init(&p->needed);
	dist__condition_init(&p->mesh->idle);
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	woken = p->wake >= 0;
	if (!woken || !reserve(&p->front, 8) || !reserve(&p->back, 8)) {
		dist__progress_free(p);
		return woken ? DIST_ERR_NO_MEMORY : DIST_ERR_IO;
	}
	*progress = p;
	return DIST_OK;
}

void dist__progress_stop(struct dist__progress *p)
{
	bool started;

	pthread_mutex_lock(&p->mesh->mutex);
	started = p->started;
	p->stopping = true;
	p->started = false;
	pthread_cond_signal(&p->needed);
	kick(p);
	pthread_mutex_unlock(&p->mesh->mutex);
	if (started)
		pthread_join(p->background, NULL);
}

void dist__progress_free(struct dist__progress *p)
{
	if (!p)
		return;
	if (p->wake >= 0)
		close(p->wake);
	pthread_cond_destroy(&p->mesh->announced);
	pthread_cond_destroy(&p->needed);
	pthread_cond_destroy(&p->mesh->idle);
	free(p->front.fds);
	free(p->front.who);
	free(p->back.fds);
	free(p->back.who);
	free(p);
}
