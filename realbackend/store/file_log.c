#include "realbackend/store/file_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"

/* The code of a record, and its strings. */
enum record {
	LOG_SET = 1, /* key, value */
	LOG_DELETE,  /* key */
	LOG_OPEN,    /* host, process */
	LOG_CLOSE    /* host, process */
};

/* ---- replaying ---------------------------------------------------------- */

static void note_closer(struct dist__file_log *log,
			const struct dist__opener *closer)
{
	for (size_t i = 0; i < log->num_openers; i++) {
		struct dist__opener *opener = &log->openers[i];

		if (opener->closed || opener->pid != closer->pid ||
		    strcmp(opener->host, closer->host) != 0)
			continue;
		opener->closed = true;
		log->num_closed++;
		return;
	}
}

/* Does to the tables what a record says. Errors: NO_MEMORY, INVALID_ARGUMENT
 * (it is no record of ours). */
static enum dist_error apply(struct dist__file_log *log,
			     const struct dist__parcel *record)
{
	struct dist__bytes a = {NULL, 0}, b = {NULL, 0};
	struct dist__opener opener = {.closed = false};
	int32_t code = dist__parcel_code(record);
	size_t offset = 0;
	int64_t pid;

	if (!dist__parcel_next(record, &offset, &a) ||
	    (code != LOG_DELETE && !dist__parcel_next(record, &offset, &b)))
		return DIST_ERR_INVALID_ARGUMENT;
	switch (code) {
	case LOG_SET:
		return dist__table_set(log->table, a, b) ? DIST_OK
							 : DIST_ERR_NO_MEMORY;
	case LOG_DELETE:
		(void)dist__table_delete(log->table, a);
		return DIST_OK;
	case LOG_OPEN:
	case LOG_CLOSE:
		if (!dist__bytes_number(b, &pid))
			break;
		opener.pid = (long)pid;
		dist__bytes_copy(a, opener.host, sizeof opener.host);
		if (code == LOG_OPEN)
			return dist__array_add(&log->openers, &log->num_openers,
					       &opener, sizeof opener)
				       ? DIST_OK
				       : DIST_ERR_NO_MEMORY;
		note_closer(log, &opener);
		return DIST_OK;
	default:
		break;
	}
	return DIST_ERR_INVALID_ARGUMENT;
}

/* Applies the records in len bytes; *used is what whole ones took. */
static enum dist_error apply_all(struct dist__file_log *log,
				 unsigned char *data, size_t len, size_t *used)
{
	enum dist_error error = DIST_OK;

	*used = 0;
	while (*used < len && !error) {
		struct dist__parcel record = {.data = data + *used,
					      .len = len - *used};
		size_t wanted =
			dist__parcel_wanted(&record, DIST__PARCEL_MAX_REQUEST);

		if (wanted == 0)
			return DIST_ERR_INVALID_ARGUMENT;
		if (wanted > record.len || record.len < DIST__PARCEL_HEADER)
			break;
		record.len = wanted;
		if (!dist__parcel_valid(&record))
			return DIST_ERR_INVALID_ARGUMENT;
		error = apply(log, &record);
		if (!error)
			*used += wanted;
	}
	return error;
}

/* Brings the tables up to date, and cuts off what is not whole. */
static enum dist_error replay(struct dist__file_log *log)
{
	enum dist_error error = DIST_ERR_IO;
	unsigned char *data;
	struct stat status;
	size_t len, used;

	if (fstat(log->fd, &status) != 0 || status.st_size < log->end)
		return DIST_ERR_IO;
	len = (size_t)(status.st_size - log->end);
	if (len == 0)
		return DIST_OK;
	data = malloc(len);
	if (!data)
		return DIST_ERR_NO_MEMORY;
	if (dist__read_all(log->fd, data, len, log->end) == len) {
		error = apply_all(log, data, len, &used);
		log->end += (off_t)used;
		if (!error && used < len && ftruncate(log->fd, log->end) != 0)
			error = DIST_ERR_IO;
	}
	free(data);
	return error;
}

/* ---- changing ----------------------------------------------------------- */

/* Appends a record of one or two strings, then does what it says. */
static enum dist_error append(struct dist__file_log *log, enum record code,
			      struct dist__bytes a, const struct dist__bytes *b)
{
	enum dist_error error = DIST_ERR_NO_MEMORY;
	struct dist__parcel record;

