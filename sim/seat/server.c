/*
 * server.c - the program of a simulated rank that is a process of its own:
 * waits for what the process asks next, does it, and answers.
 *
 * While it waits its actor does not give way, so the clock cannot pass what the
 * rank is about to do: the simulation is what it would be with the rank in
 * here. Ranks that go on in the same instant compute at the same time: each is
 * answered before the first of them is waited for.
 */
#define _GNU_SOURCE /* memfd_create */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_limit.h"
#include "lockstep/store.h"
#include "sim/actor.h"
#include "sim/ending.h"
#include "sim/launch.h"
#include "sim/progress.h"
#include "sim/run.h"
#include "sim/seat/beside.h"
#include "sim/seat/op.h"
#include "sim/seat/processes.h"
#include "sim/seat/store.h"
#include "sim/watch.h"

/* Between looks whether somebody is there at all. */
#define LOOK_MS 1000
/* Ranks that the end of the world was told to end by themselves so soon. */
#define GRACE_NS ((int64_t)3000000000)
/* Simulated time between looks at a thread that waits for another. */
#define ASIDE_NS 10000000

/* A back end of the rank's, and what it borrows. */
struct served {
	struct dist__backend *backend; /* NULL: free */
	struct dist__members members;
	char name[32], description[32];
	int *ranks;
};

/* What serves the requests of one thread: the rank's own, or that of a lane. */
struct server {
	struct server *main; /* of the rank's own; it has the tables */
	struct dist__sim_world *world;
	struct dist__sim_rank *rank;
	struct dist__seat_slot *seat;
	uint32_t served; /* requests */
	struct dist__place place;
	struct served **backends; /* object n is at n - 1 */
	uint32_t num_backends;
	struct dist__seat_work **works; /* likewise */
	uint32_t num_works;
	struct dist__seat_beside beside;
	struct dist__seat_value value; /* of the store */
	struct lane *lanes[DIST__SEAT_LANES];
	int num_lanes;
	int64_t ended_ns; /* real time since the world has; 0: it has not */
};

/* A thread beside the rank's own. */
struct lane {
	struct dist__lane *lane; /* whose actor serves it */
	struct server server;
};

/* A job that the thread of a lane is to do; `theirs` means something to it. */
struct job {
	struct dist__job job;
	struct lane *lane;
	void *theirs;
};

/* An actor whose thread waits for another thread of its rank, by a lock of the
 * program's say; on its stack. */
struct aside {
	struct aside *next;
	const struct dist__sim_rank *rank;
	struct dist__engine_gate *gate;
};

/* A process runs one simulation at a time; one it forked, its own. */
static struct {
	pid_t process; /* whose run this is */
	struct dist__seat_head *head;
	pid_t starter;
	struct dist_store *store; /* all ranks' */
	int fd;                   /* of the seats */
	struct aside *asides;     /* all ranks' */
} here;

/* ---- the seats ----------------------------------------------------------- */

static bool make_seats(struct dist__sim_world *world,
		       const struct dist__seat_job *job)
{
	size_t bytes =
		DIST__SEAT_HEAD + (size_t)world->present * DIST__SEAT_BYTES;
	off_t size = dist__seat_of_lane(world->present, world->present, 0);
	int fd = memfd_create("lockstep-seats", MFD_CLOEXEC);

	if (fd < 0 || !dist__file_fits((uint64_t)size) || ftruncate(fd, size))
		return false;
	here.fd = fd;
	here.head =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (here.head == MAP_FAILED || !dist__sim_watch_share(world))
		return false;
	*here.head = (struct dist__seat_head){
		.magic = DIST__SEAT_MAGIC,
		.layout = DIST__SEAT_LAYOUT,
		.world_size = world->world_size,
		.present = world->present,
		.debug = (int32_t)world->debug,
		.records_at = DIST__SIM_RECORDS +
			      (int64_t)offsetof(struct check_board, slots),
	};
	snprintf(here.head->records, sizeof here.head->records,
		 "/proc/%ld/fd/%d", (long)getpid(), world->board_fd);
	if (dist_hash_store_new(&here.store))
		return false;
	world->has_processes = true;
	here.starter = dist__seat_start(job, here.head, fd);
	here.process = getpid();
	return here.starter > 0;
}

