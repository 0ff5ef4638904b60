#define _GNU_SOURCE /* MAP_ANONYMOUS, sched_setaffinity */
#include "tests/support/tcp_cases.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "realbackend/launch/launcher.h"
#include "realbackend/launch/world.h"
#include "realbackend/wire/socket.h"
#include "tests/support/leaks.h"
#include "tests/support/tcp_abort.h"
#include "tests/support/tcp_ahead.h"
#include "tests/support/tcp_any.h"
#include "tests/support/tcp_exchange.h"
#include "tests/support/tcp_sums.h"
#include "tests/support/tcp_trickle.h"
#include "base/random.h"

#define SECOND     ((int64_t)1000000000)
#define PATIENCE   TCP_PATIENCE
#define MOST_RANKS 16

/* Shared by the ranks of a case beside the transport. */
static atomic_int *flag;

/* ---- one rank ----------------------------------------------------------- */

bool tcp_join(struct tcp_rank *r, int64_t timeout_ns, enum dist_error *error,
	      struct dist_message *message)
{
	struct dist_init_options options = {.backend = "tcp",
					    .timeout_ns = timeout_ns};
	struct dist__place place;

	memset(r, 0, sizeof *r);
	message->text[0] = '\0';
	*error = dist__tcp_world.attach(&options, &place, message);
	if (*error)
		return false;
	r->rank = place.rank;
	r->world_size = place.world_size;
	r->members.world_size = place.world_size;
	r->transport = place.transport;
	return true;
}

bool tcp_enter(struct tcp_rank *r)
{
	struct dist_message message;
	enum dist_error error;

	if (tcp_join(r, PATIENCE, &error, &message))
		return true;
	fprintf(stderr, "join: %s: %s\n", dist_error_string(error),
		message.text);
	return false;
}

void tcp_leave(struct tcp_rank *r)
{
	r->transport->ops->free(r->transport);
	r->transport = NULL;
}

void tcp_is(struct tcp_rank *r, const char *what, long long got,
	    long long wanted)
{
	if (got == wanted)
		return;
	r->failures++;
	fprintf(stderr, "rank %d: %s: expected %lld, got %lld\n", r->rank, what,
		wanted, got);
}

enum dist_error tcp_post(struct tcp_rank *r, bool send,
			 const struct dist__message *m,
			 struct dist__request **request)
{
	struct dist__transport *t = r->transport;

	return send ? t->ops->isend(t, m, request)
		    : t->ops->irecv(t, m, request);
}

static int64_t after(struct tcp_rank *r, int64_t timeout_ns)
{
	return r->transport->ops->now_ns(r->transport) + timeout_ns;
}

enum dist_error tcp_wait(struct tcp_rank *r, struct dist__request *request,
			 int64_t timeout_ns)
{
	return r->transport->ops->wait(r->transport, request,
				       after(r, timeout_ns));
}

static enum dist_error move(struct tcp_rank *r, bool send,
			    const struct dist__message *m, int64_t timeout_ns)
{
	struct dist__request *request;
	enum dist_error error = tcp_post(r, send, m, &request);

	return error ? error : tcp_wait(r, request, timeout_ns);
}

enum dist_error tcp_send(struct tcp_rank *r, int peer, int tag,
			 const void *data, size_t bytes, int64_t timeout_ns)
{
	struct dist__message m = {.peer = peer,
				  .tag = tag,
				  .data = (void *)data, /* sends only read it */
				  .bytes = bytes};

	return move(r, true, &m, timeout_ns);
}

enum dist_error tcp_receive(struct tcp_rank *r, int peer, int tag, void *data,
			    size_t bytes, int64_t timeout_ns)
{
	struct dist__message m = {
		.peer = peer, .tag = tag, .data = data, .bytes = bytes};

	return move(r, false, &m, timeout_ns);
}

/* ---- contents ----------------------------------------------------------- */

/* Contents come again after so many bytes, so that sanitizers look at memory as
 * a whole and not byte by byte. */
enum { PERIOD = 7 * 256 };

static unsigned char byte_at(uint64_t base, size_t i)
{
	return (unsigned char)((base >> (i % 7)) + i);
}

