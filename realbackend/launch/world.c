#define _GNU_SOURCE /* on_exit */

#include "realbackend/launch/world.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/variable.h"
#include "coll/p2p_backend.h"
#include "base/refuse.h"
#include "coll/profile.h"
#include "realbackend/launch/board.h"
#include "realbackend/launch/cores.h"
#include "realbackend/launch/crash.h"
#include "realbackend/launch/rank_dump.h"
#include "realbackend/store/environment.h"
#include "realbackend/launch/launcher.h"
#include "realbackend/store/rendezvous.h"
#include "realbackend/wire/socket.h"
#include "realbackend/wire/transport.h"
#include "trace/recorder.h"

/* Room for what describe_congestion() says. */
#define CONGESTION_TEXT (2 * DIST__CONGESTION_TEXT + 32)

/* What a rank's place points to. It outlives the rank, that is, until the
 * process ends or joins its next job. */
struct keep {
	struct dist__profile profile;
	int *nodes;
	struct dist__rendezvous_place meeting; /* the transport's to leave */
	bool has_left;
	struct dist__transport *transport; /* until has_left; NULL: told */
	pthread_t thread;                  /* that joined */
	char at[280];                /* host and port where it met; "": none */
	uint64_t token;              /* of the job */
	struct check_slot slot;      /* where no launcher gave one */
	struct dist__dumper *dumper; /* likewise; NULL: no dumps wanted */
};

/* A process is one rank at a time, so these are the rank's. */
static struct keep *kept;
static struct check_slot *own; /* on the board, or of what is kept */
static bool leaves_at_exit;

/* Records on the launcher's board; slot NULL: none. */
struct mapped {
	struct check_slot *slot;
	int rank;
	uint32_t world_size; /* of the board */
};
static struct mapped started; /* as which the launcher started the process */
static struct mapped renamed; /* as which it came, if that is another */

static struct check_slot *records(void)
{
	return own;
}

static bool is_available(struct dist_message *why)
{
	char congestion[DIST__CONGESTION_SENTENCE];

	dist__socket_describe_congestion(congestion);
	snprintf(why->text, sizeof why->text, "%s", congestion);
	return true;
}

/* ---- joining ------------------------------------------------------------ */

static enum dist_error load_profile(const struct dist__environment *e,
				    struct dist__profile *profile,
				    struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	dist__profile_init(profile);
	if (e->profile)
		error = dist__profile_find(profile, e->profile, message);
	if (!error && profile->library[0] && profile->num_rules == 0)
		return dist__refuse(message,
				    "profile %s: expected one with a "
				    "selection: real ranks run Lockstep's "
				    "algorithms, and it has none of them",
				    profile->name);
	if (!error && e->algorithm)
		error = dist__profile_force(profile, NULL, e->algorithm,
					    message);
	return error;
}

/* At exit with status 0: a rank may just end, without a word, and has left in
 * order then. But not in the midst of a call. */
static void leave_at_exit(int status, void *arg)
{
	(void)arg;
	if (status || !kept || kept->has_left || !kept->transport ||
	    dist__is_copied() || own->state != CHECK_RANK_RUNNING ||
	    !pthread_equal(kept->thread, pthread_self()))
		return;
	dist__tcp_transport_leave(kept->transport);
	kept->transport = NULL;
}

/* A variable's number, -1 if it has none. */
static int number_of(const char *name)
{
	const char *text = dist__variable(name);

	return text ? atoi(text) : -1;
}

/* Maps the records of rank on the launcher's board, if there is one. */
static void map_slot(struct mapped *mapped, int rank)
{
	if (mapped->slot && mapped->rank == rank)
		return;
	mapped->rank = rank;
	mapped->slot = dist__board_slot(number_of("LOCKSTEP_BOARD_FD"), rank,
					&mapped->world_size);
}

/* A rank may crash before it joins, but what it started in turn is no rank.
 * Python's own handlers say more of its ranks. */
static __attribute__((constructor)) void watch_for_crash(void)
{
	if (number_of("LOCKSTEP_LAUNCHER") != (int)getppid() ||
	    dist__variable("LOCKSTEP_NOTES"))
		return;
	map_slot(&started, number_of("RANK"));
	if (started.slot)
		dist__crash_watch(started.slot);
}

/* This rank's slot there, if it has come to the world that it was started for.
 */
static struct check_slot *find_slot(const struct dist__environment *e)
{
	struct mapped *mapped =
		started.slot && started.rank == e->rank ? &started : &renamed;

	map_slot(mapped, e->rank);
	return mapped->slot && mapped->world_size == (uint32_t)e->world_size
		       ? mapped->slot
		       : NULL;
}

