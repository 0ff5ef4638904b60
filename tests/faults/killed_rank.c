/* A rank dies: everyone who has to do with it learns so, at once, whether it
 * was connected to it or not. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <criterion/criterion.h>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)

TestSuite(killed_rank);

/* A byte to each of the others, and one from each. */
static void exchange(struct tcp_rank *r, int to_tag, int from_tag)
{
	char byte = 0;

	for (int peer = 0; peer < r->world_size; peer++)
		if (peer != r->rank)
			tcp_is(r, "hello",
			       tcp_send(r, peer, to_tag, &byte, 1, 20 * SECOND),
			       DIST_OK);
	for (int peer = 0; peer < r->world_size; peer++)
		if (peer != r->rank)
			tcp_is(r, "answer",
			       tcp_receive(r, peer, from_tag, &byte, 1,
					   20 * SECOND),
			       DIST_OK);
}

/* Rank 2 dies before it talked to anybody. */
static int die_before(void *arg)
{
	struct tcp_rank r;
	char byte = 0;

	(void)arg;
	if (!tcp_enter(&r))
		return 2;
	if (r.rank == 2)
		raise(SIGKILL);
	tcp_is(&r, "receive", tcp_receive(&r, 2, 0, &byte, 1, 20 * SECOND),
	       DIST_ERR_PEER_LOST);
	tcp_is(&r, "send", tcp_send(&r, 2, 0, &byte, 1, 20 * SECOND),
	       DIST_ERR_PEER_LOST);
	tcp_leave(&r);
	return r.failures;
}

Test(killed_rank, before_the_first_message)
{
	cr_assert_eq(tcp_world_without(2, 4, die_before), 0);
}

/* Rank 0 dies, with the store, after everybody heard from it; in the middle of
 * what it sends to rank 1, and while all wait for more. */
static int die_after(void *arg)
{
	static char big[64 << 20]; /* more than sockets hold */
	struct tcp_rank r;
	char byte = 0;

	(void)arg;
	if (!tcp_enter(&r))
		return 2;
	if (r.rank == 0) {
		exchange(&r, 0, 0);
		raise(SIGKILL);
	}
	tcp_is(&r, "hello", tcp_receive(&r, 0, 0, &byte, 1, 20 * SECOND),
	       DIST_OK);
	tcp_is(&r, "answer", tcp_send(&r, 0, 0, &byte, 1, 20 * SECOND),
	       DIST_OK);
	if (r.rank == 1)
		tcp_is(&r, "big",
		       tcp_send(&r, 0, 1, big, sizeof big, 20 * SECOND),
		       DIST_ERR_PEER_LOST);
	else
		tcp_is(&r, "more",
		       tcp_receive(&r, 0, 2, big, sizeof big, 20 * SECOND),
		       DIST_ERR_PEER_LOST);
	tcp_leave(&r);
	return r.failures;
}

/* Rank 2 dies while the others wait for a message from anybody; one that it
 * sent before is heard. */
static int die_awaited(void *arg)
{
	struct dist__message m = {.peer = DIST_ANY_SOURCE, .tag = 1};
	struct dist__members members = {.world_size = 0};
	struct dist__request *request = NULL;
	const struct dist__transport_ops *ops;
	struct tcp_rank r;
	char byte = 0;
	int source = -1;

	(void)arg;
	if (!tcp_enter(&r))
		return 2;
	if (r.rank == 2) {
		exchange(&r, 1, 2);
		raise(SIGKILL);
	}
	m.data = &byte;
	m.bytes = 1;
	members.world_size = r.world_size;
	m.members = &members;
	m.source = &source;
	ops = r.transport->ops;
	for (int i = 0; i < 2; i++) {
		int64_t until_ns = ops->now_ns(r.transport) + 20 * SECOND;

		tcp_is(&r, "post", ops->irecv(r.transport, &m, &request),
		       DIST_OK);
		if (i == 1)
			tcp_is(&r, "answer",
			       tcp_send(&r, 2, 2, &byte, 1, 20 * SECOND),
			       DIST_OK);
		tcp_is(&r, "hear", ops->wait(r.transport, request, until_ns),
		       i == 0 ? DIST_OK : DIST_ERR_PEER_LOST);
		tcp_is(&r, "of", source, 2);
	}
	tcp_leave(&r);
	return r.failures;
}

/* Rank 2 closes every file that it has, as who starts a daemon does: what it is
 * told is not that the others died. */
static volatile enum dist_error *told; /* shared by the ranks */

static int close_all(void *arg)
{
	enum dist_error error = DIST_OK;
	struct tcp_rank r;
	char byte = 0;

	(void)arg;
	if (!tcp_enter(&r))
		return 2;
	exchange(&r, 0, 0);
	if (r.rank == 2)
		for (int fd = 3; fd < 256; fd++)
			close(fd);
	*(r.rank == 2 ? told : &error) =
		tcp_receive(&r, r.rank == 2 ? 0 : 2, 1, &byte, 1, 20 * SECOND);
	while (r.rank == 2)
		pause();
	tcp_is(&r, "more", error, DIST_ERR_PEER_LOST);
	/* Rank 2 is killed once the others have ended. */
	for (int ms = 0; ms < 20000 && *told == DIST_OK; ms++)
		usleep(1000);
	tcp_leave(&r);
	return r.failures;
}

Test(killed_rank, without_its_files)
{
	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(told, MAP_FAILED);
	cr_assert_eq(tcp_world_without(2, 3, close_all), 0);
	cr_assert_eq(*told, DIST_ERR_IO);
}

Test(killed_rank, while_anybody_is_awaited)
{
	cr_assert_eq(tcp_world_without(2, 4, die_awaited), 0);
}

Test(killed_rank, while_the_others_wait)
{
	cr_assert_eq(tcp_world_without(0, 4, die_after), 0);
}
