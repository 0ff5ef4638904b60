#include "tests/support/seat.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/record.h"
#include "sim/launch.h"
#include "tests/support/leaks.h"

struct seat seat_take(void)
{
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct seat seat = {0};
	enum dist_error error;

	error = dist__sim_world.attach(&options, &seat.place, &message);
	cr_assert_eq(error, DIST_OK, "%s", message.text);
	seat.t = seat.place.transport;
	seat.rank = seat.place.rank;
	return seat;
}

void seat_leave(struct seat *seat)
{
	seat->t->ops->free(seat->t);
}

int64_t seat_now(struct seat *seat)
{
	return seat->t->ops->now_ns(seat->t);
}

void seat_compute(struct seat *seat, int64_t ns)
{
	cr_assert_eq(seat->t->ops->compute(seat->t, ns), DIST_OK);
}

struct dist__message seat_message(int peer, void *data, size_t bytes)
{
	return (struct dist__message){.peer = peer,
				      .tag = -1,
				      .fingerprint = 7,
				      .data = data,
				      .bytes = bytes};
}

struct dist__request *seat_isend(struct seat *seat, int peer, const void *data,
				 size_t bytes)
{
	struct dist__message m = seat_message(peer, (void *)data, bytes);
	struct dist__request *request = NULL;

	cr_assert_eq(seat->t->ops->isend(seat->t, &m, &request), DIST_OK);
	return request;
}

struct dist__request *seat_irecv(struct seat *seat, int peer, void *data,
				 size_t bytes)
{
	struct dist__message m = seat_message(peer, data, bytes);
	struct dist__request *request = NULL;

	cr_assert_eq(seat->t->ops->irecv(seat->t, &m, &request), DIST_OK);
	return request;
}

enum dist_error seat_wait(struct seat *seat, struct dist__request *request,
			  int64_t deadline_ns)
{
	return seat->t->ops->wait(seat->t, request, deadline_ns);
}

void seat_finish(struct seat *seat, struct dist__request *request)
{
	cr_assert_eq(seat_wait(seat, request, NEVER), DIST_OK);
}

int seat_launch(int ranks, int (*program)(void *arg), void *arg)
{
	struct dist_launch_options options = {
		.world_size = ranks,
		.platform = STAR4,
		.timeout_ns = DIST_TIMEOUT_DEFAULT,
	};

	return dist__sim_world.launch(&options, program, arg);
}

static int simulate(const char *platform, const char *profile, int ranks,
		    int (*program)(void *arg), void *arg)
{
	char path[] = "/tmp/lockstep-profile-XXXXXX";
	struct dist_launch_options options = {
		.world_size = ranks,
		.platform = platform,
		.profile = profile ? path : NULL,
		.timeout_ns = DIST_TIMEOUT_DEFAULT,
	};
	int fd = mkstemp(path), status;

	cr_assert_geq(fd, 0);
	if (profile)
		cr_assert_eq(write(fd, profile, strlen(profile)),
			     (ssize_t)strlen(profile));
	close(fd);
	status = dist__sim_world.launch(&options, program, arg);
	unlink(path);
	cr_expect_eq(leaks_found(), 0);
	return status;
}

int seat_simulate(int ranks, int (*program)(void *arg), void *arg)
{
	return simulate(STAR4, NULL, ranks, program, arg);
}

int seat_simulate_by(const char *platform, const char *profile, int ranks,
		     int (*program)(void *arg))
{
	return simulate(platform, profile, ranks, program, NULL);
}

struct rank {
	seat_program *program;
	int status; /* of the job */
};

static int take_and_leave(void *arg)
{
	const struct rank *rank = arg;
	struct seat seat = seat_take();

	rank->program(&seat);
	seat_leave(&seat);
	return rank->status != DIST_EXIT_OK;
}

void seat_test(int ranks, int status, const char *profile,
	       seat_program *program)
{
	struct rank rank = {program, status};

	if (status != DIST_EXIT_OK)
		cr_redirect_stderr();
	cr_assert_eq(simulate(STAR4, profile, ranks, take_and_leave, &rank),
		     status);
}

/* Writes into the rank's records that it waits in a receive from peer, as
 * core does for a call. */
void seat_record_recv(struct seat *seat, int peer)
{
	struct check_call call = {.peer = peer, .peer_rank = peer, .numel = 1};

	strcpy(call.op, "recv");
	strcpy(call.dtype, "float32");
	strcpy(call.group, "default");
	check_site_set(&call.site, __FILE__, __LINE__);
	seat->place.slot->state = CHECK_RANK_RUNNING;
	check_wait(seat->place.slot, check_issue(seat->place.slot, &call),
		   NULL);
}

/* Does what a collective does: a message, then the end of the op. */
static void exchange(void *arg)
{
	struct task *task = arg;
	struct seat *seat = task->seat;
	struct dist__request *request;
	enum dist_error error;
	int peer = 1 - seat->rank;

	request = seat->rank == 0 ? seat_isend(seat, peer, NULL, MEGABYTE)
				  : seat_irecv(seat, peer, NULL, MEGABYTE);
	error = seat_wait(seat, request, NEVER);
	dist__op_finish(&task->op, error, seat_now(seat));
	seat->t->ops->lanes->notify(task->lane);
}

void task_submit(struct seat *seat, struct dist__lane *lane, struct task *task)
{
	*task = (struct task){.seat = seat, .lane = lane};
	task->job = (struct dist__job){.run = exchange, .arg = task};
	cr_assert_eq(seat->t->ops->lanes->submit(lane, &task->job), DIST_OK);
}
