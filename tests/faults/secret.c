/* LOCKSTEP_SECRET: who knows it is let in, everybody else is told, or hung up
 * on; and it shows nowhere. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "lockstep/store.h"
#include "realbackend/wire/secret.h"
#include "realbackend/store/store_client.h"
#include "realbackend/wire/transport.h"
#include "tests/support/okay.h"
#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)

static char folder[] = "/tmp/lockstep-secret-XXXXXX";
static char url[96];

static void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(url, sizeof url, "file://%s/store", folder);
	unsetenv("LOCKSTEP_SECRET");
}

static void remove_folder(void)
{
	cr_assert_eq(rmdir(folder), 0, "something was left in %s", folder);
}

TestSuite(secret, .init = make_folder, .fini = remove_folder);

static void know(const char *secret)
{
	if (secret)
		setenv("LOCKSTEP_SECRET", secret, 1);
	else
		unsetenv("LOCKSTEP_SECRET");
}

/* ---- joining ------------------------------------------------------------ */

struct expectation {
	const char *init_method;
	const char *secret;
	const char *text; /* NULL: it succeeds */
};

static int join(void *arg)
{
	const struct expectation *wanted = arg;
	struct dist_message message = {""};
	struct dist_init_options options = {.backend = "tcp",
					    .init_method = wanted->init_method,
					    .timeout_ns = SECOND,
					    .message = &message};
	struct dist_group *group;
	enum dist_error error;
	float sum = 1;

	know(wanted->secret);
	/* Ranks that find each other have all the time that they need. */
	if (!wanted->text)
		options.timeout_ns = 20 * SECOND;
	error = dist_init_process_group(&options, &group);
	if (!error) {
		error = dist_all_reduce(group,
					dist_tensor(&sum, 1, DIST_FLOAT32),
					DIST_SUM, NULL);
		if (dist_destroy_process_group(group) || error)
			return 1;
		return wanted->text != NULL || sum != 2;
	}
	if (error == DIST_ERR_RENDEZVOUS && wanted->text &&
	    strstr(message.text, wanted->text) && !strchr(message.text, '\n') &&
	    !(wanted->secret && strstr(message.text, wanted->secret)))
		return 0;
	fprintf(stderr, "%s: \"%s\"\n", dist_error_string(error), message.text);
	return 1;
}

/* Two ranks with their secrets, and what each is told. */
static void run(const char *init_method, const char *const secrets[2],
		const char *const text[2])
{
	struct expectation wanted[2];
	struct tcp_world world;
	pid_t pids[2];

	cr_assert(tcp_world_open(&world));
	for (int rank = 0; rank < 2; rank++) {
		wanted[rank] = (struct expectation){init_method, secrets[rank],
						    text[rank]};
		pids[rank] =
			tcp_world_start(&world, rank, 2, join, &wanted[rank]);
	}
	tcp_world_close(&world);
	for (int rank = 0; rank < 2; rank++)
		cr_assert_eq(tcp_status(pids[rank]), 0, "rank %d", rank);
}

/* At a port, and in a shared store. */
static void run_both(const char *const secrets[2], const char *const text[2])
{
	run("env://", secrets, text);
	run(url, secrets, text);
}

Test(secret, lets_in_who_knows_it)
{
	static const char *const same[] = {"sesame", "sesame"};
	static const char *const fine[] = {NULL, NULL};

	run_both(same, fine);
}

static const char turned_away[] =
	"1 of 2 ranks came; missing: 1; turned away for another "
	"LOCKSTEP_SECRET, or none: ";

Test(secret, tells_both_sides_of_another)
{
	static const char *const secrets[] = {"sesame", "open"};
	const char *const text[] = {turned_away,
				    "LOCKSTEP_SECRET is not the one of rank 0"};

	run_both(secrets, text);
}

Test(secret, tells_both_sides_of_none_at_a_rank)
{
	static const char *const secrets[] = {"sesame", NULL};
	const char *const text[] = {
		turned_away,
		"rank 0 has a LOCKSTEP_SECRET, this process has none"};

	run_both(secrets, text);
}

Test(secret, tells_both_sides_of_none_at_rank_0)
{
	static const char *const secrets[] = {NULL, "sesame"};
	static const char *const text[] = {
		"1 of 2 ranks came; missing: 1",
		"this process has a LOCKSTEP_SECRET, rank 0 has none"};

	run_both(secrets, text);
}

static int join_by_rank(void *arg)
{
	struct expectation wanted = {NULL, NULL, "never said"};

	(void)arg;
	wanted.secret = strcmp(getenv("RANK"), "1") == 0 ? "open" : "sesame";
	return join(&wanted);
}

Test(secret, of_another_kind_fails_the_job)
{
	struct dist_launch_options options = {.backend = "tcp",
					      .world_size = 2};

	cr_assert_eq(dist_launch(&options, join_by_rank, NULL),
		     DIST_EXIT_RENDEZVOUS);
}

/* ---- the public store --------------------------------------------------- */

