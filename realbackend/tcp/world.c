#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend.h"
#include "core/data.h"
#include "realbackend/tcp/board.h"
#include "realbackend/tcp/cores.h"
#include "realbackend/tcp/dump.h"
#include "realbackend/tcp/environment.h"
#include "realbackend/tcp/launcher.h"
#include "realbackend/tcp/rendezvous.h"
#include "realbackend/tcp/socket.h"
#include "realbackend/tcp/transport.h"

#define MAX_FACTS 11

/* What a rank's place points to. It outlives the rank, that is, until the
 * process ends or joins its next job. */
struct keep {
	struct dist__profile profile;
	int *nodes;
	uint64_t token;              /* of the job */
	struct check_slot slot;      /* where no launcher gave one */
	struct dist__dumper *dumper; /* likewise; NULL: no dumps wanted */
	struct dist__fact facts[MAX_FACTS];
	size_t num_facts;
	char texts[MAX_FACTS][320];
};

/* A process is one rank at a time, so these are the rank's. */
static struct keep *kept;
static struct check_board *board;
static struct check_slot *own; /* on the board, or of what is kept */

static struct check_slot *records(void)
{
	return own;
}

static bool is_available(struct dist_message *why)
{
	why->text[0] = '\0';
	return true;
}

/* ---- joining ------------------------------------------------------------ */

static enum dist_error load_profile(const struct dist__environment *e,
				    struct dist__profile *profile,
				    struct dist_message *message)
{
	char path[4096];
	enum dist_error error = DIST_OK;

	dist__profile_init(profile);
	if (e->profile)
		error = dist__data_find("profiles", e->profile, ".yaml", path,
					sizeof path, message);
	if (!error && e->profile)
		error = dist__profile_load(profile, path, message);
	if (!error && e->algorithm)
		error = dist__profile_force(profile, e->algorithm, message);
	return error;
}

/* A variable's number, -1 if it has none. */
static int number_of(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? atoi(text) : -1;
}

/* Maps the launcher's board, if there is one. */
static void open_board(void)
{
	int fd = number_of("LOCKSTEP_BOARD_FD");

	if (!board && fd >= 0)
		board = dist__board_open(fd);
}

/* This rank's slot there, if it has come to the world that it was started for.
 */
static struct check_slot *find_slot(const struct dist__environment *e)
{
	if (!board || board->world_size != (uint32_t)e->world_size)
		return NULL;
	return &board->slots[e->rank];
}

/* Leaves word of how the ranks met for the launcher, which sees only an exit
 * status, as the rank that it started, whatever that calls itself. */
static void record_meeting(const char *words,
			   const struct check_meeting *failure)
{
	static const char prefix[] = "rendezvous: ";
	int rank = board ? number_of("RANK") : -1;
	struct check_meeting *meeting;

	if (rank < 0 || (uint32_t)rank >= board->world_size)
		return;
	meeting = &board->slots[rank].meeting;
	*meeting = *failure;
	if (strncmp(words, prefix, strlen(prefix)) == 0)
		words += strlen(prefix);
	snprintf(meeting->words, sizeof meeting->words, "%.255s", words);
}

/* The same of a rank that is one too many. */
static void record_excess(const struct dist__init_method *method,
			  const char *words)
{
	const struct check_meeting excess = {.count = 1,
					     .ranks = {(uint32_t)method->rank}};

	if (method->world_size > 0 && method->rank >= method->world_size)
		record_meeting(words, &excess);
}

__attribute__((format(printf, 3, 4))) static void
add_fact(struct keep *keep, const char *key, const char *format, ...)
{
	char *text = keep->texts[keep->num_facts];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof keep->texts[0], format, args);
	va_end(args);
	keep->facts[keep->num_facts++] = (struct dist__fact){key, text};
}

/* The listener has what the connections within this machine have. */
static void add_congestion(struct keep *keep, const struct dist__environment *e,
			   const struct dist__rendezvous *r)
{
	static const char key[] = "congestion control";
	char near[DIST__CONGESTION_TEXT], away[DIST__CONGESTION_TEXT];

	dist__socket_congestion(r->listener, near);
	dist__socket_congestion(-1, away);
	if (r->hosts > 1 && r->hosts < e->world_size && strcmp(near, away) != 0)
		add_fact(keep, key, "%s within hosts, %s between", near, away);
	else
		add_fact(keep, key, "%s", r->hosts > 1 ? away : near);
}

