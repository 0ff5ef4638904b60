#include "trace/output.h"

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

struct dist__output {
	gzFile file;
	int error;       /* errno of the first failure; 0: none */
	char *temporary; /* NULL: written in place */
	char path[];
};

static enum dist_error fail(struct dist_message *message, const char *path,
			    int error)
{
	snprintf(message->text, sizeof message->text,
		 "%.300s: cannot be written: %s", path, strerror(error));
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

enum dist_error dist__output_open(const char *path,
				  struct dist__output **result,
				  struct dist_message *message)
{
	struct dist__output *output = output_new(path);
	int fd, error;

	if (!output)
		return fail(message, path, ENOMEM);
	fd = open(output->temporary ? output->temporary : path,
		  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
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

void dist__output_text(struct dist__output *output, const char *text)
{
	size_t len = strlen(text);
	unsigned piece;

	while (len > 0 && !output->error) {
		piece = len < 1 << 20 ? (unsigned)len : 1 << 20;
		errno = 0;
		if (gzwrite(output->file, text, piece) != (int)piece)
			output->error = errno ? errno : EIO;
		text += piece;
		len -= piece;
	}
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

enum dist_error dist__output_close(struct dist__output *output,
				   struct dist_message *message)
{
	int error = output->error;

	errno = 0;
	if (gzclose(output->file) != Z_OK && !error)
		error = errno ? errno : EIO;
	if (!error && output->temporary &&
	    rename(output->temporary, output->path) != 0)
		error = errno;
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