static void fill(unsigned char *data, size_t bytes, uint64_t seed)
{
	uint64_t base = dist__random_of(seed);
	size_t done = bytes < PERIOD ? bytes : PERIOD, more;

	for (size_t i = 0; i < done; i++)
		data[i] = byte_at(base, i);
	for (; done < bytes; done += more) {
		more = bytes - done < done ? bytes - done : done;
		memcpy(data + done, data, more);
	}
}

static bool is_filled(const unsigned char *data, size_t bytes, uint64_t seed)
{
	uint64_t base = dist__random_of(seed);

	for (size_t i = 0; i < bytes && i < PERIOD; i++)
		if (data[i] != byte_at(base, i))
			return false;
	return bytes <= PERIOD ||
	       memcmp(data, data + PERIOD, bytes - PERIOD) == 0;
}

static void *allocate(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (!memory)
		abort();
	return memory;
}

/* ---- cases -------------------------------------------------------------- */

/* Everyone sends to and receives from everyone at once: every pair dials from
 * both sides. Then all leave and meet again. */
static void all_pairs_once(struct tcp_rank *r, int round)
{
	struct dist__request *requests[2 * MOST_RANKS] = {NULL};
	int64_t out[MOST_RANKS] = {0}, in[MOST_RANKS] = {0};
	int n = 0;

	for (int i = 1; i < r->world_size; i++) {
		int peer = (r->rank + i * (round % 2 ? 1 : r->world_size - 1)) %
			   r->world_size;
		struct dist__message m = {.peer = peer,
					  .tag = -1,
					  .seq = (uint32_t)round,
					  .bytes = sizeof(int64_t)};

		out[peer] = r->rank * 1000 + peer;
		m.data = &out[peer];
		tcp_is(r, "isend", tcp_post(r, true, &m, &requests[n++]),
		       DIST_OK);
		in[peer] = -1;
		m.data = &in[peer];
		tcp_is(r, "irecv", tcp_post(r, false, &m, &requests[n++]),
		       DIST_OK);
	}
	for (int i = 0; i < n; i++)
		tcp_is(r, "wait", tcp_wait(r, requests[i], PATIENCE), DIST_OK);
	for (int peer = 0; peer < r->world_size; peer++)
		if (peer != r->rank)
			tcp_is(r, "pair", in[peer], peer * 1000 + r->rank);
}

static void all_pairs(struct tcp_rank *r)
{
	int failures = 0;

	for (int round = 0; round < 25; round++) {
		if (round > 0) {
			failures = r->failures;
			tcp_leave(r);
			if (!tcp_enter(r))
				exit(1);
			r->failures = failures;
		}
		all_pairs_once(r, round);
	}
}

enum { STREAM_TAGS = 5, STREAM_MESSAGES = 2500 };

/* One message of a random stream; the k-th of its pair and tag, so that both
 * ends know its length and contents whatever the order of posting is. */
struct streamed {
	struct dist__request *request;
	unsigned char *data;
	size_t bytes;
	uint64_t seed;
	bool send;
};

static void post_streamed(struct tcp_rank *r, struct streamed *s, int peer,
			  int tag, int k, bool send)
{
	int src = send ? r->rank : peer, dst = send ? peer : r->rank;
	uint64_t draw;
	struct dist__message m = {.peer = peer, .tag = tag};

	s->send = send;
	s->seed = (((uint64_t)src * 16 + (uint64_t)dst) * 16 + (uint64_t)tag) *
			  65536 +
		  (uint64_t)k;
	draw = dist__random_of(s->seed);
	s->bytes = (size_t)(draw % 97 == 0  ? draw % 400000
			    : draw % 3 == 0 ? 0
					    : draw % 5000);
	s->data = allocate(s->bytes);
	if (send)
		fill(s->data, s->bytes, s->seed);
	m.data = s->data;
	m.bytes = s->bytes;
	m.fingerprint = s->bytes;
	tcp_is(r, "stream post", tcp_post(r, send, &m, &s->request), DIST_OK);
}

