#include "realbackend/store/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/variable.h"
#include "base/quantity.h"
#include "base/refuse.h"
#include "realbackend/store/roster.h"
#include "realbackend/store/scheduler.h"
#include "realbackend/wire/socket.h"

/* Reads an integer from min to max; leaves *number when it is not set. */
static enum dist_error read_int(const char *name, int min, int max, int *number,
				struct dist_message *message)
{
	const char *text = dist__variable(name);
	int64_t value;

	if (!text)
		return DIST_OK;
	if (!dist__count_read(text, min, max, &value))
		return dist__refuse(
			message,
			"%s is \"%.64s\": expected an integer from %d to %d",
			name, text, min, max);
	*number = (int)value;
	return DIST_OK;
}

static enum dist_error read_timeout(const struct dist_init_options *options,
				    int64_t *timeout_ns,
				    struct dist_message *message)
{
	const char *text = dist__variable("LOCKSTEP_TIMEOUT");

	*timeout_ns = options->timeout_ns ? options->timeout_ns
					  : DIST_TIMEOUT_DEFAULT;
	if (options->timeout_ns || !text)
		return DIST_OK;
	if (!dist__seconds_read(text, timeout_ns) || *timeout_ns == 0)
		return dist__refuse(message,
				    "LOCKSTEP_TIMEOUT is \"%.64s\": expected "
				    "seconds, more than 0 and at most 1e9",
				    text);
	return DIST_OK;
}

/* How long a peer on another machine may keep silent: 15 s as the launchers'
 * own keep-alive, which is torchrun's. */
static enum dist_error read_keep_alive(int64_t *keep_alive_ns,
				       struct dist_message *message)
{
	const char *text = dist__variable("LOCKSTEP_KEEP_ALIVE");

	*keep_alive_ns = INT64_C(15000000000);
	if (!text || dist__seconds_read(text, keep_alive_ns))
		return DIST_OK;
	return dist__refuse(message,
			    "LOCKSTEP_KEEP_ALIVE is \"%.64s\": expected "
			    "seconds, from 0 (for ever) to 1e9",
			    text);
}

static enum dist_error read_debug(enum dist__debug *level,
				  struct dist_message *message)
{
	const char *text = dist__variable("LOCKSTEP_DEBUG");

	if (dist__debug_parse(level, text))
		return DIST_OK;
	return dist__refuse(
		message,
		"LOCKSTEP_DEBUG is \"%.64s\": expected " DIST__DEBUG_LEVELS,
		text);
}

bool dist__intra_parse(const char *text, bool *shares)
{
	*shares = strcmp(text, "shm") == 0;
	return *shares || strcmp(text, "tcp") == 0;
}

bool dist__bind_parse(const char *text, bool *binds)
{
	*binds = strcmp(text, "core") == 0;
	return *binds || strcmp(text, "none") == 0;
}

/* Reads one of two words; *value stays where there is none. */
static enum dist_error read_choice(const char *name,
				   bool (*parse)(const char *, bool *),
				   const char *expected, bool *value,
				   struct dist_message *message)
{
	const char *text = dist__variable(name);

	if (!text || parse(text, value))
		return DIST_OK;
	return dist__refuse(message, "%s is \"%.64s\": expected %s", name, text,
			    expected);
}

/* Who says which rank this is; NULL: torchrun's variables, if anything. */
static const struct dist__scheduler *find_scheduler(void)
{
	return dist__variable("RANK") || dist__variable("WORLD_SIZE")
		       ? NULL
		       : dist__scheduler_find();
}

bool dist__job_is_rank(void)
{
	const struct dist__scheduler *scheduler = find_scheduler();

	return dist__variable("RANK") ||
	       (scheduler && atoi(getenv(scheduler->size)) > 1);
}

static enum dist_error read_place(const struct dist__scheduler *scheduler,
				  struct dist__environment *e,
				  struct dist_message *message)
{
	const char *size = scheduler ? scheduler->size : "WORLD_SIZE";
	const char *rank = scheduler ? scheduler->rank : "RANK";
	enum dist_error error;

	e->rank = e->method.rank;
	e->world_size = e->method.world_size;
	if (e->world_size > 0)
		return DIST_OK;
	error = read_int(size, 1, DIST__ROSTER_MAX_WORLD, &e->world_size,
			 message);
	if (!error && e->world_size > 0)
		error = read_int(rank, 0, e->world_size - 1, &e->rank, message);
	if (error)
		return error;
	if (e->world_size < 0 || e->rank < 0)
		return dist__refuse(
			message,
			"%s is not set: start the ranks with \"lockstep run\", "
			"dist_launch(), torchrun, mpirun or srun, or set RANK, "
			"WORLD_SIZE, MASTER_ADDR and MASTER_PORT",
			e->world_size < 0 ? "WORLD_SIZE" : "RANK");
	return DIST_OK;
}

/* Where mpirun or srun started this rank, they tell where rank 0 is too, as far
 * as they can: Slurm by its list of hosts, Open MPI and MPICH when all ranks
 * are here. */