/* Once in every run: makes the seats and starts who sits there. */
static bool open_seats(struct dist__sim_world *world,
		       const struct dist__seat_job *job)
{
	if (here.process == getpid() && here.head)
		return true;
	if (make_seats(world, job))
		return true;
	fprintf(stderr, "lockstep: cannot start the ranks: %s\n",
		strerror(errno));
	return false;
}

/* ---- waiting for the rank ----------------------------------------------- */

/* Whether who would tell of the rank's end is gone itself. */
static bool is_forsaken(void)
{
	return kill(here.starter, 0) != 0 ||
	       waitpid(here.starter, NULL, WNOHANG) == here.starter;
}

/* Ends a rank that does not end although the world has. */
static void hurry(struct server *s)
{
	int64_t now_ns = dist__clock_ns();

	if (!s->world->ended || s->main->seat->pid <= 0)
		return;
	if (!s->ended_ns)
		s->ended_ns = now_ns;
	else if (now_ns - s->ended_ns > GRACE_NS)
		(void)kill(s->main->seat->pid, SIGKILL);
}

/* Sleeps until the rank asks or leaves, and sees to what may be amiss. False:
 * nobody will ever tell that it has left. */
static bool doze(struct server *s, uint32_t bell)
{
	bool has_come = s->main->seat->pid != 0, rung;

	rung = dist__seat_sleep(&s->seat->bell, bell,
				has_come ? LOOK_MS : LOOK_MS / 20);
	if (rung)
		return true;
	/* Who has yet to come to its first call may import for long. */
	if (!has_come)
		dist__sim_watch_note(s->rank);
	hurry(s);
	return !is_forsaken();
}

/* Lets those that have stepped aside look again; of a rank, or of all. */
static void call_back(struct server *s, const struct dist__sim_rank *rank)
{
	for (struct aside *aside = here.asides; aside; aside = aside->next)
		if (!rank || aside->rank == rank)
			dist__sim_gate_open(s->world, aside->gate);
}

/* Lets other threads of the rank go on, for one of which this one waits, until
 * one of them has come to its next request. Where nothing else can move it
 * waits for something that is not simulated, in no simulated time. */
static void step_aside(struct server *s)
{
	struct dist__sim_world *world = s->world;
	struct dist__sim_actor *actor = dist__engine->self();
	struct aside self = {here.asides, s->rank, &actor->gate}, **link;
	int waiting = 1;

	for (struct aside *aside = here.asides; aside; aside = aside->next)
		waiting++;
	if (world->ended)
		return;
	if ((int)world->movable <= waiting) {
		call_back(s, NULL);
		dist__engine->yield();
		return;
	}
	here.asides = &self;
	dist__sim_unblock(world); /* a look of its own comes */
	dist__sim_gate_wait(world, &actor->gate,
			    dist__sim_now_ns(world) + ASIDE_NS);
	(void)dist__sim_block(world);
	for (link = &here.asides; *link != &self;)
		link = &(*link)->next;
	*link = self.next;
}

/* The same where there are lanes: threads of one rank go on one at a time, but
 * for those that wait for each other. */
static bool doze_among(struct server *s, uint32_t bell, int *looks)
{
	const struct dist__seat_slot *own = s->main->seat;

	if (dist__seat_sleep(&s->seat->bell, bell, 1)) {
		*looks = 0;
		return true;
	}
	*looks = dist__seat_is_asleep(own->pid) ? *looks + 1 : 0;
	if (*looks >= 3) {
		*looks = 0;
		step_aside(s);
	}
	hurry(s);
	return !own->left && !is_forsaken();
}

