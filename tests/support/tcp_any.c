#include "tests/support/tcp_any.h"

#include <string.h>

#define SECOND ((int64_t)1000000000)

static struct dist__request *receive_any(struct tcp_rank *r, int tag,
					 void *data, size_t bytes, int *source)
{
	struct dist__message m = {.peer = DIST_ANY_SOURCE,
				  .tag = tag,
				  .data = data,
				  .bytes = bytes,
				  .members = &r->members,
				  .source = source};
	struct dist__request *request = NULL;

	tcp_is(r, "post", tcp_post(r, false, &m, &request), DIST_OK);
	return request;
}

/* Every other rank sends three messages, some short and some long, before or
 * after rank 0 asks: each comes once, and those of one rank in order. */
void tcp_from_all(struct tcp_rank *r)
{
	enum { ROUNDS = 3, LONG = 300000 };
	static unsigned char data[LONG], wanted[LONG];
	int heard[TCP_ANY_RANKS] = {0}, source = -1;

	for (int i = 0; r->rank > 0 && i < ROUNDS; i++) {
		memset(data, r->rank * ROUNDS + i, LONG);
		tcp_is(r, "send", tcp_send(r, 0, 4, data, LONG, TCP_PATIENCE),
		       DIST_OK);
	}
	for (int i = 0; r->rank == 0 && i < ROUNDS * (r->world_size - 1); i++) {
		struct dist__request *request =
			receive_any(r, 4, data, LONG, &source);

		tcp_is(r, "hear", tcp_wait(r, request, TCP_PATIENCE), DIST_OK);
		memset(wanted, source * ROUNDS + heard[source]++, LONG);
		tcp_is(r, "order", memcmp(data, wanted, LONG), 0);
	}
	for (int rank = 1; r->rank == 0 && rank < r->world_size; rank++)
		tcp_is(r, "each", heard[rank], ROUNDS);
}

/* Receives from any source and from rank 1 are served as they were posted,
 * whether posted before the messages came or after. */
void tcp_any_and_named(struct tcp_rank *r)
{
	struct dist__request *requests[6];
	int values[6] = {0}, sources[6];
	char go = 0;

	for (int i = 0; r->rank == 1 && i < 6; i++) {
		if (i == 3)
			tcp_is(r, "go",
			       tcp_receive(r, 0, 9, &go, 1, TCP_PATIENCE),
			       DIST_OK);
		tcp_is(r, "send", tcp_send(r, 0, 0, &i, sizeof i, TCP_PATIENCE),
		       DIST_OK);
	}
	for (int i = 0; r->rank == 0 && i < 6; i++) {
		struct dist__message m = {.peer = 1,
					  .tag = 0,
					  .data = &values[i],
					  .bytes = sizeof values[i]};

		sources[i] = -1;
		if (i % 3 == 1)
			tcp_is(r, "post", tcp_post(r, false, &m, &requests[i]),
			       DIST_OK);
		else
			requests[i] =
				receive_any(r, 0, &values[i], sizeof values[i],
					    &sources[i]);
	}
	if (r->rank == 0)
		tcp_is(r, "go", tcp_send(r, 1, 9, &go, 1, TCP_PATIENCE),
		       DIST_OK);
	for (int i = 6; r->rank == 0 && i-- > 0;) {
		tcp_is(r, "wait", tcp_wait(r, requests[i], TCP_PATIENCE),
		       DIST_OK);
		tcp_is(r, "value", values[i], i);
		tcp_is(r, "source", sources[i], i % 3 == 1 ? -1 : 1);
	}
}

/* Rank 1 leaves before it met anybody, rank 2 after; rank 3 is heard all the
 * same. When it has left as well, nobody can be. */