static void end_streamed(struct tcp_rank *r, struct streamed *s)
{
	tcp_is(r, "stream wait", tcp_wait(r, s->request, PATIENCE), DIST_OK);
	if (!s->send)
		tcp_is(r, "stream contents",
		       is_filled(s->data, s->bytes, s->seed), true);
	free(s->data);
	s->data = NULL;
}

/* Picks a message that has been posted but not ended, and may be waited for: as
 * long as not all are posted, only a complete one, for the other side may need
 * our next post first. NULL: none this time. */
static struct streamed *pick_streamed(struct tcp_rank *r, struct streamed *all,
				      int posted, int total, uint64_t draw)
{
	struct streamed *s;
	int i = (int)(draw % (uint64_t)(posted + 1));

	while (i < posted && !all[i].data)
		i++;
	if (i == posted)
		return NULL;
	s = &all[i];
	if (posted < total &&
	    !r->transport->ops->test(r->transport, s->request))
		return NULL;
	return s;
}

/* Thousands of messages both ways, posted and waited for in random order. */
static void random_stream(struct tcp_rank *r)
{
	int counts[2][MOST_RANKS][STREAM_TAGS] = {0};
	int kinds = (r->world_size - 1) * STREAM_TAGS * 2;
	int of_kind = STREAM_MESSAGES / kinds, total = of_kind * kinds;
	struct streamed *all = calloc((size_t)total, sizeof *all), *s;
	uint64_t state = (uint64_t)r->rank + 77;
	int posted = 0, ended = 0, draw, peer, *count;
	bool send;

	while (ended < total) {
		state = dist__random_of(state);
		if (posted == total || state % 11 == 0) {
			s = pick_streamed(r, all, posted, total, state >> 16);
			if (s) {
				end_streamed(r, s);
				ended++;
			}
			continue;
		}
		send = (state >> 8) & 1;
		draw = (int)((state >> 16) % (uint64_t)(kinds / 2));
		peer = draw / STREAM_TAGS;
		peer += peer >= r->rank;
		count = &counts[send][peer][draw % STREAM_TAGS];
		if (*count < of_kind)
			post_streamed(r, &all[posted++], peer,
				      draw % STREAM_TAGS, (*count)++, send);
	}
	free(all);
}

/* 16 MiB each way at once. */
static void large_both_ways(struct tcp_rank *r)
{
	size_t bytes = (size_t)16 << 20;
	unsigned char *out = allocate(bytes), *in = allocate(bytes);
	struct dist__message m = {
		.peer = 1 - r->rank, .tag = -1, .bytes = bytes};
	struct dist__request *send, *receive;

	memset(out, r->rank + 1, bytes);
	out[bytes - 1] = 99;
	m.data = out;
	tcp_is(r, "isend", tcp_post(r, true, &m, &send), DIST_OK);
	m.data = in;
	tcp_is(r, "irecv", tcp_post(r, false, &m, &receive), DIST_OK);
	tcp_is(r, "wait", tcp_wait(r, send, PATIENCE), DIST_OK);
	tcp_is(r, "wait", tcp_wait(r, receive, PATIENCE), DIST_OK);
	tcp_is(r, "first", in[0], 2 - r->rank);
	tcp_is(r, "same", memcmp(in, in + 1, bytes - 2), 0);
	tcp_is(r, "last", in[bytes - 1], 99);
	free(out);
	free(in);
}

/* Messages that are there, or on their way, before anybody asks. */
enum { EARLY_MESSAGES = 10, EARLY_BIG = 3 << 20 };

static void send_early(struct tcp_rank *r, unsigned char *data)
{
	for (int tag = 0; tag < EARLY_MESSAGES; tag++) {
		fill(data, (size_t)tag * 100, (uint64_t)tag);
		tcp_is(r, "early",
		       tcp_send(r, 1, tag, data, (size_t)tag * 100, PATIENCE),
		       DIST_OK);
	}
	fill(data, EARLY_BIG, 5);
	tcp_is(r, "go", tcp_send(r, 1, 50, "", 1, PATIENCE), DIST_OK);
	tcp_is(r, "big", tcp_send(r, 1, 51, data, EARLY_BIG, PATIENCE),
	       DIST_OK);
}