/* Waits for the next request. False: the process has ended. */
static bool await(struct server *s)
{
	struct dist__seat_slot *seat = s->seat;
	bool there = true;
	int looks = 0;

	seat->dozes = 1;
	while (there && seat->asked == s->served) {
		uint32_t bell = seat->bell;

		if (seat->asked != s->served)
			break;
		there = !s->main->seat->left &&
			(s->main->num_lanes > 0 ? doze_among(s, bell, &looks)
						: doze(s, bell));
	}
	seat->dozes = 0;
	/* Others may wait for what this thread did. */
	call_back(s, s->rank);
	return there;
}

static void answer(struct server *s, enum dist_error error)
{
	struct dist__seat_slot *seat = s->seat;

	seat->error = error;
	s->served = seat->asked;
	seat->answered = s->served;
	dist__seat_wake(&seat->answered);
}

/* ---- what it asks for ---------------------------------------------------- */

static enum dist_error attach(struct server *s)
{
	struct dist__seat_slot *seat = s->seat;
	struct dist_message message = {""};
	struct dist_init_options options = {
		.backend = "sim",
		.init_method = seat->text[0] ? seat->text : NULL,
		.rank = seat->rank,
		.world_size = seat->world_size,
		.timeout_ns = seat->time_ns,
	};
	enum dist_error error = DIST_OK;
	char probe;

	if (dist__seat_read(seat->pid, &probe, seat->address, 1)) {
		error = DIST_ERR_UNAVAILABLE;
		snprintf(
			message.text, sizeof message.text,
			"the memory of process %d cannot be read by its parent "
			"(process_vm_readv): expected a system that lets it",
			(int)seat->pid);
	}
	if (!error)
		error = dist__sim_world.attach(&options, &s->main->place,
					       &message);

	seat->rank = s->main->place.rank;
	seat->world_size = s->main->place.world_size;
	seat->time_ns = s->main->place.timeout_ns;
	snprintf(seat->text, sizeof seat->text, "%s", message.text);
	return error;
}

static enum dist_error detach(struct server *s)
{
	struct dist__transport *transport = s->main->place.transport;

	if (!transport)
		return DIST_ERR_INVALID_ARGUMENT;
	s->main->place.transport = NULL;
	return transport->ops->free(transport);
}

/* Returns the number of a free place for a back end; num_backends: no memory.
 * Back ends may borrow from a place: it is not moved. */
static uint32_t find_room(struct server *s)
{
	struct served **more;
	uint32_t i = 0;

	while (i < s->main->num_backends && s->main->backends[i]->backend)
		i++;
	if (i < s->main->num_backends)
		return i;
	more = realloc(s->main->backends, (i + 1) * sizeof *more);
	if (!more)
		return i;
	s->main->backends = more;
	s->main->backends[i] = calloc(1, sizeof **more);
	if (s->main->backends[i])
		s->main->num_backends++;
	return i;
}

static enum dist_error take_members(struct server *s, struct served *served)
{
	const struct dist__seat_slot *seat = s->seat;
	struct dist__members *members = &served->members;
	size_t bytes;

	*members = seat->members;
	members->nodes = s->main->place.nodes;
	if (members->name)
		members->name = dist__seat_word(seat->name);
	if (members->description)
		members->description = dist__seat_word(seat->description);
	if (!members->ranks)
		return DIST_OK;
	bytes = (size_t)members->world_size * sizeof *members->ranks;
	served->ranks = malloc(bytes);
	if (!served->ranks)
		return DIST_ERR_NO_MEMORY;
	members->ranks = served->ranks;
	return dist__seat_read(seat->pid, served->ranks, seat->members.ranks,
			       bytes);
}

static enum dist_error backend_new(struct server *s)
{
	struct dist__recorder *recorder = s->main->place.recorder;
	struct dist__backend *inner = NULL, *outer;
	struct dist_message message = {""};
	uint32_t number = find_room(s);
	struct served *served;
	enum dist_error error;