static void add_facts(struct keep *keep, const char *backend,
		      const struct dist__environment *e,
		      const struct dist__rendezvous *r, int cores)
{
	add_fact(keep, "backend", "%s", backend);
	add_fact(keep, "profile", "%s", keep->profile.name);
	add_fact(keep, "profile version", "%s", keep->profile.version);
	add_fact(keep, "profile source", "%s", keep->profile.source);
	add_fact(keep, "p2p", "buffered");
	add_fact(keep, "hosts", "%d", r->hosts);
	add_fact(keep, "intra", "%s", e->shares ? "shm" : "tcp");
	add_fact(keep, "bind_to", "%s", e->binds ? "core" : "none");
	add_congestion(keep, e, r);
	add_fact(keep, "cores", "%d", cores);
	if (e->debug)
		add_fact(keep, "debug", "%s", getenv("LOCKSTEP_DEBUG"));
}

/* Makes the transport of what the rendezvous gave; r's parts are its own or
 * gone afterwards. */
static enum dist_error open_transport(const struct dist__environment *e,
				      struct dist__rendezvous *r, int cores,
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
		.listener = r->listener,
		.store = r->store,
		.server = r->server,
		.file = r->file,
	};
	enum dist_error error = dist__tcp_transport_new(&endpoint, transport);

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
	enum dist_error error;

	error = load_profile(e, &keep->profile, message);
	if (error)
		return error;
	error = dist__rendezvous_meet(e, &rendezvous, message);
	if (error == DIST_ERR_RENDEZVOUS)
		record_meeting(message->text, &rendezvous.failure);
	if (error)
		return error;
	keep->nodes = rendezvous.nodes;
	keep->token = rendezvous.token;
	add_facts(keep, backend, e, &rendezvous, cores);
	errno = 0;
	error = open_transport(e, &rendezvous, cores, &place->transport);
	if (error && errno)
		snprintf(message->text, sizeof message->text,
			 "rank %d cannot serve its peers: %s", e->rank,
			 strerror(errno));
	error = dist__rendezvous_explain(e, error, message);
	if (error == DIST_ERR_RENDEZVOUS)
		record_meeting(message->text, &rendezvous.failure);
	if (error)
		return error;
	if (e->binds)
		dist__cores_bind(e->rank);
	if (e->trace) {
		place->recorder =
			dist__recorder_new(e->trace, e->rank, e->world_size,
					   keep->facts, keep->num_facts);
		error = place->recorder ? DIST_OK : DIST_ERR_NO_MEMORY;
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

/* Who writes these records. */
static void sign(struct check_slot *slot)
{
	slot->pid = getpid();
	if (gethostname(slot->host, sizeof slot->host - 1) != 0)
		slot->host[0] = '\0';
}

static enum dist_error attach(const struct dist_init_options *options,
			      struct dist__place *place,
			      struct dist_message *message)
{
	static const struct check_meeting nothing;
	struct keep *keep = calloc(1, sizeof *keep);
	struct dist__environment e;
	struct check_slot *slot;
	enum dist_error error;

	if (!keep)
		return DIST_ERR_NO_MEMORY;
	dist__profile_init(&keep->profile);
	memset(place, 0, sizeof *place);
	open_board();
	record_meeting("", &nothing);
	error = dist__environment_read(options, &e, message);
	if (error) {
		record_excess(&e.method, message->text);
		keep_free(keep);
		return error;
	}
	slot = find_slot(&e);
	error = attach_as(&e, options->backend, keep, place, message);
	if (error) {
		keep_free(keep);
		return error;
	}
	keep_free(kept);
	kept = keep;
	if (!board)
		error = open_dumper(&e, options->backend, keep, message);
	if (error) {
		place->transport->ops->free(place->transport);
		return error;
	}
	place->rank = e.rank;
	place->world_size = e.world_size;
	place->timeout_ns = e.timeout_ns;
	/* Memory of a device is not for us to look at. */
	if (strcmp(options->backend, "tcp") == 0)
		place->debug = e.debug;
	place->profile = &keep->profile;
	place->nodes = keep->nodes;
	place->slot = own = slot ? slot : &keep->slot;
	sign(place->slot);
	return DIST_OK;
}

static void dump(void)
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

static int launch(const struct dist_launch_options *options,
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
		.start = run_rank,
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
	.is_here = NULL,
	.records = records,
	.is_available = is_available,
	.pause = NULL,
	.default_timeout_ns = DIST_TIMEOUT_DEFAULT,
	.attach = attach,
	.dump = dump,
	.launch = launch,
};