static void unexpected(struct tcp_rank *r)
{
	unsigned char *data = allocate(EARLY_BIG);
	char go;

	if (r->rank == 0) {
		send_early(r, data);
		free(data);
		return;
	}
	tcp_is(r, "go", tcp_receive(r, 0, 50, &go, 1, PATIENCE), DIST_OK);
	for (int tag = EARLY_MESSAGES - 1; tag >= 0; tag--) {
		size_t bytes = (size_t)tag * 100;

		tcp_is(r, "late receive",
		       tcp_receive(r, 0, tag, data, bytes, PATIENCE), DIST_OK);
		tcp_is(r, "late contents",
		       is_filled(data, bytes, (uint64_t)tag), true);
	}
	tcp_is(r, "big", tcp_receive(r, 0, 51, data, EARLY_BIG, PATIENCE),
	       DIST_OK);
	tcp_is(r, "big contents", is_filled(data, EARLY_BIG, 5), true);
	free(data);
}

/* Both send, more than the sockets hold, before either receives: the sends end
 * all the same. */
static void both_send_first(struct tcp_rank *r)
{
	size_t bytes = (size_t)16 << 20;
	unsigned char *data = allocate(bytes);

	fill(data, bytes, (uint64_t)r->rank);
	tcp_is(r, "send", tcp_send(r, 1 - r->rank, 0, data, bytes, PATIENCE),
	       DIST_OK);
	tcp_is(r, "receive",
	       tcp_receive(r, 1 - r->rank, 0, data, bytes, PATIENCE), DIST_OK);
	tcp_is(r, "contents", is_filled(data, bytes, (uint64_t)(1 - r->rank)),
	       true);
	free(data);
}

/* A lane that works on collectives' messages in a ring. */
struct ring {
	struct tcp_rank *r;
	int failures;
	struct dist__op op;
	struct dist__lane *lane;
	struct dist__job job;
	uint32_t seq;
};

static void run_ring(void *arg)
{
	struct ring *ring = arg;
	struct tcp_rank mine = *ring->r;
	unsigned char out[3000], in[3000];

	mine.failures = 0;
	for (uint32_t step = 0; step < 100; step++) {
		struct dist__request *send, *receive;
		struct dist__message m = {.peer = (mine.rank + 1) %
						  mine.world_size,
					  .group = 1,
					  .tag = -1,
					  .seq = ring->seq,
					  .step = step,
					  .data = out,
					  .bytes = sizeof out};

		fill(out, sizeof out, step);
		tcp_is(&mine, "ring", tcp_post(&mine, true, &m, &send),
		       DIST_OK);
		m.peer = (mine.rank + mine.world_size - 1) % mine.world_size;
		m.data = in;
		tcp_is(&mine, "ring", tcp_post(&mine, false, &m, &receive),
		       DIST_OK);
		tcp_is(&mine, "ring", tcp_wait(&mine, receive, PATIENCE),
		       DIST_OK);
		tcp_is(&mine, "ring", tcp_wait(&mine, send, PATIENCE), DIST_OK);
		tcp_is(&mine, "ring", is_filled(in, sizeof in, step), true);
	}
	ring->failures = mine.failures;
	dist__op_finish(&ring->op, DIST_OK, 0);
	mine.transport->ops->lanes->notify(ring->lane);
}

