#define _GNU_SOURCE /* O_TMPFILE */
#include "base/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file_limit.h"
#include "base/refuse.h"

struct dist__output {
	gzFile file;
	int nameless;    /* the file, while it has no name; -1: it has one */
	int error;       /* errno of the first failure; 0: none */
	char *temporary; /* NULL: written in place */
	char path[];
};

static enum dist_error fail(struct dist_message *message, const char *path,
			    int error)
{
	snprintf(message->text, sizeof message->text,
		 "%.300s: cannot be written: %s", path, dist__file_why(error));
	errno = error;
	return error == ENOMEM ? DIST_ERR_NO_MEMORY : DIST_ERR_IO;
}

/* Renaming over a device, a pipe or a link (as /dev/stdout is one) would put a
 * plain file in its place. */
static bool is_special(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static struct dist__output *output_new(const char *path)
{
	size_t len = strlen(path), room = len + 32;
	struct dist__output *output = calloc(1, sizeof *output + len + 1);

	if (!output)
		return NULL;
	output->nameless = -1;
	memcpy(output->path, path, len + 1);
	if (is_special(path))
		return output;
	output->temporary = malloc(room);
	if (!output->temporary) {
		free(output);
		return NULL;
	}
	snprintf(output->temporary, room, "%s.tmp%ld", path, (long)getpid());
	return output;
}

static void output_free(struct dist__output *output)
{
	if (output->nameless >= 0)
		close(output->nameless);
	free(output->temporary);
	free(output);
}

/* zlib's mode "T" passes text through uncompressed, so one set of calls
 * serves both; its gzip header carries no time, so equal text gives equal
 * bytes. */
static const char *gzip_mode(const char *path)
{
	size_t len = strlen(path);

	return len > 3 && strcmp(path + len - 3, ".gz") == 0 ? "wb6" : "wbT";
}

/* A file in the folder of path that has no name yet, so that nothing is left of
 * it when the process is killed; -1: the file system has none. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 1;
	char *folder = strndup(slash ? path : ".", len);
	int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
			: -1;

	free(folder);
	return fd;
}

/* Opens what is written to: a file without a name, and a second hold on it that
 * outlives the first; else the temporary, or path itself. */
static int open_output(struct dist__output *output)
{
	int fd = output->temporary ? open_nameless(output->path) : -1;

	output->nameless = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (output->nameless >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return open(output->temporary ? output->temporary : output->path,
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

enum dist_error dist__output_open(const char *path,
				  struct dist__output **result,
				  struct dist_message *message)
{
	struct dist__output *output = output_new(path);
	int fd, error;

	if (!output)
		return fail(message, path, ENOMEM);
	fd = open_output(output);
	error = errno;
	output->file = fd < 0 ? NULL : gzdopen(fd, gzip_mode(path));
	if (!output->file) {
		if (fd >= 0) {
			error = ENOMEM;
			close(fd);
		}
		output_free(output);
		return fail(message, path, error);
	}
	*result = output;
	return DIST_OK;
}

void dist__output_bytes(struct dist__output *output, const char *bytes,
			size_t len)
{
	sigset_t before;
	unsigned piece;

	dist__file_hold(&before);
	while (len > 0 && !output->error) {
		piece = len < 1 << 20 ? (unsigned)len : 1 << 20;
		errno = 0;
		if (gzwrite(output->file, bytes, piece) != (int)piece)
			output->error = errno ? errno : EIO;
		bytes += piece;
		len -= piece;
	}
	dist__file_release(&before);
}

void dist__output_text(struct dist__output *output, const char *text)
{
	dist__output_bytes(output, text, strlen(text));
}

void dist__output_print(struct dist__output *output, const char *format, ...)
{
	char text[1024];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	assert(len >= 0 && (size_t)len < sizeof text);
	dist__output_text(output, text);
}

/* Gives a file without one its temporary name. */
static bool name_output(const struct dist__output *output)
{
	char self[32];

	if (output->nameless < 0)
		return true;
	snprintf(self, sizeof self, "/proc/self/fd/%d", output->nameless);
	(void)unlink(output->temporary);
	return linkat(AT_FDCWD, self, AT_FDCWD, output->temporary,
		      AT_SYMLINK_FOLLOW) == 0;
}

enum dist_error dist__output_close(struct dist__output *output,
				   struct dist_message *message)
{
	int error = output->error;
	sigset_t before;

	dist__file_hold(&before);
	errno = 0;
	if (gzclose(output->file) != Z_OK && !error)
		error = errno ? errno : EIO;
	if (!error && output->temporary &&
	    (!name_output(output) ||
	     rename(output->temporary, output->path) != 0))
		error = errno;
	dist__file_release(&before);
	if (error && output->temporary)
		unlink(output->temporary);
	if (error)
		fail(message, output->path, error);
	output_free(output);
	return error ? DIST_ERR_IO : DIST_OK;
}

void dist__output_abandon(struct dist__output *output)
{
	if (!output)
		return;
	gzclose(output->file);
	if (output->temporary)
		unlink(output->temporary);
	output_free(output);
}

enum dist_error dist__output_save(const char *path, const char *text,
				  struct dist_message *message)
{
	struct dist__output *output;
	enum dist_error error;

	if (!path)
		return fputs(text, stdout) < 0
			       ? dist__refuse_as(message, DIST_ERR_IO,
						 "cannot write")
			       : DIST_OK;
	error = dist__output_open(path, &output, message);
	if (error)
		return error;
	dist__output_text(output, text);
	return dist__output_close(output, message);
}

enum dist_error dist__output_write(const char *path,
				   bool (*print)(FILE *out, const void *arg),
				   const void *arg,
				   struct dist_message *message)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool good = out && print(out, arg);
	enum dist_error error;

	good = out && fclose(out) == 0 && good;
	error = good ? dist__output_save(path, text, message)
		     : fail(message, path, ENOMEM);
	free(text);
	return error;
}