static enum dist_error ask_scheduler(const struct dist__scheduler *scheduler,
				     struct dist__environment *e,
				     struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	if (e->local_world_size == 0 && scheduler->local_size)
		error = read_int(scheduler->local_size, 1, e->world_size,
				 &e->local_world_size, message);
	if (error)
		return error;
	if (!e->master_addr && e->local_world_size == e->world_size)
		e->master_addr = "127.0.0.1";
	if (!e->master_addr &&
	    dist__scheduler_host(e->master_host, sizeof e->master_host))
		e->master_addr = e->master_host;
	if (e->master_port < 0)
		e->master_port = dist__scheduler_port(scheduler);
	return DIST_OK;
}

/* Where rank 0 is to be found. A lone rank needs nobody to find it. */
static enum dist_error read_master(const struct dist__scheduler *scheduler,
				   struct dist__environment *e,
				   struct dist_message *message)
{
	enum dist_error error;

	e->master_addr =
		e->method.kind == DIST__INIT_TCP ? e->method.host : NULL;
	e->master_port = e->method.kind == DIST__INIT_TCP ? e->method.port : -1;
	if (e->method.kind != DIST__INIT_ENV)
		return DIST_OK;
	e->master_addr = dist__variable("MASTER_ADDR");
	error = read_int("MASTER_PORT", 0, 65535, &e->master_port, message);
	if (!error && e->master_port > 0) {
		/* Our own launcher leaves MASTER_PORT to the program, and
		 * serves the store at another: for those who go by the
		 * MASTER_PORT that it gave. */
		int given = -1, port = -1;

		error = read_int("LOCKSTEP_MASTER_PORT", 1, 65535, &given,
				 message);
		if (!error)
			error = read_int("LOCKSTEP_STORE_PORT", 1, 65535, &port,
					 message);
		if (!error && port > 0 && e->master_port == given)
			e->master_port = port;
	}
	if (!error && scheduler)
		error = ask_scheduler(scheduler, e, message);
	if (error || e->world_size == 1 ||
	    (e->master_addr && e->master_port >= 0))
		return error;
	return dist__refuse(message, "%s is not set: expected the %s of rank 0",
			    e->master_addr ? "MASTER_PORT" : "MASTER_ADDR",
			    e->master_addr ? "port" : "host");
}

enum dist_error dist__environment_read(const struct dist_init_options *options,
				       struct dist__environment *e,
				       struct dist_message *message)
{
	const struct dist__scheduler *scheduler = find_scheduler();
	enum dist_error error;

	e->local_world_size = e->unexpected_mib = 0;
	e->shares = true;
	e->binds = false;
	e->group_rank = e->store_fd = -1;
	e->store = options->store;
	e->profile = dist__variable("LOCKSTEP_PROFILE");
	e->algorithm = dist__variable("LOCKSTEP_ALGORITHM");
	e->trace = dist__variable("LOCKSTEP_TRACE");
	e->secret = dist__variable("LOCKSTEP_SECRET");
	if (dist__secret_is_empty(message))
		return DIST_ERR_INVALID_ARGUMENT;
	error = dist__init_method_read(options, &e->method, message);
	if (!error)
		error = read_place(scheduler, e, message);
	if (!error)
		error = read_timeout(options, &e->timeout_ns, message);
	if (!error)
		error = read_keep_alive(&e->keep_alive_ns, message);
	if (!error)
		error = read_int("LOCKSTEP_UNEXPECTED", 1, INT_MAX,
				 &e->unexpected_mib, message);
	if (!error)
		error = read_debug(&e->debug, message);
	if (!error)
		error = read_choice("LOCKSTEP_INTRA", dist__intra_parse,
				    DIST__INTRA_WORDS, &e->shares, message);
	if (!error)
		error = read_choice("LOCKSTEP_BIND_TO", dist__bind_parse,
				    DIST__BIND_WORDS, &e->binds, message);
	/* It tells of the launcher's world, not of one that the caller says. */
	if (!error && e->method.world_size < 0)
		error = read_int("LOCAL_WORLD_SIZE", 1, e->world_size,
				 &e->local_world_size, message);
	if (!error)
		error = read_int("GROUP_RANK", 0, INT_MAX, &e->group_rank,
				 message);
	if (!error)
		error = read_int("LOCKSTEP_STORE_FD", 0, INT_MAX, &e->store_fd,
				 message);
	return error ? error : read_master(scheduler, e, message);
}

/* ---- the secret -------------------------------------------------------- */

char *dist__secret_copy(bool *failed)
{
	const char *secret = getenv("LOCKSTEP_SECRET");
	char *copy = secret && *secret ? strdup(secret) : NULL;

	*failed = secret && *secret && !copy;
	return copy;
}

void dist__secret_warn(int listener)
{
	const char *secret = getenv("LOCKSTEP_SECRET");
	char text[DIST__ADDRESS_TEXT];
	struct dist__address address;

	if (secret || !dist__socket_local(listener, &address) ||
	    dist__address_is_loopback(&address))
		return;
	dist__address_format(&address, ':', text);
	fprintf(stderr,
		"lockstep: warning: %s can be reached from other machines, and "
		"there is no LOCKSTEP_SECRET to keep strangers out\n",
		text);
}

bool dist__secret_is_empty(struct dist_message *message)
{
	const char *secret = getenv("LOCKSTEP_SECRET");

	if (!secret || *secret)
		return false;
	snprintf(message->text, sizeof message->text,
		 "LOCKSTEP_SECRET is empty: expected what all ranks share, or "
		 "that it is not set");
	return true;
}