/* The rank's thread and a lane use the transport at once. */
static void lanes(struct tcp_rank *r)
{
	const struct dist__transport_ops *ops = r->transport->ops;
	struct ring rings[4];
	struct dist__lane *lane;
	unsigned char data[2000];
	int next = (r->rank + 1) % r->world_size;
	int before = (r->rank + r->world_size - 1) % r->world_size;

	tcp_is(r, "lane_new", ops->lanes->create(r->transport, &lane), DIST_OK);
	for (uint32_t i = 0; i < 4; i++) {
		memset(&rings[i], 0, sizeof rings[i]);
		rings[i].r = r;
		rings[i].lane = lane;
		rings[i].seq = i;
		rings[i].job.run = run_ring;
		rings[i].job.arg = &rings[i];
		tcp_is(r, "lane_submit",
		       ops->lanes->submit(lane, &rings[i].job), DIST_OK);
	}
	tcp_is(r, "lane_wait, late", ops->lanes->wait(lane, &rings[3].op, 1),
	       dist__op_is_done(&rings[3].op) ? DIST_OK : DIST_ERR_TIMEOUT);
	for (int i = 0; i < 200; i++) {
		struct dist__request *request;
		struct dist__message m = {.peer = before,
					  .tag = i % 3,
					  .data = data,
					  .bytes = sizeof data};

		tcp_is(r, "irecv", tcp_post(r, false, &m, &request), DIST_OK);
		tcp_is(r, "send",
		       tcp_send(r, next, i % 3, data, sizeof data, PATIENCE),
		       DIST_OK);
		tcp_is(r, "wait", tcp_wait(r, request, PATIENCE), DIST_OK);
	}
	for (int i = 3; i >= 0; i--) {
		tcp_is(r, "lane_wait",
		       ops->lanes->wait(lane, &rings[i].op, after(r, PATIENCE)),
		       DIST_OK);
		tcp_is(r, "ring failures", rings[i].failures, 0);
	}
	ops->lanes->free(lane);
}

/* Bytes move while the rank computes: more than the sockets hold is sent to a
 * rank that has posted its receive and makes no call after that. */
static void behind_the_back(struct tcp_rank *r)
{
	size_t bytes = (size_t)16 << 20;
	unsigned char *data = calloc(1, bytes);
	struct dist__message m = {
		.peer = 1 - r->rank, .tag = 3, .data = data, .bytes = bytes};
	struct dist__request *request;

	if (r->rank == 0)
		fill(data, bytes, 3);
	tcp_is(r, "post", tcp_post(r, r->rank == 0, &m, &request), DIST_OK);
	if (r->rank == 0) {
		tcp_is(r, "send", tcp_wait(r, request, PATIENCE), DIST_OK);
		atomic_store(flag, 1);
	} else {
		while (!atomic_load(flag))
			r->transport->ops->compute(r->transport, 1000000);
		tcp_is(r, "receive", tcp_wait(r, request, PATIENCE), DIST_OK);
		tcp_is(r, "contents", is_filled(data, bytes, 3), true);
	}
	free(data);
}

/* Rank 1 is in another collective than rank 0, or says so of a message. */
static void mismatch(struct tcp_rank *r)
{
	struct dist__message m = {.peer = 1 - r->rank, .tag = -1, .bytes = 8};
	uint64_t word = 7;
	struct dist__request *request;
	char go;

	m.data = &word;
	/* Posted first: the frame arrives at a waiting receive, in another
	 * step. Group 1. */
	m.group = 1;
	m.fingerprint = 100 + (uint64_t)r->rank;
	m.step = (uint32_t)r->rank;
	if (r->rank == 0) {
		tcp_is(r, "posted", move(r, false, &m, PATIENCE),
		       DIST_ERR_MISMATCH);
	} else {
		tcp_is(r, "send", move(r, true, &m, PATIENCE), DIST_OK);
	}
	/* Arrived first: group 2; the message with tag 9 is behind it. */
	m.group = 2;
	if (r->rank == 1) {
		tcp_is(r, "send", move(r, true, &m, PATIENCE), DIST_OK);
		tcp_is(r, "go", tcp_send(r, 0, 9, "", 1, PATIENCE), DIST_OK);
	} else {
		tcp_is(r, "go", tcp_receive(r, 1, 9, &go, 1, PATIENCE),
		       DIST_OK);
		tcp_is(r, "arrived", move(r, false, &m, PATIENCE),
		       DIST_ERR_MISMATCH);
	}
	/* Point to point: lengths differ. */
	m.group = 0;
	m.tag = 4;
	m.step = 0;
	m.fingerprint = 1;
	m.bytes = r->rank == 0 ? 4 : 8;
	tcp_is(r, "post", tcp_post(r, r->rank == 1, &m, &request), DIST_OK);
	tcp_is(r, "lengths", tcp_wait(r, request, PATIENCE),
	       r->rank == 0 ? DIST_ERR_MISMATCH : DIST_OK);
	tcp_is(r, "memory", (long long)word, 7);
	/* The same length, but another type. */
	m.tag = 5;
	m.fingerprint = (uint64_t)r->rank;
	m.bytes = 8;
	tcp_is(r, "post", tcp_post(r, r->rank == 1, &m, &request), DIST_OK);
	tcp_is(r, "types", tcp_wait(r, request, PATIENCE),
	       r->rank == 0 ? DIST_ERR_MISMATCH : DIST_OK);
}

