#include "realbackend/tcp/environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "realbackend/tcp/roster.h"

/* A variable that is set and not empty, or NULL. */
static const char *text_of(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

/* Reads an integer from min to max; leaves *number when it is not set. */
static enum dist_error read_int(const char *name, int min, int max, int *number,
				struct dist_message *message)
{
	const char *text = text_of(name);
	char *end;
	long value;

	if (!text)
		return DIST_OK;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text || value < min || value > max) {
		snprintf(message->text, sizeof message->text,
			 "%s is \"%.64s\": expected an integer from %d to %d",
			 name, text, min, max);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	*number = (int)value;
	return DIST_OK;
}

static enum dist_error read_timeout(const struct dist_init_options *options,
				    int64_t *timeout_ns,
				    struct dist_message *message)
{
	const char *text = text_of("LOCKSTEP_TIMEOUT");
	double seconds;
	char *end;

	*timeout_ns = options->timeout_ns ? options->timeout_ns
					  : DIST_TIMEOUT_DEFAULT;
	if (options->timeout_ns < 0) {
		snprintf(message->text, sizeof message->text,
			 "timeout_ns is %lld: expected more than 0",
			 (long long)options->timeout_ns);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (options->timeout_ns || !text)
		return DIST_OK;
	seconds = strtod(text, &end);
	if (*end || end == text || !(seconds >= 1e-9) || !(seconds <= 1e9)) {
		snprintf(
			message->text, sizeof message->text,
			"LOCKSTEP_TIMEOUT is \"%.64s\": expected seconds, more "
			"than 0 and at most 1e9",
			text);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	*timeout_ns = (int64_t)(seconds * 1e9);
	return DIST_OK;
}

static enum dist_error read_place(const struct dist_init_options *options,
				  struct dist__environment *e,
				  struct dist_message *message)
{
	enum dist_error error;

	e->rank = e->world_size = -1;
	if (options->world_size > 0) {
		e->rank = options->rank;
		e->world_size = options->world_size;
		return DIST_OK;
	}
	error = read_int("WORLD_SIZE", 1, DIST__ROSTER_MAX_WORLD,
			 &e->world_size, message);
	if (!error && e->world_size > 0)
		error = read_int("RANK", 0, e->world_size - 1, &e->rank,
				 message);
	if (error)
		return error;
	if (e->world_size < 0 || e->rank < 0) {
		snprintf(
			message->text, sizeof message->text,
			"%s is not set: start the ranks with \"lockstep run\", "
			"dist_launch() or torchrun, or set RANK, WORLD_SIZE, "
			"MASTER_ADDR and MASTER_PORT",
			e->world_size < 0 ? "WORLD_SIZE" : "RANK");
		return DIST_ERR_INVALID_ARGUMENT;
	}
	return DIST_OK;
}

/* A lone rank needs nobody to find it. */
static enum dist_error require_master(const struct dist__environment *e,
				      struct dist_message *message)
{
	if (e->world_size == 1 || (e->master_addr && e->master_port >= 0))
		return DIST_OK;
	snprintf(message->text, sizeof message->text,
		 "%s is not set: expected the %s of rank 0",
		 e->master_addr ? "MASTER_PORT" : "MASTER_ADDR",
		 e->master_addr ? "port" : "host");
	return DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist__environment_read(const struct dist_init_options *options,
				       struct dist__environment *e,
				       struct dist_message *message)
{
	enum dist_error error;

	e->local_world_size = 0;
	e->master_port = e->store_fd = e->board_fd = -1;
	e->master_addr = text_of("MASTER_ADDR");
	e->profile = text_of("LOCKSTEP_PROFILE");
	e->algorithm = text_of("LOCKSTEP_ALGORITHM");
	e->trace = text_of("LOCKSTEP_TRACE");
	error = read_place(options, e, message);
	if (!error)
		error = read_timeout(options, &e->timeout_ns, message);
	if (!error)
		error = read_int("LOCAL_WORLD_SIZE", 1, e->world_size,
				 &e->local_world_size, message);
	if (!error)
		error = read_int("MASTER_PORT", 0, 65535, &e->master_port,
				 message);
	if (!error)
		error = read_int("LOCKSTEP_STORE_FD", 0, INT_MAX, &e->store_fd,
				 message);
	if (!error)
		error = read_int("LOCKSTEP_BOARD_FD", 0, INT_MAX, &e->board_fd,
				 message);
	return error ? error : require_master(e, message);
}
