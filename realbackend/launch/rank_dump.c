#include "realbackend/launch/rank_dump.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/variable.h"
#include "base/clock.h"
#include "base/refuse.h"
#include "base/wait.h"
#include "realbackend/launch/signals.h"

const char *dist__dump_pattern(void)
{
	return dist__variable("LOCKSTEP_DUMP");
}

void dist__dump_stamp(struct check_dump *dump)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	dump->time_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	dump->clock_ns = dist__clock_ns();
}

/* ---- a rank's own ------------------------------------------------------- */

struct dist__dumper {
	char *pattern;
	const struct check_slot *slot;
	pthread_mutex_t mutex;
	struct check_dump dump;
	struct dist__signals signals;
	pthread_t server;
	atomic_bool stopping;
};

/* The rank may be writing: a call that is only half there is left out, because
 * it has not got its number. */
void dist__dumper_write(struct dist__dumper *dumper)
{
	if (!dumper)
		return;
	pthread_mutex_lock(&dumper->mutex);
	dumper->dump.slot = *dumper->slot;
	dist__dump_stamp(&dumper->dump);
	(void)check_dump_save(dumper->pattern, &dumper->dump);
	pthread_mutex_unlock(&dumper->mutex);
}

/* Serves the signals: little of this may be done in a handler. */
static void *serve(void *arg)
{
	struct dist__dumper *dumper = arg;
	struct pollfd news = {.fd = dumper->signals.fd, .events = POLLIN};

	while (!atomic_load(&dumper->stopping)) {
		if (poll(&news, 1, -1) < 0)
			continue;
		if (dist__signals_next(&dumper->signals) == SIGUSR1)
			dist__dumper_write(dumper);
	}
	return NULL;
}

enum dist_error dist__dumper_new(const struct check_dump *head,
				 const struct check_slot *slot,
				 struct dist__dumper **dumper,
				 struct dist_message *message)
{
	static const int numbers[] = {SIGUSR1};
	const char *pattern = dist__dump_pattern();
	struct dist__dumper *fresh;

	*dumper = NULL;
	if (!pattern)
		return DIST_OK;
	if (!check_dump_prepare(pattern))
		return dist__refuse(message,
				    "LOCKSTEP_DUMP is \"%.200s\": no file can "
				    "be written there: %s",
				    pattern, strerror(errno));
	fresh = calloc(1, sizeof *fresh);
	if (fresh)
		fresh->pattern = strdup(pattern);
	if (!fresh || !fresh->pattern) {
		free(fresh);
		return DIST_ERR_NO_MEMORY;
	}
	fresh->slot = slot;
	fresh->dump = *head;
	pthread_mutex_init(&fresh->mutex, NULL);
	if (dist__signals_catch(&fresh->signals, numbers, 1)) {
		if (dist__thread_start(&fresh->server, serve, fresh)) {
			*dumper = fresh;
			return DIST_OK;
		}
		dist__signals_restore(&fresh->signals);
	}
	pthread_mutex_destroy(&fresh->mutex);
	free(fresh->pattern);
	free(fresh);
	return DIST_ERR_IO;
}

void dist__dumper_free(struct dist__dumper *dumper)
{
	ssize_t n;

	if (!dumper)
		return;
	atomic_store(&dumper->stopping, true);
	n = write(dumper->signals.write_fd, "", 1);
	(void)n;
	pthread_join(dumper->server, NULL);
	dist__signals_restore(&dumper->signals);
	pthread_mutex_destroy(&dumper->mutex);
	free(dumper->pattern);
	free(dumper);
}
