/* memory_file.h - memory shared between processes: a file without a name.
 * Private to realbackend/wire/. */
#ifndef LOCKSTEP_WIRE_MEMORY_FILE_H
#define LOCKSTEP_WIRE_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* dist__memory_file_new makes one of so many bytes, all 0, closed on exec and
 * removed with its last user: in /dev/shm, else in $TMPDIR or /tmp. -1: see
 * errno. */
int dist__memory_file_new(size_t bytes);

/* dist__memory_file_full returns whether fd is elsewhere because /dev/shm is
 * full; if so, text says it. */
bool dist__memory_file_full(int fd, char *text, size_t size);

/* dist__memory_file_map maps all of it; NULL: see errno. */
void *dist__memory_file_map(int fd, size_t bytes);

#endif
