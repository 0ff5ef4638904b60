/* memory_file.h - memory that processes share: a file without a name. Private
 * to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_MEMORY_FILE_H
#define LOCKSTEP_TCP_MEMORY_FILE_H

#include <stddef.h>

/* dist__memory_file_new makes one of so many bytes, all 0, that is closed on
 * exec and gone with its last user; -1: the system refused. */
int dist__memory_file_new(size_t bytes);

/* dist__memory_file_map maps the whole of it; NULL: the system refused. */
void *dist__memory_file_map(int fd, size_t bytes);

#endif