	if (number == s->main->num_backends)
		return DIST_ERR_NO_MEMORY;
	served = s->main->backends[number];
	*served = (struct served){.backend = NULL};
	error = take_members(s, served);
	if (!error)
		error = dist__sim_world.backend_new(
			&s->main->place, &served->members, &inner, &message);
	snprintf(s->seat->text, sizeof s->seat->text, "%s", message.text);
	if (error) {
		free(served->ranks);
		return error;
	}
	outer = inner;
	if (recorder)
		outer = recorder->wrap(recorder, inner, &served->members);
	if (recorder && !outer) {
		inner->ops->free(inner);
		free(served->ranks);
		return DIST_ERR_NO_MEMORY;
	}
	served->backend = outer;
	s->seat->object = number + 1;
	return DIST_OK;
}

static enum dist_error run(struct server *s, struct served *served)
{
	struct dist__seat_work *work;
	enum dist_error error =
		dist__seat_work_new(s->seat, served->members.rank,
				    served->members.world_size, &work);

	if (error)
		return error;
	error = served->backend->ops->run(served->backend,
					  dist__seat_work_op(work));
	if (error) {
		(void)dist__seat_work_end(work, s->seat);
		return error;
	}
	return dist__seat_work_end(work, s->seat);
}

static enum dist_error submit(struct server *s, struct served *served)
{
	void **place = dist__seat_place((void ***)&s->main->works,
					&s->main->num_works);
	struct dist__seat_work *work;
	enum dist_error error;

	if (!place)
		return DIST_ERR_NO_MEMORY;
	error = dist__seat_work_new(s->seat, served->members.rank,
				    served->members.world_size, &work);
	if (error)
		return error;
	error = served->backend->ops->submit(served->backend,
					     dist__seat_work_op(work));
	if (error) {
		dist__seat_work_free(work);
		return error;
	}
	*place = work;
	s->seat->work = (uint32_t)(place - (void **)s->main->works) + 1;
	return DIST_OK;
}

/* Waits for an operation, or looks whether it is done. */
static enum dist_error look(struct server *s, struct served *served, bool waits)
{
	const struct dist__backend_ops *ops = served->backend->ops;
	struct dist__seat_slot *seat = s->seat;
	uint32_t number = seat->work - 1;
	struct dist__op *op;
	enum dist_error error = DIST_OK, ended;

	if (number >= s->main->num_works || !s->main->works[number])
		return DIST_ERR_INVALID_ARGUMENT;
	op = dist__seat_work_op(s->main->works[number]);
	if (waits)
		error = ops->wait(served->backend, op, seat->time_ns);
	else
		(void)ops->test(served->backend, op);
	seat->done = dist__op_is_done(op);
	if (!seat->done)
		return error;
	ended = dist__seat_work_end(s->main->works[number], seat);
	s->main->works[number] = NULL;
	return waits && error ? error : ended;
}

static enum dist_error tell_failure(struct server *s, struct served *served)
{
	const char *text =
		served->backend->ops->failure_text
			? served->backend->ops->failure_text(served->backend)
			: "";

	snprintf(s->seat->text, sizeof s->seat->text, "%s", text);
	return DIST_OK;
}

static enum dist_error sleep_for(int64_t duration_ns)
{
	struct dist__sim_actor *actor = dist__engine->self();

	dist__sim_pay(actor);
	dist__sim_pass(actor, (double)duration_ns * 1e-9);
	return DIST_OK;
}

static enum dist_error serve_backend(struct server *s)
{
	uint32_t number = s->seat->object - 1;
	struct served *served;

	if (number >= s->main->num_backends ||
	    !s->main->backends[number]->backend)
		return DIST_ERR_INVALID_ARGUMENT;
	served = s->main->backends[number];
	switch (s->seat->code) {
	case DIST__SEAT_BACKEND_FREE:
		served->backend->ops->free(served->backend);
		free(served->ranks);
		*served = (struct served){.backend = NULL};
		return DIST_OK;
	case DIST__SEAT_RUN:
		return run(s, served);
	case DIST__SEAT_SUBMIT:
		return submit(s, served);
	case DIST__SEAT_WAIT:
		return look(s, served, true);
	case DIST__SEAT_TEST:
		return look(s, served, false);
	case DIST__SEAT_COMPUTE:
		return served->backend->ops->compute(
			served->backend, s->seat->time_ns,
			dist__seat_word(s->seat->text));
	case DIST__SEAT_ABORT:
		served->backend->ops->abort(served->backend);
		return DIST_OK;
	case DIST__SEAT_FAILURE:
		return tell_failure(s, served);
	default:
		return DIST_ERR_INVALID_ARGUMENT;
	}
}