/* Where this rank has its records if the program started it itself. */
static struct check_slot *find_own_slot(const struct dist__environment *e,
					uint64_t job)
{
	const char *path = dist__variable("LOCKSTEP_OWN_RANKS");

	return path ? dist__board_join_own(path, job, e->rank,
					   (uint32_t)e->world_size)
		    : NULL;
}

/* Whether a process that the launcher started forked this one. */
static bool is_forked(void)
{
	const char *notes = dist__variable("LOCKSTEP_NOTES");
	const char *pid = notes ? strchr(notes, ':') : NULL;

	return pid && atol(pid + 1) != (long)getpid();
}

/* Records for the launcher, which sees only an exit status, why the ranks did
 * not find each other, as the rank that it started, whatever that calls
 * itself. */
static void record_rendezvous(const char *text,
			      const struct check_rendezvous_failure *failure)
{
	static const char prefix[] = "rendezvous: ";
	struct check_rendezvous_failure *record;

	if (!started.slot)
		return;
	record = &started.slot->rendezvous;
	*record = *failure;
	if (strncmp(text, prefix, strlen(prefix)) == 0)
		text += strlen(prefix);
	snprintf(record->text, sizeof record->text, "%.255s", text);
}

/* The same of a rank that is one too many. */
static void record_excess(const struct dist__init_method *method,
			  const char *text)
{
	const struct check_rendezvous_failure excess = {
		.count = 1, .ranks = {(uint32_t)method->rank}};

	if (method->world_size > 0 && method->rank >= method->world_size)
		record_rendezvous(text, &excess);
}

/* The listener has what the connections within this machine have. */
static void describe_congestion(const struct dist__environment *e,
				const struct dist__rendezvous *r,
				char text[CONGESTION_TEXT])
{
	char near[DIST__CONGESTION_TEXT], away[DIST__CONGESTION_TEXT];

	dist__socket_congestion(r->listener, near);
	dist__socket_congestion(-1, away);
	if (r->hosts > 1 && r->hosts < e->world_size && strcmp(near, away) != 0)
		snprintf(text, CONGESTION_TEXT, "%s within hosts, %s between",
			 near, away);
	else
		snprintf(text, CONGESTION_TEXT, "%s",
			 r->hosts > 1 ? away : near);
}

static void add_facts(struct dist__recorder *recorder, const char *backend,
		      const struct dist__environment *e,
		      const struct dist__profile *profile, int hosts,
		      const char *congestion)
{
	dist__recorder_add_fact(recorder, "backend", "%s", backend);
	dist__recorder_add_fact(recorder, "profile", "%s", profile->name);
	dist__recorder_add_fact(recorder, "profile version", "%s",
				profile->version);
	dist__recorder_add_fact(recorder, "profile source", "%s",
				profile->source);
	dist__recorder_add_fact(recorder, "p2p", "buffered");
	dist__recorder_add_fact(recorder, "hosts", "%d", hosts);
	dist__recorder_add_fact(recorder, "intra", "%s",
				e->shares ? "shm" : "tcp");
	dist__recorder_add_fact(recorder, "bind_to", "%s",
				e->binds ? "core" : "none");
	dist__recorder_add_fact(recorder, "congestion control", "%s",
				congestion);
	dist__recorder_add_fact(recorder, "cores", "%d", dist__cores());
	if (e->debug)
		dist__recorder_add_fact(recorder, "debug", "%s",
					getenv("LOCKSTEP_DEBUG"));
}

/* How many bytes of messages that nobody asked for a rank takes in: what is
 * said, or its part of half of the machine's memory. */
static uint64_t bound_unexpected(const struct dist__environment *e, int ranks)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	if (e->unexpected_mib)
		return (uint64_t)e->unexpected_mib << 20;
	return pages > 0 && page > 0 && ranks > 0
		       ? (uint64_t)pages * (uint64_t)page / 2 / (uint64_t)ranks
		       : 0;
}

static void leave(void *arg)
{
	struct keep *keep = arg;

	dist__rendezvous_leave(&keep->meeting);
	keep->has_left = true;
}

/* Makes the transport of what the rendezvous gave; r's parts are its own or
 * gone afterwards. */
static enum dist_error open_transport(const struct dist__environment *e,
				      struct dist__rendezvous *r, int cores,
				      struct keep *keep,
				      struct dist__transport **transport)
{
	struct dist__endpoint endpoint = {
		.rank = e->rank,
		.world_size = e->world_size,
		.token = r->token,
		.addresses = r->addresses,
		.crowded = r->local_ranks > cores,
		.shares = e->shares,
		.all_share = r->all_share,
		.keep_alive_ns = e->keep_alive_ns,
		.unexpected_bytes = bound_unexpected(e, r->local_ranks),
		.secret = e->secret,
		.listener = r->listener,
		.meeting = keep,
		.leave = leave,
	};
	enum dist_error error;

