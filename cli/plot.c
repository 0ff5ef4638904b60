#include "cli/plot.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"

#ifndef LOCKSTEP_PLOTDIR
#error "LOCKSTEP_PLOTDIR says where the plot scripts are"
#endif

#define PATH_SIZE 4096

extern char **environ;

/* "svg" or "png"; NULL: neither. */
static const char *format_of(const char *picture)
{
	const char *suffix = strrchr(picture, '.');

	if (suffix && strcmp(suffix, ".svg") == 0)
		return "svg";
	if (suffix && strcmp(suffix, ".png") == 0)
		return "png";
	return NULL;
}

int plot_check(const char *command, const char *picture)
{
	if (format_of(picture))
		return DIST_EXIT_OK;
	fprintf(stderr, "%s: %s: expected a name that ends in .svg or .png\n",
		command, picture);
	return DIST_EXIT_USAGE;
}

void plot_data_path(const char *picture, char *path, size_t size)
{
	size_t length = strlen(picture);

	if (format_of(picture))
		length -= strlen(".svg");
	snprintf(path, size, "%.*s.tsv", (int)length, picture);
}

/* The name within a path, without the suffix of platforms and profiles. */
static int name_length(const char **path)
{
	const char *slash = strrchr(*path, '/');
	const char *suffix;

	if (slash)
		*path = slash + 1;
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
	size_t used;

	snprintf(title, size, "%s: %s%s%d ranks", what,
		 trace->backend ? trace->backend : "",
		 trace->backend ? ", " : "",
		 trace->world_size ? trace->world_size : (int)trace->num_ranks);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = dist__trace_fact(trace, keys[i]);
		int length = name ? name_length(&name) : 0;

		used = strlen(title);
		if (length > 0)
			snprintf(title + used, size - used, ", %s %.*s",
				 keys[i], length, name);
	}
}

/* Where the scripts are: among the data that the user points at, else where
 * Lockstep was installed or built. */
static void find_script(const char *script, char *path, size_t size)
{
	const char *data = getenv("LOCKSTEP_DATA");

	if (data && *data) {
		snprintf(path, size, "%s/plots/%s", data, script);
		if (access(path, R_OK) == 0)
			return;
	}
	snprintf(path, size, "%s/%s", LOCKSTEP_PLOTDIR, script);
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

/* Runs gnuplot and returns its wait status, or -1 after a message. Its numbers
 * have points and its text is UTF-8, whatever the user's language is. */
static int run_gnuplot(const char *command, const char *program,
		       const char *script)
{
	const char *const argv[] = {"gnuplot", "-e", program, script, NULL};
	int status, error;
	pid_t pid;

	error = setenv("LC_ALL", "C.UTF-8", 1) ? errno : 0;
	if (!error)
		error = posix_spawnp(&pid, "gnuplot", NULL, NULL,
				     (char *const *)argv, environ);
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

int plot_draw(const char *command, const char *script, const char *input,
	      const char *output, const char *title)
{
	char path[PATH_SIZE], temporary[PATH_SIZE], program[4 * PATH_SIZE] = "";
	int status;

	find_script(script, path, sizeof(path));
	snprintf(temporary, sizeof(temporary), "%s.tmp%ld", output,
		 (long)getpid());
	append_variable(program, sizeof(program), "input", input);
	append_variable(program, sizeof(program), "output", temporary);
	append_variable(program, sizeof(program), "format", format_of(output));
	append_variable(program, sizeof(program), "title", title);
	status = run_gnuplot(command, program, path);
	if (status == 0 && rename(temporary, output) == 0)
		return DIST_EXIT_OK;
	if (status == 0)
		fprintf(stderr, "%s: %s: cannot be written: %s\n", command,
			output, strerror(errno));
	else if (status > 0)
		fprintf(stderr, "%s: gnuplot failed on %s; the data is in %s\n",
			command, path, input);
	unlink(temporary);
	return DIST_EXIT_FAILED;
}