/* ---- lanes -----------------------------------------------------------------
 */

static enum dist_error serve(struct server *s);

/* Serves the request that has come. */
static void serve_one(struct server *s)
{
	enum dist_error error;

	dist__sim_watch_note(s->rank);
	error = serve(s);
	dist__sim_pay(dist__engine->self());
	s->seat->now_ns = dist__sim_now_ns(s->world);
	answer(s, error);
}

/* Notes how the process has ended, as long as that is news. Returns the rank's
 * status. */
static int note_end(struct server *s, bool is_lost)
{
	struct check_slot *slot = &s->world->board->slots[s->rank->rank];
	int status = s->main->seat->status;

	if (!s->main->seat->left)
		s->rank->killed_by = SIGKILL;
	else if (WIFSIGNALED(status))
		s->rank->killed_by = WTERMSIG(status);
	if (!s->world->ended && (is_lost || s->rank->killed_by))
		slot->state = CHECK_RANK_LOST;
	return s->rank->killed_by ? 128 + s->rank->killed_by
				  : WEXITSTATUS(status);
}

/* Waits for the next request of a lane. False: its process has ended under it,
 * and the rank's own actor, which waits for others, cannot see that. */
static bool await_lane(struct server *s)
{
	if (await(s))
		return true;
	if (!s->world->ended)
		s->rank->status = note_end(s, true);
	return false;
}

/* Gives the thread of a lane a job, and serves it until it asks for another. */
static void run_job(void *arg)
{
	struct job *job = arg;
	struct server *s = &job->lane->server;
	bool there = await_lane(s);

	s->seat->address = job->theirs;
	s->seat->done = false;
	free(job);
	if (!there)
		return;
	s->seat->now_ns = dist__sim_now_ns(s->world);
	answer(s, DIST_OK);
	while (await_lane(s) && s->seat->code != DIST__SEAT_LANE_NEXT)
		serve_one(s);
}

static enum dist_error lane_new(struct server *s, struct dist__transport *t)
{
	struct server *own = s->main;
	struct lane *fresh;
	int number = 0;
	void *seat;

	while (number < DIST__SEAT_LANES && own->lanes[number])
		number++;
	fresh = number < DIST__SEAT_LANES ? calloc(1, sizeof *fresh) : NULL;
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	seat = mmap(
		NULL, DIST__SEAT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		here.fd,
		dist__seat_of_lane(s->world->present, s->rank->rank, number));
	if (seat == MAP_FAILED || t->ops->lanes->create(t, &fresh->lane)) {
		free(fresh);
		return DIST_ERR_NO_MEMORY;
	}
	memset(seat, 0, DIST__SEAT_BYTES);
	fresh->server = (struct server){
		.main = own, .world = s->world, .rank = s->rank, .seat = seat};
	own->lanes[number] = fresh;
	own->num_lanes++;
	s->seat->object = (uint32_t)number + 1;
	return DIST_OK;
}

static enum dist_error lane_add(struct server *s, struct dist__transport *t,
				struct lane *lane)
{
	struct job *job = malloc(sizeof *job);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (!job)
		return error;
	*job = (struct job){.job = {.run = run_job, .arg = job},
			    .lane = lane,
			    .theirs = s->seat->address};
	error = t->ops->lanes->submit(lane->lane, &job->job);
	if (error)
		free(job);
	return error;
}

/* Frees a lane once its jobs are done, and sends its thread home. */
static enum dist_error lane_free(struct server *s, struct dist__transport *t,
				 uint32_t number)
{
	struct lane *lane = s->main->lanes[number];

	t->ops->lanes->free(lane->lane);
	if (await(&lane->server)) {
		lane->server.seat->done = true;
		answer(&lane->server, DIST_OK);
	}
	(void)munmap(lane->server.seat, DIST__SEAT_BYTES);
	free(lane);
	s->main->lanes[number] = NULL;
	s->main->num_lanes--;
	return DIST_OK;
}