void tcp_some_have_left(struct tcp_rank *r)
{
	struct dist__request *request;
	int source = -1;
	char byte = 0;

	if (r->rank == 1)
		return;
	if (r->rank > 1) {
		if (r->rank == 3)
			tcp_is(r, "last",
			       tcp_receive(r, 0, 7, &byte, 1, TCP_PATIENCE),
			       DIST_OK);
		tcp_is(r, "send", tcp_send(r, 0, 1, &byte, 1, TCP_PATIENCE),
		       DIST_OK);
		return;
	}
	request = receive_any(r, 1, &byte, 1, &source);
	tcp_is(r, "first", tcp_wait(r, request, TCP_PATIENCE), DIST_OK);
	tcp_is(r, "of", source, 2);
	tcp_is(r, "it has left", tcp_receive(r, 2, 1, &byte, 1, TCP_PATIENCE),
	       DIST_ERR_PEER_LOST);
	request = receive_any(r, 1, &byte, 1, &source);
	tcp_is(r, "last", tcp_send(r, 3, 7, &byte, 1, TCP_PATIENCE), DIST_OK);
	tcp_is(r, "second", tcp_wait(r, request, TCP_PATIENCE), DIST_OK);
	tcp_is(r, "of", source, 3);
	request = receive_any(r, 1, &byte, 1, &source);
	tcp_is(r, "nobody", tcp_wait(r, request, TCP_PATIENCE),
	       DIST_ERR_PEER_LOST);
}

/* Rank 2 aborts the group: a receive from any source of that group fails, one
 * of another does not; nor does one for which something has come. */
void tcp_any_and_abort(struct tcp_rank *r)
{
	struct dist__message m = {.peer = 0, .tag = 1, .group = 1};
	struct dist__request *request;
	int word = r->rank, source = -1;

	if (r->rank == 2) {
		tcp_is(r, "go", tcp_receive(r, 0, 8, NULL, 0, TCP_PATIENCE),
		       DIST_OK);
		r->transport->ops->abort(r->transport, 1);
		tcp_is(r, "send",
		       tcp_send(r, 0, 3, &word, sizeof word, TCP_PATIENCE),
		       DIST_OK);
	}
	if (r->rank > 0) {
		tcp_is(r, "end", tcp_receive(r, 0, 5, NULL, 0, TCP_PATIENCE),
		       DIST_OK);
		return;
	}
	m.peer = DIST_ANY_SOURCE;
	m.members = &r->members;
	m.source = &source;
	tcp_is(r, "post", tcp_post(r, false, &m, &request), DIST_OK);
	tcp_is(r, "go", tcp_send(r, 2, 8, NULL, 0, TCP_PATIENCE), DIST_OK);
	tcp_is(r, "aborted", tcp_wait(r, request, TCP_PATIENCE),
	       DIST_ERR_PEER_LOST);
	tcp_is(r, "later", tcp_post(r, false, &m, &request), DIST_OK);
	tcp_is(r, "lost", tcp_wait(r, request, TCP_PATIENCE),
	       DIST_ERR_PEER_LOST);
	request = receive_any(r, 3, &word, sizeof word, &source);
	tcp_is(r, "other group", tcp_wait(r, request, TCP_PATIENCE), DIST_OK);
	tcp_is(r, "of", source, 2);
	for (int peer = 1; peer < r->world_size; peer++)
		tcp_is(r, "end", tcp_send(r, peer, 5, NULL, 0, TCP_PATIENCE),
		       DIST_OK);
}

/* Given up, a receive from any source touches nothing any more. */
void tcp_any_and_late(struct tcp_rank *r)
{
	struct dist__request *request;
	int word = 4711, source = -1;

	if (r->rank == 0) {
		request = receive_any(r, 1, &word, sizeof word, &source);
		tcp_is(r, "late", tcp_wait(r, request, SECOND / 100),
		       DIST_ERR_TIMEOUT);
		tcp_is(r, "go", tcp_send(r, 1, 2, NULL, 0, TCP_PATIENCE),
		       DIST_OK);
		tcp_is(r, "end", tcp_receive(r, 1, 3, NULL, 0, TCP_PATIENCE),
		       DIST_OK);
		tcp_is(r, "untouched", word, 4711);
		tcp_is(r, "unheard", source, -1);
		return;
	}
	word = 1;
	tcp_is(r, "go", tcp_receive(r, 0, 2, NULL, 0, TCP_PATIENCE), DIST_OK);
	tcp_is(r, "send", tcp_send(r, 0, 1, &word, sizeof word, TCP_PATIENCE),
	       DIST_OK);
	tcp_is(r, "end", tcp_send(r, 0, 3, NULL, 0, TCP_PATIENCE), DIST_OK);
}
