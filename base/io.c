/* io.c - reads and writes until all is done. */
#include "base/io.h"

#include <errno.h>
#include <unistd.h>

size_t dist__read_all(int fd, void *data, size_t size, off_t at)
{
	size_t got = 0;

	while (got < size) {
		char *to = (char *)data + got;
		ssize_t n = at < 0 ? read(fd, to, size - got)
				   : pread(fd, to, size - got, at + (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

size_t dist__read_rest(int fd, void *data, size_t size)
{
	size_t got = dist__read_all(fd, data, size, -1);
	char rest[512];

	while (got == size && dist__read_all(fd, rest, sizeof rest, -1) > 0)
		;
	return got;
}

bool dist__write_all(int fd, const void *data, size_t size, off_t at)
{
	size_t put = 0;

	while (put < size) {
		const char *from = (const char *)data + put;
		ssize_t n =
			at < 0 ? write(fd, from, size - put)
			       : pwrite(fd, from, size - put, at + (off_t)put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		put += (size_t)n;
	}
	return true;
}