static enum dist_error serve_lane(struct server *s)
{
	struct dist__transport *t = s->main->place.transport;
	uint32_t number = s->seat->object - 1;

	if (!t)
		return DIST_ERR_INVALID_ARGUMENT;
	if (s->seat->code == DIST__SEAT_LANE_NEW)
		return lane_new(s, t);
	if (number >= DIST__SEAT_LANES || !s->main->lanes[number])
		return DIST_ERR_INVALID_ARGUMENT;
	return s->seat->code == DIST__SEAT_LANE_ADD
		       ? lane_add(s, t, s->main->lanes[number])
		       : lane_free(s, t, number);
}

static enum dist_error serve(struct server *s)
{
	struct dist__seat_slot *seat = s->seat;

	if (seat->charge_ns > 0)
		(void)sleep_for(seat->charge_ns);
	switch (seat->code) {
	case DIST__SEAT_ATTACH:
		return attach(s);
	case DIST__SEAT_DETACH:
		return detach(s);
	case DIST__SEAT_BACKEND_NEW:
		return backend_new(s);
	case DIST__SEAT_SLEEP:
		return sleep_for(seat->time_ns);
	case DIST__SEAT_STORE_SET:
	case DIST__SEAT_STORE_ADD:
	case DIST__SEAT_STORE_COMPARE:
	case DIST__SEAT_STORE_DELETE:
	case DIST__SEAT_STORE_COUNT:
	case DIST__SEAT_STORE_LOOK:
	case DIST__SEAT_STORE_WAIT:
	case DIST__SEAT_STORE_FETCH:
		return dist__seat_store_serve(
			here.store, s->world->world_size / s->world->present,
			seat, &s->value);
	case DIST__SEAT_LANE_NEW:
	case DIST__SEAT_LANE_ADD:
	case DIST__SEAT_LANE_FREE:
		return serve_lane(s);
	case DIST__SEAT_SEND:
	case DIST__SEAT_RECV:
	case DIST__SEAT_RECEIVED:
	case DIST__SEAT_LOOK:
	case DIST__SEAT_BUSY:
	case DIST__SEAT_QUIT:
	case DIST__SEAT_EVENT_NEW:
	case DIST__SEAT_EVENT_WAIT:
	case DIST__SEAT_EVENT_SET:
	case DIST__SEAT_EVENT_FREE:
		return dist__seat_beside_serve(&s->main->beside,
					       s->main->place.transport,
					       s->main->seat->pid, seat);
	default:
		return serve_backend(s);
	}
}

/* ---- the rank ------------------------------------------------------------ */

/* The rank's status, now that its process has ended. */
static int leave(struct server *s)
{
	if (here.head->refused && !s->world->ended)
		dist__sim_end(s->world, DIST_ERR_ABORTED, here.head->refused);
	return note_end(s, false);
}

int dist__seat_rank(void *job)
{
	struct dist__sim_world *world = dist__sim_running();
	const struct dist__sim_actor *actor = dist__engine->self();
	struct server *s = calloc(1, sizeof *s);
	int status;

	if (!s || !open_seats(world, job)) {
		free(s);
		return DIST_EXIT_INTERNAL;
	}
	s->main = s;
	s->world = world;
	s->rank = actor->rank;
	s->seat = dist__seat_at(here.head, s->rank->rank);
	while (await(s)) {
		serve_one(s);
		/* Others may go on in this instant, too; not those of this
		 * rank. */
		if (!world->ended && s->num_lanes == 0)
			dist__engine->yield();
	}
	status = leave(s);
	/* Of a rank that was killed, back ends are left that others may look
	 * at, and lanes that have yet to end. */
	for (uint32_t i = 0; i < s->num_backends; i++)
		if (!s->backends[i]->backend)
			free(s->backends[i]);
	free(s->backends);
	free(s->works);
	if (s->num_lanes == 0) {
		dist__seat_beside_free(&s->beside);
		free(s);
	}
	return status;
}
