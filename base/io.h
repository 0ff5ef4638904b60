/* io.h - all of some bytes from or to a file, past what interrupts. */
#ifndef LOCKSTEP_BASE_IO_H
#define LOCKSTEP_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* dist__read_all reads size bytes of fd at `at`, or where it stands (-1).
 * Returns how many: fewer at its end, or on an error. */
size_t dist__read_all(int fd, void *data, size_t size, off_t at);

/* dist__read_rest reads all to the end of a pipe. Returns how many bytes of it
 * are in data; what has no room there is dropped, so that the writer goes on.
 */
size_t dist__read_rest(int fd, void *data, size_t size);

/* dist__write_all writes size bytes to fd at `at`, or where it stands (-1).
 * Returns false, with errno, if it cannot. */
bool dist__write_all(int fd, const void *data, size_t size, off_t at);

#endif