/* A receive that is late is taken back; what comes later does not touch its
 * memory, and the connection goes on. */
static void late(struct tcp_rank *r)
{
	enum { BIG = 1 << 20 };
	unsigned char *early = calloc(1, BIG), *data = allocate(BIG);
	char go = 0;

	if (r->rank == 0) {
		tcp_is(r, "late", tcp_receive(r, 1, 1, early, BIG, 1000000),
		       DIST_ERR_TIMEOUT);
		tcp_is(r, "go", tcp_send(r, 1, 2, &go, 1, PATIENCE), DIST_OK);
		tcp_is(r, "again", tcp_receive(r, 1, 1, data, BIG, PATIENCE),
		       DIST_OK);
		tcp_is(r, "contents", is_filled(data, BIG, 8), true);
		for (size_t i = 0; i < BIG; i++)
			if (early[i])
				tcp_is(r, "memory", (long long)i, -1);
	} else {
		fill(data, BIG, 8);
		tcp_is(r, "go", tcp_receive(r, 0, 2, &go, 1, PATIENCE),
		       DIST_OK);
		tcp_is(r, "send", tcp_send(r, 0, 1, data, BIG, PATIENCE),
		       DIST_OK);
	}
	free(early);
	free(data);
}

/* A send that timed out gives its memory back: whatever the peer receives after
 * that is not what was written there since. */
static void recalled(struct tcp_rank *r)
{
	enum { BIG = 1 << 20 };
	unsigned char *data = allocate(BIG);
	enum dist_error error;
	struct dist__request *request;
	struct dist__message m = {
		.peer = 1 - r->rank, .tag = -1, .data = data, .bytes = BIG};

	all_pairs_once(r, 1);
	m.seq = 2;
	if (r->rank == 0) {
		fill(data, BIG, 9);
		tcp_is(r, "isend", tcp_post(r, true, &m, &request), DIST_OK);
		error = tcp_wait(r, request, 20000000);
		tcp_is(r, "in time or not",
		       error == DIST_OK || error == DIST_ERR_TIMEOUT, true);
		memset(data, 0, BIG);
		atomic_store(flag, 1);
		while (atomic_load(flag) != 2)
			sched_yield();
	} else {
		while (!atomic_load(flag))
			sched_yield();
		error = tcp_post(r, false, &m, &request);
		if (!error)
			error = tcp_wait(r, request, PATIENCE);
		tcp_is(r, "right or lost",
		       error == DIST_ERR_PEER_LOST ||
			       (!error && is_filled(data, BIG, 9)),
		       true);
		atomic_store(flag, 2);
	}
	free(data);
}

/* Rank 0 gives up group 1: its own requests end ABORTED, rank 1's end
 * PEER_LOST, group 0 goes on. */
static void aborted(struct tcp_rank *r)
{
	int64_t word = 0;
	struct dist__message m = {.peer = 1 - r->rank,
				  .group = 1,
				  .tag = 5,
				  .data = &word,
				  .bytes = sizeof word};
	struct dist__request *request;

	tcp_is(r, "irecv", tcp_post(r, false, &m, &request), DIST_OK);
	if (r->rank == 0) {
		tcp_is(r, "go", tcp_receive(r, 1, 1, &word, 8, PATIENCE),
		       DIST_OK);
		r->transport->ops->abort(r->transport, 1);
		r->transport->ops->abort(r->transport, 1);
		tcp_is(r, "ours", tcp_wait(r, request, PATIENCE),
		       DIST_ERR_ABORTED);
		tcp_is(r, "later", tcp_post(r, true, &m, &request),
		       DIST_ERR_ABORTED);
	} else {
		tcp_is(r, "go", tcp_send(r, 0, 1, &word, 8, PATIENCE), DIST_OK);
		tcp_is(r, "theirs", tcp_wait(r, request, PATIENCE),
		       DIST_ERR_PEER_LOST);
		tcp_is(r, "later", tcp_post(r, true, &m, &request),
		       DIST_ERR_PEER_LOST);
	}
	all_pairs_once(r, 3);
}