	dist__parcel_init(&record, code, 0);
	dist__parcel_add(&record, a.data, a.len);
	if (b)
		dist__parcel_add(&record, b->data, b->len);
	if (!record.failed)
		error = dist__write_all(log->fd, record.data, record.len,
					log->end)
				? apply(log, &record)
				: DIST_ERR_IO;
	if (!error)
		log->end += (off_t)record.len;
	else if (ftruncate(log->fd, log->end) != 0)
		error = DIST_ERR_IO;
	dist__parcel_release(&record);
	return error;
}

enum dist_error dist__file_log_set(struct dist__file_log *log,
				   struct dist__bytes key,
				   struct dist__bytes value)
{
	return append(log, LOG_SET, key, &value);
}

enum dist_error dist__file_log_delete(struct dist__file_log *log,
				      struct dist__bytes key)
{
	return append(log, LOG_DELETE, key, NULL);
}

static enum dist_error append_opener(struct dist__file_log *log,
				     enum record code,
				     const struct dist__opener *opener)
{
	struct dist__bytes number;
	char text[24];

	snprintf(text, sizeof text, "%ld", opener->pid);
	number = dist__bytes_text(text);
	return append(log, code, dist__bytes_text(opener->host), &number);
}

enum dist_error dist__file_log_note_open(struct dist__file_log *log,
					 const struct dist__opener *opener)
{
	return append_opener(log, LOG_OPEN, opener);
}

enum dist_error dist__file_log_note_close(struct dist__file_log *log,
					  const struct dist__opener *opener)
{
	return append_opener(log, LOG_CLOSE, opener);
}

/* ---- life --------------------------------------------------------------- */

enum dist_error dist__file_log_lock(struct dist__file_log *log)
{
	enum dist_error error;
	int refused;

	do
		refused = flock(log->fd, LOCK_EX);
	while (refused && errno == EINTR);
	if (refused)
		return DIST_ERR_IO;
	error = replay(log);
	if (error)
		dist__file_log_unlock(log);
	return error;
}

void dist__file_log_unlock(struct dist__file_log *log)
{
	(void)flock(log->fd, LOCK_UN);
}

bool dist__file_log_is_at(const struct dist__file_log *log, const char *path)
{
	struct stat there, ours;

	return stat(path, &there) == 0 && fstat(log->fd, &ours) == 0 &&
	       there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

void dist__file_log_close(struct dist__file_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	dist__table_free(log->table);
	free(log->openers);
	memset(log, 0, sizeof *log);
	log->fd = -1;
}

/* Opens path, a regular file. */
static int open_file(const char *path, struct dist_message *message)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat status;

	if (fd < 0) {
		snprintf(message->text, sizeof message->text,
			 "file store: %.300s: %s", path, strerror(errno));
		return -1;
	}
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		snprintf(message->text, sizeof message->text,
			 "file store: %.300s: not a regular file", path);
		close(fd);
		return -1;
	}
	return fd;
}

static enum dist_error open_once(struct dist__file_log *log, const char *path,
				 struct dist_message *message)
{
	enum dist_error error = DIST_ERR_NO_MEMORY;

	memset(log, 0, sizeof *log);
	log->fd = open_file(path, message);
	if (log->fd < 0)
		return DIST_ERR_IO;
	log->table = dist__table_new();
	if (log->table)
		error = dist__file_log_lock(log);
	if (error == DIST_ERR_INVALID_ARGUMENT)
		snprintf(message->text, sizeof message->text,
			 "file store: %.300s: not a store, but a file with "
			 "other contents",
			 path);
	else if (error)
		snprintf(message->text, sizeof message->text,
			 "file store: %.300s: cannot lock or read it: %s", path,
			 strerror(errno));
	if (error)
		dist__file_log_close(log);
	return error;
}

enum dist_error dist__file_log_open(struct dist__file_log *log,
				    const char *path,
				    struct dist_message *message)
{
	enum dist_error error;

	for (;;) {
		error = open_once(log, path, message);
		if (error || dist__file_log_is_at(log, path))
			return error;
		/* The last user removed it while we waited for the lock. */
		dist__file_log_close(log);
	}
}
