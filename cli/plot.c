#include "cli/plot.h"

#include "cli/refuse.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data.h"
#include "base/text.h"
#include "lockstep/dist.h"
#include "base/output.h"

#define PATH_SIZE 4096

extern char **environ;

/* "svg" or "png"; NULL: neither. */
static const char *format_of(const char *picture)
{
	if (dist__ends_in(picture, ".svg"))
		return "svg";
	return dist__ends_in(picture, ".png") ? "png" : NULL;
}

int plot_check(const char *command, const char *option, const char *picture)
{
	return format_of(picture)
		       ? DIST_EXIT_OK
		       : refuse(command,
				"--%s %s: expected a name that ends in .svg or "
				".png",
				option, picture);
}

const char *plot_data(const char *tsv, const char *picture,
		      char path[PLOT_PATH])
{
	if (tsv || !picture)
		return tsv;
	snprintf(path, PLOT_PATH, "%.*s.tsv",
		 (int)(strlen(picture) -
		       (format_of(picture) ? strlen(".svg") : 0)),
		 picture);
	return path;
}

/* The name within a path, without the suffix of platforms and profiles. */
static int name_length(const char **path)
{
	const char *suffix;

	*path = dist__base_name(*path);
	suffix = strrchr(*path, '.');
	if (suffix &&
	    (strcmp(suffix, ".xml") == 0 || strcmp(suffix, ".yaml") == 0))
		return (int)(suffix - *path);
	return (int)strlen(*path);
}

void plot_title(const char *what, const struct dist__trace *trace, char *title,
		size_t size)
{
	static const char *const keys[] = {"platform", "profile"};

	snprintf(title, size, "%s: %s%s%d ranks", what,
		 trace->backend ? trace->backend : "",
		 trace->backend ? ", " : "",
		 trace->world_size ? trace->world_size : (int)trace->num_ranks);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const char *name = dist__trace_fact(trace, keys[i]);
		int length = name ? name_length(&name) : 0;

		if (length > 0)
			(void)dist__append(title, size, ", %s %.*s", keys[i],
					   length, name);
	}
}

void plot_find(const char *script, char *path, size_t size)
{
	char name[256];

	snprintf(name, sizeof name, "plots/%s", script);
	dist__data_dir(name, path, size);
	if (access(path, R_OK) == 0)
		return;
	dist__data_own(name, path, size);
	if (access(path, R_OK) == 0)
		return;
	snprintf(name, sizeof name, "../plots/%s", script);
	dist__data_own(name, path, size);
}

/* Appends "name='value'; " to a gnuplot program; between single quotes only a
 * single quote is special, and stands for itself when doubled. */
static void append_variable(char *program, size_t size, const char *name,
			    const char *value)
{
	size_t used = strlen(program);

	used += (size_t)snprintf(program + used, size - used, "%s='", name);
	for (; *value && used + 8 < size; value++) {
		if (*value == '\'')
			program[used++] = '\'';
		program[used++] = *value == '\n' ? ' ' : *value;
	}
	snprintf(program + used, size - used, "'; ");
}

/* Starts gnuplot, which prints into the file at fd; returns 0 or errno. */
static int start_gnuplot(const char *const *argv, int fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (!error)
		error = posix_spawnp(pid, "gnuplot", &actions, NULL,
				     (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Runs gnuplot and returns its wait status, or -1 after a message. Its numbers
 * have points and its text is UTF-8, whatever the user's language is. */
static int run_gnuplot(const char *command, const char *program,
		       const char *script, int fd)
{
	const char *const argv[] = {"gnuplot", "-e", program, script, NULL};
	int status, error;
	pid_t pid;

	error = setenv("LC_ALL", "C.UTF-8", 1) ? errno : 0;
	if (!error)
		error = start_gnuplot(argv, fd, &pid);
	if (error) {
		fprintf(stderr, "%s: gnuplot cannot be started: %s%s\n",
			command, strerror(error),
			error == ENOENT ? " (Debian package gnuplot-nox)" : "");
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Copies the picture, which is whole now, to where it belongs. */
static int keep(const char *command, FILE *picture, const char *output)
{
	struct dist_message message = {""};
	struct dist__output *out;
	enum dist_error error;
	char part[8192];
	size_t len;

	rewind(picture);
	error = dist__output_open(output, &out, &message);
	if (!error) {
		while ((len = fread(part, 1, sizeof part, picture)) > 0)
			dist__output_bytes(out, part, len);
		error = dist__output_close(out, &message);
	}
	if (!error)
		return DIST_EXIT_OK;
	fprintf(stderr, "%s: %s\n", command, message.text);
	return DIST_EXIT_FAILED;
}

/* gnuplot draws into a file without a name, so that nothing is left of it when
 * one of us is killed. */
int plot_draw(const char *command, const char *script, const char *input,
	      const char *output, const char *title)
{
	char path[PATH_SIZE], program[4 * PATH_SIZE] = "";
	int status = DIST_EXIT_FAILED, ended;
	FILE *picture = tmpfile();

	if (!picture) {
		fprintf(stderr, "%s: temporary file: %s\n", command,
			strerror(errno));
		return status;
	}
	plot_find(script, path, sizeof path);
	append_variable(program, sizeof program, "input", input);
	append_variable(program, sizeof program, "output", "/dev/stdout");
	append_variable(program, sizeof program, "format", format_of(output));
	append_variable(program, sizeof program, "title", title);
	ended = run_gnuplot(command, program, path, fileno(picture));
	if (ended == 0)
		status = keep(command, picture, output);
	else if (ended > 0)
		fprintf(stderr, "%s: gnuplot failed on %s; the data is in %s\n",
			command, path, input);
	fclose(picture);
	return status;
}
