/*
 * file_log.h - the file behind a file store: a log of changes, which every
 * process replays into its own table.
 *
 * The log consists of parcels, one for each change. A process locks the file,
 * reads the parcels that others have appended, and appends its own.
 * An incomplete parcel at the end was left by a process that died while it held
 * the lock, and is cut off. Private to realbackend/store/.
 */
#ifndef LOCKSTEP_STORE_FILE_LOG_H
#define LOCKSTEP_STORE_FILE_LOG_H

#include <sys/types.h>

#include "realbackend/store/key_table.h"

/* A process that opened the store. */
struct dist__opener {
	char host[64];
	long pid;
	bool closed;
};

struct dist__file_log {
	int fd; /* -1: not open */
	struct dist__table *table;
	off_t end; /* of the part that was replayed */
	struct dist__opener *openers;
	size_t num_openers, num_closed;
};

/* dist__file_log_open opens path, which it creates if missing, and locks it.
 * Errors: IO, INVALID_ARGUMENT (no regular file), NO_MEMORY; message explains;
 * nothing is open then. */
enum dist_error dist__file_log_open(struct dist__file_log *log,
				    const char *path,
				    struct dist_message *message);

/* dist__file_log_close closes the file, which unlocks it. */
void dist__file_log_close(struct dist__file_log *log);

/* dist__file_log_lock waits for the lock and brings the table up to date.
 * Errors: IO, NO_MEMORY, INVALID_ARGUMENT (the file is no log); then it is not
 * locked. */
enum dist_error dist__file_log_lock(struct dist__file_log *log);
void dist__file_log_unlock(struct dist__file_log *log);

/* Changes, made with the lock held. Errors: IO, NO_MEMORY. */
enum dist_error dist__file_log_set(struct dist__file_log *log,
				   struct dist__bytes key,
				   struct dist__bytes value);
enum dist_error dist__file_log_delete(struct dist__file_log *log,
				      struct dist__bytes key);
enum dist_error dist__file_log_note_open(struct dist__file_log *log,
					 const struct dist__opener *opener);
enum dist_error dist__file_log_note_close(struct dist__file_log *log,
					  const struct dist__opener *opener);

/* dist__file_log_is_at returns whether path still names this file. */
bool dist__file_log_is_at(const struct dist__file_log *log, const char *path);

#endif