	keep->meeting = r->place;
	error = dist__tcp_transport_new(&endpoint, transport);
	free(r->addresses);
	return error;
}

static enum dist_error attach_as(const struct dist__environment *e,
				 const char *backend, struct keep *keep,
				 struct dist__place *place,
				 struct dist_message *message)
{
	int cores = dist__cores();
	struct dist__rendezvous rendezvous;
	char congestion[CONGESTION_TEXT];
	enum dist_error error;

	error = load_profile(e, &keep->profile, message);
	if (error)
		return error;
	error = dist__rendezvous_meet(e, &rendezvous, message);
	if (error == DIST_ERR_RENDEZVOUS)
		record_rendezvous(message->text, &rendezvous.failure);
	if (error)
		return error;
	keep->nodes = rendezvous.nodes;
	keep->token = rendezvous.token;
	describe_congestion(e, &rendezvous, congestion);
	errno = 0;
	error = open_transport(e, &rendezvous, cores, keep, &place->transport);
	if (error && errno)
		snprintf(message->text, sizeof message->text,
			 "rank %d cannot serve its peers: %s", e->rank,
			 strerror(errno));
	error = dist__rendezvous_explain(e, error, message);
	if (error == DIST_ERR_RENDEZVOUS)
		record_rendezvous(message->text, &rendezvous.failure);
	if (error)
		return error;
	if (e->binds)
		dist__cores_bind(e->rank);
	if (e->trace) {
		place->recorder =
			dist__recorder_new(e->trace, e->rank, e->world_size,
					   started.slot || find_slot(e));
		error = place->recorder ? DIST_OK : DIST_ERR_NO_MEMORY;
		add_facts(place->recorder, backend, e, &keep->profile,
			  rendezvous.hosts, congestion);
	}
	if (error)
		place->transport->ops->free(place->transport);
	return error;
}

static void keep_free(struct keep *keep)
{
	if (keep) {
		dist__dumper_free(keep->dumper);
		dist__profile_release(&keep->profile);
		free(keep->nodes);
	}
	free(keep);
}

/* Where no launcher keeps the records, the rank does. */
static enum dist_error open_dumper(const struct dist__environment *e,
				   const char *backend, struct keep *keep,
				   struct dist_message *message)
{
	const char *attempt = getenv("TORCHELASTIC_RESTART_COUNT");
	struct check_dump head = {.rank = (uint32_t)e->rank,
				  .world_size = (uint32_t)e->world_size,
				  .timeout_ns = e->timeout_ns};

	if (attempt)
		head.attempt = (uint32_t)strtoul(attempt, NULL, 10);
	snprintf(head.job, sizeof head.job, "%016llx",
		 (unsigned long long)keep->token);
	snprintf(head.world, sizeof head.world, "%s", backend);
	return dist__dumper_new(&head, &keep->slot, &keep->dumper, message);
}

/* Notes where the rank is to meet the others. Refuses a place where it has met
 * them in a job that it is in: in another a process may join another job. */
static enum dist_error check_place(const struct dist__environment *e,
				   struct keep *keep,
				   struct dist_message *message)
{
	if (e->method.kind != DIST__INIT_ENV &&
	    e->method.kind != DIST__INIT_TCP)
		return DIST_OK;
	snprintf(keep->at, sizeof keep->at, "%s:%d", e->master_addr,
		 e->master_port);
	if (!kept || kept->has_left || dist__is_copied() ||
	    strcmp(kept->at, keep->at) != 0)
		return DIST_OK;
	return dist__refuse(message,
			    "rank %d has joined already: destroy its process "
			    "group first",
			    e->rank);
}

static void fill_place(struct dist__place *place, struct keep *keep,
		       const struct dist__environment *e, const char *backend)
{
	place->rank = e->rank;
	place->world_size = e->world_size;
	place->timeout_ns = e->timeout_ns;
	/* Memory of a device is not for us to look at. */
	if (strcmp(backend, "nccl") != 0)
		place->debug = e->debug;
	place->profile = &keep->profile;
	place->nodes = keep->nodes;
}

static enum dist_error attach(const struct dist_init_options *options,
			      struct dist__place *place,
			      struct dist_message *message)
{
	static const struct check_rendezvous_failure nothing;
	struct keep *keep = calloc(1, sizeof *keep);
	struct dist__environment e;
	struct check_slot *slot;
	bool watched;
	enum dist_error error;

