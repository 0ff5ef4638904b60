/* file_store.c - a store in a file; see file_log.h for what the file holds. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/refuse.h"
#include "realbackend/store/file_log.h"
#include "realbackend/store/store.h"

struct file_store {
	struct dist_store base;
	pthread_mutex_t mutex; /* the lock of the file excludes processes */
	struct dist__file_log log;
	struct dist__opener self;
	size_t world_size; /* 0: the file stays */
	char path[];
};

/* ---- using -------------------------------------------------------------- */

static enum dist_error enter(struct dist_store *store, struct file_store **file)
{
	enum dist_error error;

	*file = (struct file_store *)store;
	pthread_mutex_lock(&(*file)->mutex);
	error = dist__file_log_lock(&(*file)->log);
	if (error)
		pthread_mutex_unlock(&(*file)->mutex);
	/* It was one when it was opened. */
	return error == DIST_ERR_INVALID_ARGUMENT ? DIST_ERR_IO : error;
}

static void leave(struct file_store *file)
{
	dist__file_log_unlock(&file->log);
	pthread_mutex_unlock(&file->mutex);
}

static enum dist_error file_ask(struct dist_store *store,
				struct dist__store_request *request)
{
	struct dist__table_change change;
	struct file_store *file;
	enum dist_error error = enter(store, &file);

	if (error)
		return error;
	error = dist__table_plan(file->log.table, request, &change);
	if (!error && change.sets)
		error = dist__file_log_set(&file->log, request->key,
					   change.value);
	if (!error && change.deletes)
		error = dist__file_log_delete(&file->log, request->key);
	if (!error && request->found.data)
		error = dist__bytes_keep(&request->found);
	leave(file);
	return error;
}

/* ---- ending ------------------------------------------------------------- */

/* A child by fork frees memory that it shares with nobody; the file is its
 * parent's. */
static void file_free(struct dist_store *store)
{
	struct file_store *file = (struct file_store *)store;

	if (file->self.pid == (long)getpid() &&
	    enter(store, &file) == DIST_OK) {
		/* The last one removes the file, if it is still the one at its
		 * path. */
		if (dist__file_log_note_close(&file->log, &file->self) ==
			    DIST_OK &&
		    file->world_size > 0 &&
		    file->log.num_closed >= file->world_size &&
		    dist__file_log_is_at(&file->log, file->path))
			(void)unlink(file->path);
		leave(file);
	}
	dist__file_log_close(&file->log);
	pthread_mutex_destroy(&file->mutex);
	free(file);
}

/* Nobody would tell us what we wait for. */
static const struct dist__store_kind file_kind = {.ask = file_ask,
						  .free = file_free};

/* ---- opening ------------------------------------------------------------ */

/* A process of this machine that opened the store and ended without closing
 * it; NULL: none. */
static const struct dist__opener *find_dead(const struct file_store *file)
{
	for (size_t i = 0; i < file->log.num_openers; i++) {
		const struct dist__opener *opener = &file->log.openers[i];

		if (!opener->closed && opener->pid > 0 &&
		    strcmp(opener->host, file->self.host) == 0 &&
		    kill((pid_t)opener->pid, 0) != 0 && errno == ESRCH)
			return opener;
	}
	return NULL;
}

/* Joins the users of the open and locked file. *full: there are as many as
 * there may be, and none is known to be dead. */
static enum dist_error join(struct file_store *file, bool *full,
			    struct dist_message *message)
{
	const struct dist__opener *dead = find_dead(file);
	size_t users = file->log.num_openers;

	*full = false;
	if (dead)
		return dist__refuse_as(
			message, DIST_ERR_RENDEZVOUS,
			"file store: %.300s was left behind by an earlier "
			"job: process %ld, which opened it, has ended; delete "
			"the file",
			file->path, dead->pid);
	if (file->world_size > 0 && users >= file->world_size) {
		snprintf(message->text, sizeof message->text,
			 "file store: %.300s: %zu processes opened it already, "
			 "for a world of %zu: another job uses the file, or "
			 "left it behind; delete it then",
			 file->path, users, file->world_size);
		*full = true;
		return DIST_ERR_RENDEZVOUS;
	}
	return dist__file_log_note_open(&file->log, &file->self);
}

static enum dist_error open_when_free(struct file_store *file,
				      int64_t timeout_ns,
				      struct dist_message *message)
{
	struct dist__patience patience = {.left_ns = timeout_ns};
	enum dist_error error;
	bool full;

	for (;;) {
		error = dist__file_log_open(&file->log, file->path, message);
		if (error)
			return error;
		error = join(file, &full, message);
		if (!error) {
			dist__file_log_unlock(&file->log);
			return DIST_OK;
		}
		dist__file_log_close(&file->log);
		/* The job before this one may be about to end. */
		if (!full || dist__patience_pause(&patience) != DIST_OK)
			return error;
	}
}

enum dist_error dist__file_store_open(const char *path, int world_size,
				      int64_t timeout_ns,
				      struct dist_store **store,
				      struct dist_message *message)
{
	size_t len = strlen(path);
	struct file_store *file = calloc(1, sizeof *file + len + 1);
	enum dist_error error;

	if (!file)
		return DIST_ERR_NO_MEMORY;
	memcpy(file->path, path, len + 1);
	file->world_size = (size_t)world_size;
	file->base.users = world_size;
	file->self.pid = (long)getpid();
	if (gethostname(file->self.host, sizeof file->self.host - 1) != 0)
		strcpy(file->self.host, "?");
	error = open_when_free(file, timeout_ns, message);
	if (!error && pthread_mutex_init(&file->mutex, NULL) != 0) {
		dist__file_log_close(&file->log);
		error = DIST_ERR_IO;
	}
	if (error) {
		free(file);
		return error;
	}
	file->base.kind = &file_kind;
	file->base.timeout_ns = DIST_STORE_TIMEOUT_DEFAULT;
	*store = &file->base;
	return DIST_OK;
}

enum dist_error dist_file_store_new(const char *path, int world_size,
				    struct dist_store **store,
				    struct dist_message *message)
{
	struct dist_message unread;

	if (!message)
		message = &unread;
	message->text[0] = '\0';
	if (!path || !*path || world_size < 0 || !store)
		return dist__refuse(message, "file store: expected a path and "
					     "a world size of 0 or more");
	return dist__file_store_open(path, world_size, 0, store, message);
}
