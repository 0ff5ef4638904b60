#define _GNU_SOURCE /* pipe2 */
#include "realbackend/launch/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/refuse.h"
#include "base/variable.h"

#define PATH_SIZE 4096

static bool has_code(const unsigned char *codes, int num_ranks)
{
	for (int i = 0; codes && i < num_ranks; i++)
		if (codes[i])
			return true;
	return false;
}

/* ---- folders ------------------------------------------------------------ */

/* Makes path and the folders above it, as far as they are missing. */
static bool make_folders(const char *path)
{
	char part[PATH_SIZE];
	size_t len = strlen(path);

	if (len >= sizeof part)
		return errno = ENAMETOOLONG, false;
	memcpy(part, path, len + 1);
	for (size_t i = 1; i <= len; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0777) != 0 && errno != EEXIST)
			return false;
		part[i] = path[i];
	}
	return true;
}

static bool make_run_folder(struct dist__streams *streams, char *path)
{
	const struct dist__job_spec *spec = streams->spec;
	const char *base = spec->output.log_dir;
	const char *tmp = dist__variable("TMPDIR");
	const char *id = spec->nodes.run_id ? spec->nodes.run_id : "none";
	int len;

	if (base && !make_folders(base))
		return false;
	if (base)
		len = snprintf(path, PATH_SIZE, "%s/%s_XXXXXX", base, id);
	else
		len = snprintf(path, PATH_SIZE, "%s/lockstep_%s_XXXXXX",
			       tmp ? tmp : "/tmp", id);
	if (len < 0 || len >= PATH_SIZE)
		return errno = ENAMETOOLONG, false;
	if (!mkdtemp(path))
		return false;
	streams->dir = strdup(path);
	return streams->dir != NULL;
}

enum dist_error dist__streams_open(struct dist__streams *streams,
				   const struct dist__job_spec *spec,
				   struct dist_message *message)
{
	const struct dist__output_spec *output = &spec->output;
	char path[PATH_SIZE];

	streams->spec = spec;
	streams->dir = NULL;
	if (!output->log_dir && !has_code(output->redirects, spec->nproc) &&
	    !has_code(output->tee, spec->nproc))
		return DIST_OK;
	if (make_run_folder(streams, path)) {
		fprintf(stderr, "lockstep: logs in %s\n", streams->dir);
		return DIST_OK;
	}
	return dist__refuse_as(message, DIST_ERR_IO,
			       "cannot make a folder for logs in %.300s: %s",
			       output->log_dir ? output->log_dir
					       : "the temporary folder",
			       strerror(errno));
}

void dist__streams_close(struct dist__streams *streams)
{
	free(streams->dir);
	streams->dir = NULL;
}

bool dist__streams_path(const struct dist__streams *streams,
			const struct dist__streams_rank *rank, const char *file,
			char *path, size_t size)
{
	int len;

	if (!streams->dir)
		return false;
	len = snprintf(path, size, "%s/attempt_%d/%d/%s", streams->dir,
		       rank->round, rank->local_rank, file);
	return len > 0 && (size_t)len < size;
}

bool dist__streams_begin(const struct dist__streams *streams, int round)
{
	struct dist__streams_rank rank = {.round = round};
	char path[PATH_SIZE];

	for (; streams->dir && rank.local_rank < streams->spec->nproc;
	     rank.local_rank++) {
		if (!dist__streams_path(streams, &rank, "", path,
					sizeof path) ||
		    !make_folders(path))
			return false;
	}
	return true;
}

/* ---- streams ------------------------------------------------------------ */

/* Puts value for each "${name}" that *text begins with. */
static bool substitute(const char **text, const char *name, const char *value,
		       char *out, size_t size)
{
	size_t len = strlen(name);

	if (strncmp(*text, name, len) != 0)
		return false;
	*text += len;
	snprintf(out + strlen(out), size - strlen(out), "%s", value);
	return true;
}

/* torchrun's "[role0]:", or what its variable says instead. */
static void make_prefix(const struct dist__job_spec *spec,
			const struct dist__streams_rank *rank, bool tee,
			char text[DIST__RELAY_PREFIX])
{
	const char *template = getenv("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE");
	char number[2][16];
	size_t len;

	text[0] = '\0';
	snprintf(number[0], sizeof number[0], "%d", rank->rank);
	snprintf(number[1], sizeof number[1], "%d", rank->local_rank);
	if (!tee) {
		snprintf(text, DIST__RELAY_PREFIX, "[%d]: ", rank->rank);
		return;
	}
	if (!template) {
		snprintf(text, DIST__RELAY_PREFIX,
			 "[%s%d]:", spec->role ? spec->role : "default",
			 rank->local_rank);
		return;
	}
	while (*template) {
		if (substitute(&template, "${role_name}",
			       spec->role ? spec->role : "default", text,
			       DIST__RELAY_PREFIX) ||
		    substitute(&template, "${rank}", number[0], text,
			       DIST__RELAY_PREFIX) ||
		    substitute(&template, "${local_rank}", number[1], text,
			       DIST__RELAY_PREFIX))
			continue;
		len = strlen(text);
		snprintf(text + len, DIST__RELAY_PREFIX - len, "%c",
			 *template ++);
	}
}

/* Makes the pipe; *write_fd is the child's end. The relay owns log from then
 * on, also where the system refuses: false. */
static bool open_relay(struct dist__relay *output, const char *prefix,
		       int target, int log, int *write_fd)
{
	int ends[2];

	*output = DIST__RELAY_NONE;
	output->target = target;
	output->log = log;
	snprintf(output->prefix, sizeof output->prefix, "%s", prefix);
	output->line = malloc(DIST__OUTPUT_LINE);
	if (!output->line || pipe2(ends, O_CLOEXEC) != 0)
		return false;
	output->fd = ends[0];
	*write_fd = ends[1];
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

static bool attach_one(const struct dist__streams *streams,
		       const struct dist__streams_rank *rank, int which,
		       struct dist__relay *relay, int *write_fd)
{
	static const char *const files[] = {"stdout.log", "stderr.log"};
	const struct dist__output_spec *output = &streams->spec->output;
	int local = rank->local_rank, bit = which ? DIST__STDERR : DIST__STDOUT;
	bool tee = output->tee && output->tee[local] & bit;
	bool file =
		tee || (output->redirects && output->redirects[local] & bit);
	bool shown = !output->shown || output->shown[local];
	char path[PATH_SIZE], prefix[DIST__RELAY_PREFIX];
	int log = -1;

	if (file) {
		if (!dist__streams_path(streams, rank, files[which], path,
					sizeof path))
			return errno = ENAMETOOLONG, false;
		log = open(path,
			   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
			   0666);
		if (log < 0)
			return false;
	}
	if (shown && (tee || (output->prefix && !file))) {
		make_prefix(streams->spec, rank, tee, prefix);
		return open_relay(relay, prefix, STDOUT_FILENO + which, log,
				  write_fd);
	}
	*write_fd = log;
	if (!file && !shown)
		*write_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return *write_fd >= 0 || (!file && shown);
}

bool dist__streams_attach(const struct dist__streams *streams,
			  const struct dist__streams_rank *rank,
			  struct dist__relay relays[2], int write_fds[2])
{
	for (int i = 0; i < 2; i++) {
		relays[i] = DIST__RELAY_NONE;
		write_fds[i] = -1;
	}
	for (int i = 0; i < 2; i++)
		if (!attach_one(streams, rank, i, &relays[i], &write_fds[i]))
			return false;
	return true;
}

/* ---- copying ------------------------------------------------------------ */

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
