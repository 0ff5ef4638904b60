#include "realbackend/launch/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realbackend/wire/socket.h"

bool dist__relay_open(struct dist__relay *output, const char *prefix,
		      int target, int log, int *write_fd)
{
	int ends[2];

	*output = DIST__RELAY_NONE;
	output->target = target;
	output->log = log;
	snprintf(output->prefix, sizeof output->prefix, "%s", prefix);
	output->line = malloc(DIST__OUTPUT_LINE);
	if (!output->line || pipe(ends) != 0)
		return false;
	output->fd = ends[0];
	*write_fd = ends[1];
	return dist__socket_cloexec(ends[0], true) &&
	       dist__socket_cloexec(ends[1], true) &&
	       fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

static void write_all(struct dist__relay *output, int fd, const char *text,
		      size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, text, len);
		if (n < 0 && errno != EINTR) {
			output->error = output->error ? output->error : errno;
			return;
		}
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

/* In one write, so that lines of several launchers on one terminal stay
 * whole. */
static void write_line(struct dist__relay *output, const char *text, size_t len)
{
	char whole[DIST__OUTPUT_LINE + DIST__RELAY_PREFIX + 1];
	size_t prefix = strlen(output->prefix);

	memcpy(whole, output->prefix, prefix);
	memcpy(whole + prefix, text, len);
	whole[prefix + len] = '\n';
	write_all(output, output->target, whole, prefix + len + 1);
}

/* Passes on the whole lines among the len bytes gathered. */
static void pass_lines(struct dist__relay *output)
{
	char *begin = output->line, *end;
	size_t left = output->len;

	while ((end = memchr(begin, '\n', left)) != NULL) {
		write_line(output, begin, (size_t)(end - begin));
		left -= (size_t)(end - begin) + 1;
		begin = end + 1;
	}
	if (left == DIST__OUTPUT_LINE) {
		write_line(output, begin, left);
		left = 0;
	}
	memmove(output->line, begin, left);
	output->len = left;
}

void dist__relay_pass(struct dist__relay *output)
{
	ssize_t n;

	while (output->fd >= 0) {
		n = read(output->fd, output->line + output->len,
			 DIST__OUTPUT_LINE - output->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			dist__relay_close(output);
			return;
		}
		if (output->log >= 0)
			write_all(output, output->log,
				  output->line + output->len, (size_t)n);
		output->len += (size_t)n;
		pass_lines(output);
	}
}

void dist__relay_close(struct dist__relay *output)
{
	int error;

	if (output->len)
		write_line(output, output->line, output->len);
	error = output->error;
	if (output->fd >= 0)
		close(output->fd);
	if (output->log >= 0)
		close(output->log);
	free(output->line);
	*output = DIST__RELAY_NONE;
	output->error = error;
}