/* Rank 0 sends and leaves: what it sent can still be received, more cannot. */
static void goodbye(struct tcp_rank *r)
{
	int64_t word = 4711;

	if (r->rank == 0) {
		tcp_is(r, "send", tcp_send(r, 1, 1, &word, 8, PATIENCE),
		       DIST_OK);
		return;
	}
	tcp_is(r, "more", tcp_receive(r, 0, 2, &word, 8, PATIENCE),
	       DIST_ERR_PEER_LOST);
	tcp_is(r, "sent", tcp_receive(r, 0, 1, &word, 8, PATIENCE), DIST_OK);
	tcp_is(r, "contents", word, 4711);
	tcp_is(r, "to it", tcp_send(r, 0, 1, &word, 8, PATIENCE),
	       DIST_ERR_PEER_LOST);
}

const struct tcp_case tcp_cases[] = {
	{"all pairs", 8, all_pairs},
	{"random stream of two", 2, random_stream},
	{"random stream of four", 4, random_stream},
	{"large both ways", 2, large_both_ways},
	{"exchange", 2, tcp_exchange},
	{"exchange of four", 4, tcp_exchange},
	{"unexpected", 2, unexpected},
	{"ahead", 2, tcp_ahead},
	{"short ahead", 2, tcp_short_ahead},
	{"both send first", 2, both_send_first},
	{"lanes", 3, lanes},
	{"behind the back", 2, behind_the_back},
	{"mismatch", 2, mismatch},
	{"late", 2, late},
	{"recalled", 2, recalled},
	{"aborted", 2, aborted},
	{"abort wakes", 2, tcp_abort_wakes},
	{"goodbye", 2, goodbye},
	{"from all", 5, tcp_from_all},
	{"any and named", 2, tcp_any_and_named},
	{"some have left", 4, tcp_some_have_left},
	{"any and abort", 3, tcp_any_and_abort},
	{"any and late", 2, tcp_any_and_late},
	{"sums", 2, tcp_sums},
	{"trickle", 2, tcp_trickle},
	{NULL, 0, NULL},
};

/* ---- running ------------------------------------------------------------ */

static int run_one(void *arg)
{
	const struct tcp_case *one = arg;
	struct tcp_rank r;

	if (!tcp_enter(&r))
		return 1;
	one->run(&r);
	tcp_leave(&r);
	return r.failures != 0 || leaks_found();
}

const char *const tcp_intras[] = {"shm", "crowded", "tcp", NULL};

/* Leaves this process, and those that it starts, one of its processors. */
static bool crowd(cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof *before, before) != 0)
		return false;
	while (!CPU_ISSET(cpu, before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof one, &one) == 0;
}

int tcp_case_run(const struct tcp_case *one, const char *intra)
{
	struct dist__job_spec spec = {
		.nproc = one->world_size, .start = run_one, .arg = (void *)one};
	bool crowded = strcmp(intra, "crowded") == 0;
	cpu_set_t before;
	int status;

	if (setenv("LOCKSTEP_INTRA", crowded ? "shm" : intra, 1) != 0 ||
	    (crowded && !crowd(&before)))
		return DIST_EXIT_INTERNAL;
	flag = mmap(NULL, sizeof *flag, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (flag == MAP_FAILED)
		return DIST_EXIT_INTERNAL;
	status = dist__job_run(&spec);
	munmap(flag, sizeof *flag);
	if (crowded)
		(void)sched_setaffinity(0, sizeof before, &before);
	return status;
}