Test(secret, guards_a_store)
{
	struct dist_message message;
	struct dist_store *master, *user;
	int64_t n;
	int port;

	know("sesame");
	okay_or(dist_tcp_store_new("127.0.0.1", 0, 0, true, 20 * SECOND,
				   &master, &message),
		message);
	port = dist_tcp_store_port(master);
	know("open");
	cr_assert_eq(dist_tcp_store_new("127.0.0.1", port, 0, false, SECOND,
					&user, &message),
		     DIST_ERR_RENDEZVOUS);
	cr_assert_not_null(strstr(message.text, "is not the one of rank 0"));
	know(NULL);
	cr_assert_eq(dist_tcp_store_new("127.0.0.1", port, 0, false, SECOND,
					&user, &message),
		     DIST_ERR_RENDEZVOUS);
	cr_assert_not_null(strstr(message.text, "this process has none"));
	know("sesame");
	okay_or(dist_tcp_store_new("127.0.0.1", port, 0, false, 20 * SECOND,
				   &user, &message),
		message);
	okay(dist_store_add(user, "n", 1, &n));
	dist_store_free(user);
	dist_store_free(master);
}

/* Sends the parcel, which it releases, and sees the connection end. */
static void expect_hung_up(int fd, struct dist__parcel *parcel)
{
	char answer[256];

	cr_assert_eq(send(fd, parcel->data, parcel->len, MSG_NOSIGNAL),
		     (ssize_t)parcel->len);
	dist__parcel_release(parcel);
	cr_assert_leq(recv(fd, answer, sizeof answer, 0), 0);
	close(fd);
}

/* A proof that was overheard is worth nothing on another connection. */
Test(secret, cannot_be_replayed)
{
	struct dist__parcel parcel;
	struct dist_store *master;
	unsigned char zeros[DIST__NONCE_BYTES] = {0};
	char answer[256] = "";
	int fd;

	know("sesame");
	okay(dist_tcp_store_new("127.0.0.1", 0, 0, true, 20 * SECOND, &master,
				NULL));
	fd = tcp_dial(dist_tcp_store_port(master));
	/* A proof without a challenge: hung up on. */
	dist__parcel_init(&parcel, DIST__STORE_PROVE, 0);
	dist__parcel_add(&parcel, zeros, sizeof zeros);
	dist__parcel_add(&parcel, zeros, sizeof zeros);
	expect_hung_up(fd, &parcel);
	/* A request longer than a stranger's may be: the same. */
	fd = tcp_dial(dist_tcp_store_port(master));
	dist__parcel_init(&parcel, DIST__STORE_SET, 0);
	dist__parcel_add_text(&parcel, "key");
	dist__parcel_add(&parcel, answer, sizeof answer);
	expect_hung_up(fd, &parcel);
	dist_store_free(master);
}

/* ---- between ranks ------------------------------------------------------ */

/* Everything that a rank learns from the rendezvous, but for the secret. */
static struct dist__address addresses[2];
static int listeners[2];

struct mesh_rank {
	int rank;
	const char *secret;
	enum dist_error wanted;
};

static int talk(void *arg)
{
	const struct mesh_rank *self = arg;
	struct dist__endpoint endpoint = {
		.rank = self->rank,
		.world_size = 2,
		.token = 7,
		.addresses = addresses,
		.listener = listeners[self->rank],
		.secret = self->secret,
	};
	struct tcp_rank r = {.rank = self->rank, .world_size = 2};
	int64_t in = -1, out = self->rank;
	enum dist_error error;

	close(listeners[1 - self->rank]);
	if (dist__tcp_transport_new(&endpoint, &r.transport))
		return 1;
	error = tcp_send(&r, 1 - r.rank, 0, &out, 8, 10 * SECOND);
	if (!error)
		error = tcp_receive(&r, 1 - r.rank, 0, &in, 8, 10 * SECOND);
	tcp_is(&r, "error", error != DIST_OK, self->wanted != DIST_OK);
	tcp_is(&r, "contents", in, self->wanted ? -1 : 1 - r.rank);
	tcp_leave(&r);
	return r.failures;
}

static void connect_ranks(const char *const secrets[2], enum dist_error wanted)
{
	struct mesh_rank ranks[2];
	struct dist_message message;
	struct tcp_world world;
	pid_t pids[2];

	cr_assert(tcp_world_open(&world));
	for (int i = 0; i < 2; i++) {
		okay(dist__socket_listen("127.0.0.1", 0, &listeners[i],
					 &message));
		cr_assert(dist__socket_local(listeners[i], &addresses[i]));
	}
	for (int i = 0; i < 2; i++) {
		ranks[i] = (struct mesh_rank){i, secrets[i], wanted};
		pids[i] = tcp_world_start(&world, i, 2, talk, &ranks[i]);
	}
	for (int i = 0; i < 2; i++)
		close(listeners[i]);
	tcp_world_close(&world);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(tcp_status(pids[i]), 0, "rank %d", i);
}

Test(secret, guards_the_connections_of_ranks)
{
	static const char *const same[] = {"sesame", "sesame"};
	static const char *const differ[] = {"sesame", "open"};
	static const char *const first[] = {"sesame", NULL};
	static const char *const second[] = {NULL, "sesame"};

	/* Often, because who dials first is a matter of chance. */
	for (int i = 0; i < 20; i++)
		connect_ranks(same, DIST_OK);
	connect_ranks(differ, DIST_ERR_PEER_LOST);
	connect_ranks(first, DIST_ERR_PEER_LOST);
	connect_ranks(second, DIST_ERR_PEER_LOST);
}
