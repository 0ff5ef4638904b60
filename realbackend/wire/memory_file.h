/* memory_file.h - memory that processes share: a file without a name. Private
 * to realbackend/wire/. */
#ifndef LOCKSTEP_WIRE_MEMORY_FILE_H
#define LOCKSTEP_WIRE_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* dist__memory_file_new makes one of so many bytes, all 0, that is closed on
 * exec and gone with its last user: in /dev/shm, or else $TMPDIR or /tmp. -1:
 * the system refused (errno). */
int dist__memory_file_new(size_t bytes);

/* dist__memory_file_full returns whether fd is elsewhere because /dev/shm has
 * no room for it, and says so in text. */
bool dist__memory_file_full(int fd, char *text, size_t size);

/* dist__memory_file_map maps the whole of it; NULL: the system refused. */
void *dist__memory_file_map(int fd, size_t bytes);

#endif
