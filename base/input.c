#define _GNU_SOURCE /* tee */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/character.h"

#define MOST_BYTES ((size_t)256 << 20)
#define PIECE      65536

/* Whether somebody writes to the pipe, or has; looks 20 times in a second,
 * without taking anything out. */
static bool has_writer(int fd)
{
	struct pollfd news = {.fd = fd, .events = POLLIN};
	bool found = false;
	int scratch[2];

	if (pipe(scratch) != 0)
		return true;
	for (int i = 0; i < 20 && !found; i++) {
		found = poll(&news, 1, 50) > 0;
		if (!found) /* at the end, or not yet written to */
			found = tee(fd, scratch[1], 1, SPLICE_F_NONBLOCK) != 0;
	}
	close(scratch[0]);
	close(scratch[1]);
	return found;
}

int dist__input_fd(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		return fd;
	if (S_ISFIFO(status.st_mode) && !has_writer(fd)) {
		close(fd);
		errno = ENODATA;
		return -1;
	}
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

FILE *dist__input_open(const char *path)
{
	int fd = dist__input_fd(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* Reads to the end; false: it cannot, or there is no memory (ENOMEM). */
static bool read_all(FILE *file, char **text, size_t *len)
{
	size_t room = 0;

	for (;;) {
		if (room - *len < 2) {
			size_t more = room + (room > PIECE ? room : PIECE);
			char *grown = realloc(*text, more);

			if (!grown)
				return false;
			*text = grown;
			room = more;
		}
		*len += fread(*text + *len, 1, room - *len - 1, file);
		if (*len > MOST_BYTES)
			errno = EFBIG;
		if (ferror(file) || *len > MOST_BYTES)
			return false;
		if (feof(file))
			break;
	}
	(*text)[*len] = '\0';
	return true;
}

enum dist_error dist__input_read(const char *path, char **text, size_t *len)
{
	FILE *file = dist__input_open(path);
	bool good;

	*text = NULL;
	*len = 0;
	if (!file)
		return DIST_ERR_IO;
	good = read_all(file, text, len);
	fclose(file);
	if (good)
		return DIST_OK;
	free(*text);
	*text = NULL;
	return errno == ENOMEM ? DIST_ERR_NO_MEMORY : DIST_ERR_IO;
}

size_t dist__input_odd(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len) {
		bool space = strchr("\t\r\n", text[i]) && text[i];
		size_t n = space ? 1 : check_character(text + i, len - i);

		if (n == 0)
			return i;
		i += n;
	}
	return len;
}
