/* run_python.c - programs that lockstep run finds on PATH, and those in Python:
 * which interpreter runs a script, and what our Python package needs to know.
 */
#define _GNU_SOURCE /* realpath */
#include "base/text.h"
#include "base/variable.h"
#include "cli/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data.h"
#include "cli/refuse.h"

/* The most words before the program's own: python3 -u -m. */
enum { MOST_BEFORE = 3 };

static bool is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool run_find_program(const char *name, char path[PATH_MAX])
{
	const char *folders = getenv("PATH");
	size_t len;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX &&
		       is_file(path) && access(path, X_OK) == 0;
	for (; folders && *folders; folders += len + (folders[len] == ':')) {
		len = strcspn(folders, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", len ? (int)len : 1,
			     len ? folders : ".", name) < PATH_MAX &&
		    is_file(path) && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* ---- what runs ---------------------------------------------------------- */

/* Puts words before the program's, in place of the first `dropped` of these. */
static int put_before(struct run_plan *plan, const char *const *before,
		      int dropped)
{
	char **argv =
		calloc((size_t)plan->argc + MOST_BEFORE + 1, sizeof *argv);
	int n = 0;

	if (!argv)
		return out_of_memory(run_command);
	while (before[n]) {
		argv[n] = (char *)before[n];
		n++;
	}
	plan->title = n;
	for (int i = dropped; i < plan->argc; i++)
		argv[n++] = plan->argv[i];
	/* The words stay where they are. */
	plan->words = plan->argv;
	plan->argv = argv;
	plan->argc = n;
	return DIST_EXIT_OK;
}

/* As torchrun: the interpreter that PYTHON_EXEC names, which does not hold
 * output back. */
static int choose_script(const struct run_request *request,
			 struct run_plan *plan)
{
	const char *name = dist__variable_or(NULL, "PYTHON_EXEC");
	const char *before[MOST_BEFORE + 1] = {plan->interpreter, "-u",
					       request->module ? "-m" : NULL};

	if (!request->module && !is_file(plan->argv[0]))
		return refuse(run_command, "no file \"%s\"", plan->argv[0]);
	if (run_find_program(name ? name : "python3", plan->interpreter))
		return put_before(plan, before, 0);
	return refuse(run_command,
		      "no %s to run %s with: expected python3 on PATH, or "
		      "PYTHON_EXEC to name one",
		      name ? name : "python3", plan->argv[0]);
}

static bool is_interpreter(const char *name)
{
	name = dist__base_name(name);
	if (strncmp(name, "python", strlen("python")) != 0)
		return false;
	name += strlen("python");
	return name[strspn(name, "0123456789.")] == '\0';
}

/* Which word of an interpreter's is the script, or the module behind -m; 0:
 * none that can be told, or plan->code says where the program stands. */
static int find_script(struct run_plan *plan)
{
	for (int i = 1; i < plan->argc; i++) {
		const char *word = plan->argv[i];

		if (strcmp(word, "-m") == 0)
			return i + 1 < plan->argc ? i + 1 : 0;
		if (strcmp(word, "-c") == 0 || strcmp(word, "-") == 0) {
			plan->code = i;
			return 0;
		}
		if (strcmp(word, "-X") == 0 || strcmp(word, "-W") == 0)
			i++;
		else if (*word != '-')
			return i;
	}
	return 0;
}

/* The word among an interpreter's own that keeps our package from it: neither
 * PYTHONPATH nor, for S, sitecustomize; NULL: none does. */
static const char *find_isolation(const struct run_plan *plan, int script)
{
	int end = script ? script : plan->code;

	for (int i = 1; i < end; i++) {
		const char *word = plan->argv[i];
		size_t letters = strcspn(word, "XWmc");

		if (*word == '-' && strcspn(word, "IES") < letters)
			return word;
		if (strcmp(word, "-X") == 0 || strcmp(word, "-W") == 0)
			i++;
	}
	return NULL;
}

static int check_isolation(const struct run_request *request,
			   const struct run_plan *plan, int script)
{
	const char *word = find_isolation(plan, script);
	const char *backends = dist__variable_or(request->torch_backend_as,
						 "LOCKSTEP_TORCH_BACKEND_AS");
	const char *world =
		dist__variable_or(request->backend, "LOCKSTEP_BACKEND");
	bool is_sim = world && strcmp(world, "sim") == 0;

	if (!word || (!is_sim && backends && strcmp(backends, "none") == 0))
		return DIST_EXIT_OK;
	return refuse(run_command,
		      "%s %s: expected no -I, -E or -S, which keep Lockstep's "
		      "package from it%s",
		      plan->argv[0], word,
		      is_sim ? "" : ", or --torch-backend-as none");
}

/* A program as a shell would find it. What is none is left to be refused. */
static int choose_from_path(const struct run_request *request,
			    struct run_plan *plan)
{
	const char *before[MOST_BEFORE + 1] = {plan->interpreter};
	const char *name = plan->argv[0];
	int script, status = DIST_EXIT_OK;

	plan->is_python = is_interpreter(name);
	script = plan->is_python ? find_script(plan) : 0;
	if (script && dist__ends_in(plan->argv[script], ".py") &&
	    strcmp(plan->argv[script - 1], "-m") != 0 &&
	    !is_file(plan->argv[script]))
		return refuse(run_command, "no file \"%s\"",
			      plan->argv[script]);
	if (plan->is_python)
		status = check_isolation(request, plan, script);
	if (status)
		return status;
	if (!is_file(name) && !strchr(name, '/') &&
	    run_find_program(name, plan->interpreter))
		status = put_before(plan, before, 1);
	plan->title = script;
	return status;
}

int run_choose_interpreter(const struct run_request *request,
			   struct run_plan *plan)
{
	if (!plan->argv[0] ||
	    (!request->module && scenario_find(plan->argv[0])))
		return DIST_EXIT_OK;
	if (request->module && request->no_python)
		return refuse(run_command,
			      "-m and --no-python exclude each other");
	plan->is_python =
		request->module ||
		(dist__ends_in(plan->argv[0], ".py") && !request->no_python);
	return plan->is_python ? choose_script(request, plan)
			       : choose_from_path(request, plan);
}

/* ---- what our package needs --------------------------------------------- */

int run_check_backends(const struct run_request *request, struct run_plan *plan)
{
	const char *option = request->torch_backend_as;
	const char *text =
		dist__variable_or(option, "LOCKSTEP_TORCH_BACKEND_AS");
	const char *rest = text ? text : "";
	size_t len;

	(void)plan;
	if (strcmp(rest, "none") == 0)
		return DIST_EXIT_OK;
	for (; *rest; rest += len + (rest[len] == ',')) {
		len = strcspn(rest, ",");
		if ((len != 4 || (strncmp(rest, "gloo", len) != 0 &&
				  strncmp(rest, "nccl", len) != 0)) ||
		    strcmp(rest + len, ",") == 0)
			return run_refuse(option ? "--torch-backend-as"
						 : "LOCKSTEP_TORCH_BACKEND_AS",
					  text,
					  "gloo, nccl, gloo,nccl or none");
	}
	return DIST_EXIT_OK;
}

/* Stores the first of two files beside or below a folder of ours, made real;
 * false: neither is there. */
static bool find_either(const char *folder, const char *const places[2],
			char path[PATH_MAX])
{
	char maybe[PATH_MAX];

	for (int i = 0; i < 2; i++)
		if (snprintf(maybe, sizeof maybe, "%s/%s", folder, places[i]) <
			    (int)sizeof maybe &&
		    realpath(maybe, path))
			return true;
	return false;
}

bool run_export_path(void)
{
	/* Installed, and in the source tree. */
	static const char *const places[2] = {"python/sitecustomize.py",
					      "../python/sitecustomize.py"};
	const char *before = getenv("PYTHONPATH");
	char data[PATH_MAX], path[PATH_MAX], *all;
	bool good;

	dist__data_own("", data, sizeof data);
	if (!find_either(data, places, path))
		return true;
	*strrchr(path, '/') = '\0';
	if (!before || !*before)
		return setenv("PYTHONPATH", path, 1) == 0;
	if (strncmp(before, path, strlen(path)) == 0)
		return true; /* ours already: a command in a command */
	all = malloc(strlen(path) + strlen(before) + 2);
	if (!all)
		return false;
	sprintf(all, "%s:%s", path, before);
	good = setenv("PYTHONPATH", all, 1) == 0;
	free(all);
	return good;
}

static bool export_library(void)
{
	/* In the build, and installed. */
	static const char *const places[2] = {"liblockstep.so.0",
					      "../lib/liblockstep.so.0"};
	char own[PATH_MAX], path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);

	if (len <= 0)
		return true;
	own[len] = '\0';
	*strrchr(own, '/') = '\0';
	return !find_either(own, places, path) ||
	       setenv("LOCKSTEP_LIBRARY", path, 0) == 0;
}

/* Groups whose tensors that world can carry. */
static const char *takes_over(const struct dist__world *world)
{
	if (world->in_process)
		return "gloo,nccl";
	return strcmp(world->name, "nccl") == 0 ? "nccl" : "gloo";
}

bool run_export_python(const struct run_request *request,
		       const struct run_plan *plan)
{
	const char *backends = request->torch_backend_as;

	if (plan->scenario)
		return true;
	if (!backends && !getenv("LOCKSTEP_TORCH_BACKEND_AS"))
		backends = takes_over(plan->world);
	if (backends && strcmp(backends, "none") == 0)
		backends = "";
	if (backends && setenv("LOCKSTEP_TORCH_BACKEND_AS", backends, 1) != 0)
		return false;
	if (plan->is_python && plan->nproc > 1 && !plan->world->in_process &&
	    !getenv("OMP_NUM_THREADS"))
		fprintf(stderr,
			"lockstep %s: OMP_NUM_THREADS=1 for each rank, for "
			"they share the processors; set it to choose\n",
			run_command);
	return run_export_path() && export_library();
}