	if (!keep)
		return DIST_ERR_NO_MEMORY;
	dist__profile_init(&keep->profile);
	memset(place, 0, sizeof *place);
	map_slot(&started, number_of("RANK"));
	record_rendezvous("", &nothing);
	error = dist__environment_read(options, &e, message);
	if (error)
		record_excess(&e.method, message->text);
	else
		error = check_place(&e, keep, message);
	if (error) {
		keep_free(keep);
		return error;
	}
	slot = find_slot(&e);
	watched = slot != NULL;
	error = attach_as(&e, options->backend, keep, place, message);
	if (error) {
		keep_free(keep);
		return error;
	}
	if (kept && kept->has_left) /* else a group of this process lives */
		keep_free(kept);
	kept = keep;
	if (!slot)
		slot = find_own_slot(&e, keep->token);
	if (!slot && (!started.slot || is_forked()))
		error = open_dumper(&e, options->backend, keep, message);
	if (error) {
		place->transport->ops->free(place->transport);
		return error;
	}
	fill_place(place, keep, &e, options->backend);
	place->watched = watched;
	place->slot = own = slot ? slot : &keep->slot;
	if (slot && !dist__variable("LOCKSTEP_NOTES"))
		dist__crash_watch(slot);
	keep->transport = place->transport;
	keep->thread = pthread_self();
	if (!leaves_at_exit)
		leaves_at_exit = on_exit(leave_at_exit, NULL) == 0;
	place->slot->pid = getpid();
	if (gethostname(place->slot->host, sizeof place->slot->host - 1) != 0)
		place->slot->host[0] = '\0';
	(void)dist__world_enter(&dist__tcp_world);
	return DIST_OK;
}

void dist__process_dump(void)
{
	dist__dumper_write(kept->dumper);
}

/* ---- launching ---------------------------------------------------------- */

struct rank_program {
	int (*rank_main)(void *arg);
	void *arg;
};

static int run_rank(void *arg)
{
	const struct rank_program *program = arg;

	int status = program->rank_main(program->arg);

	/* The kernel keeps eight bits of an exit status. */
	return status && !(status & 0xff) ? DIST_EXIT_FAILED : status & 0xff;
}

/* The same in a process of its own, which runs nothing at exit. */
static int run_forked(void *arg)
{
	int status = run_rank(arg);

	leave_at_exit(status, NULL);
	return status;
}

/* A launcher started this process as one rank: what the options say counts for
 * it through the environment, as it would for a child. */
static int run_here(const struct dist_launch_options *options,
		    struct rank_program *program)
{
	char seconds[32];

	snprintf(seconds, sizeof seconds, "%.9f",
		 (double)options->timeout_ns / 1e9);
	if (setenv("LOCKSTEP_BACKEND", options->backend, 1) != 0 ||
	    setenv("LOCKSTEP_TIMEOUT", seconds, 1) != 0 ||
	    (options->debug &&
	     setenv("LOCKSTEP_DEBUG", options->debug, 1) != 0) ||
	    (options->trace &&
	     setenv("LOCKSTEP_TRACE", options->trace, 1) != 0) ||
	    (options->profile &&
	     setenv("LOCKSTEP_PROFILE", options->profile, 1) != 0) ||
	    (options->algorithm &&
	     setenv("LOCKSTEP_ALGORITHM", options->algorithm, 1) != 0))
		return DIST_EXIT_INTERNAL;
	return run_rank(program);
}

int dist__processes_launch(const struct dist_launch_options *options,
			   int (*rank_main)(void *arg), void *arg)
{
	struct rank_program program = {rank_main, arg};
	struct dist__job_spec spec = {
		.nproc = options->world_size,
		.backend = options->backend,
		.trace = options->trace,
		.profile = options->profile,
		.algorithm = options->algorithm,
		.debug = options->debug,
		.timeout_ns = options->timeout_ns,
		.output.prefix = options->prefix_output,
		.start = run_forked,
		.arg = &program,
	};

	if (dist__job_is_rank())
		return run_here(options, &program);
	return dist__job_run(&spec);
}

const struct dist__world dist__tcp_world = {
	.name = "tcp",
	.summary = "real processes over TCP",
	.has_phantoms = false,
	.records = records,
	.is_available = is_available,
	.default_timeout_ns = DIST_TIMEOUT_DEFAULT,
	.attach = attach,
	.dump = dist__process_dump,
	.launch = dist__processes_launch,
	.backend_new = dist__p2p_backend_new,
};
