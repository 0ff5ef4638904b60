/* run_plan.c - what lockstep run is asked for, checked and made complete. */
#define _GNU_SOURCE /* memmem */

#include "base/variable.h"
#include "cli/run.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/dump.h"
#include "cli/check_writable.h"
#include "cli/refuse.h"
#include "cli/usual_profile.h"
#include "base/data.h"
#include "core/fidelity.h"
#include "base/quantity.h"
#include "base/spelling.h"
#include "coll/profile.h"
#include "model/library/library.h"
#include "sim/platform/platform.h"
#include "sim/watcher.h"
#include "worlds/worlds.h"

#define PATH_SIZE 4096
/* Between the ends of its neighbours in a table of symbols. */
#define LAUNCHES   "\0dist_launch"
#define MOST_PORTS 65535

/* ---- words -------------------------------------------------------------- */

static int complain(const struct dist_message *message)
{
	return refuse(run_command, "%s", message->text);
}

/* ---- how many ranks ----------------------------------------------------- */

static int count_gpus(void)
{
	glob_t found;
	int n = 0;

	if (glob("/dev/nvidia[0-9]*", 0, NULL, &found) == 0)
		n = (int)found.gl_pathc;
	globfree(&found);
	return n;
}

/* Stores as many ranks as there is room for in *size: on the platform, or one
 * a GPU, or one a processor. */
static int fill_world(const struct run_request *request,
		      const struct run_plan *plan, int *size)
{
	const char *platform =
		dist__variable_or(request->platform, "LOCKSTEP_PLATFORM");
	struct dist_message message = {""};
	char path[PATH_SIZE];
	int hosts;

	if (!plan->world->in_process || !platform) {
		*size = count_gpus();
		if (*size == 0)
			*size = (int)sysconf(_SC_NPROCESSORS_ONLN);
		return DIST_EXIT_OK;
	}
	if (dist__data_find("platforms", platform, ".xml", path, sizeof path,
			    &message) ||
	    dist__platform_hosts(path, &hosts, size, &message))
		return complain(&message);
	return DIST_EXIT_OK;
}

/* Stores the number of ranks that words ask for in plan->nproc. */
static int parse_nproc(const struct run_request *request, const char *option,
		       const char *text, struct run_plan *plan)
{
	if (strcmp(text, "auto") == 0)
		return fill_world(request, plan, &plan->nproc);
	if (strcmp(text, "cpu") == 0) {
		plan->nproc = (int)sysconf(_SC_NPROCESSORS_ONLN);
		return DIST_EXIT_OK;
	}
	if (strcmp(text, "gpu") == 0) {
		plan->nproc = count_gpus();
		return plan->nproc ? DIST_EXIT_OK
				   : run_refuse(option, text,
						"a number, as there is no "
						"GPU here (no /dev/nvidia0)");
	}
	if (!run_number(text, 1, 1 << 24, &plan->nproc))
		return run_refuse(
			option, text,
			"a number of ranks from 1 on, auto, cpu or gpu");
	if (!plan->world->in_process && plan->nproc > MOST_PORTS)
		return run_refuse(
			option, text,
			"at most 65535 ranks, each of which listens on a port");
	return DIST_EXIT_OK;
}

/* The ranks of a node: either spelling of the option, else WORLD_SIZE, else 1
 * as torchrun has it. */
static int choose_nproc(const struct run_request *request,
			struct run_plan *plan)
{
	const char *option = "--nproc-per-node";
	const char *text = request->nproc_per_node;
	bool alone = plan->nodes.max_nodes == 1;

	if (request->world_size &&
	    (!alone || (text && strcmp(text, request->world_size) != 0)))
		return run_refuse("--world-size", request->world_size,
				  "one node, and the same as --nproc-per-node");
	if (!text) {
		option = "--world-size";
		text = request->world_size;
	}
	if (!text && alone && request->represent &&
	    strchr(request->represent, ':')) {
		option = "--represent";
		text = strchr(request->represent, ':') + 1;
	}
	if (!text && alone) {
		option = "WORLD_SIZE";
		text = dist__variable_or(NULL, option);
	}
	return text ? parse_nproc(request, option, text, plan) : DIST_EXIT_OK;
}

/* Reads R:N, R ranks that stand for N; false: it is none. */
static bool read_represent(const char *text, int *running, int *ranks)
{
	const char *colon = strchr(text, ':');
	char first[16];

	if (!colon || colon - text >= (ptrdiff_t)sizeof first)
		return false;
	memcpy(first, text, (size_t)(colon - text));
	first[colon - text] = '\0';
	return run_number(first, 1, 1 << 24, running) &&
	       run_number(colon + 1, 1, 1 << 24, ranks) &&
	       *ranks % *running == 0;
}

/* --represent: the ranks that some stand for are those that there are. */
static int check_represent(const struct run_request *request,
			   struct run_plan *plan)
{
	const char *text =
		dist__variable_or(request->represent, "LOCKSTEP_REPRESENT");
	const char *option =
		request->represent ? "--represent" : "LOCKSTEP_REPRESENT";
	int running, ranks;

	if (!text)
		return DIST_EXIT_OK;
	if (!read_represent(text, &running, &ranks))
		return run_refuse(
			option, text,
			"R:N, R ranks that stand for N, a multiple of "
			"R");
	if (!plan->world->in_process)
		return run_refuse(option, text,
				  "--backend sim: real ranks are all there");
	if (ranks != plan->nproc * plan->nodes.max_nodes)
		return run_refuse(option, text,
				  "as many ranks as --nproc-per-node and "
				  "--nnodes say");
	return DIST_EXIT_OK;
}

/* ---- the rest ----------------------------------------------------------- */

static int choose_world(const struct run_request *request,
			struct run_plan *plan)
{
	const char *name =
		dist__variable_or(request->backend, "LOCKSTEP_BACKEND");
	struct dist_message why = {""};
	enum dist_error error = DIST_OK;

	if (!name)
		name = dist__worlds()[0]->name;
	plan->world = dist__world_find(name);
	if (!plan->world) {
		(void)dist__world_refuse(name, &why);
		return complain(&why);
	}
	/* A simulation finds out itself, in the process that will need it. */
	if (!plan->world->in_process)
		error = dist__world_check(plan->world, &why);
	if (!error)
		return DIST_EXIT_OK;
	(void)refuse(run_command, "%s: %s", name, why.text);
	return error == DIST_ERR_UNAVAILABLE ? DIST_EXIT_SKIPPED
					     : DIST_EXIT_USAGE;
}

static bool is_timeout(const char *text, struct run_plan *plan)
{
	return dist__seconds_read(text, &plan->timeout_ns) &&
	       plan->timeout_ns > 0;
}

static bool is_patience(const char *text, struct run_plan *plan)
{
	return dist__seconds_read(text, &plan->patience_ns);
}

/* A value that ranks read again. */
#define READ_BY(name, type, call)                                              \
	static bool name(const char *text, struct run_plan *plan)              \
	{                                                                      \
		type value;                                                    \
                                                                               \
		(void)plan;                                                    \
		return call;                                                   \
	}

READ_BY(is_stack_size, uint64_t, dist__stack_read(text, &value))
READ_BY(is_debug, enum dist__debug, dist__debug_parse(&value, text))
READ_BY(is_fidelity, enum dist__fidelity, dist__fidelity_parse(&value, text))
READ_BY(is_intra, bool, dist__intra_parse(text, &value))
READ_BY(is_bind, bool, dist__bind_parse(text, &value))

static bool is_annotate(const char *text, struct run_plan *plan)
{
	(void)plan;
	return strcmp(text, "github") == 0;
}

#define AT(field) offsetof(struct run_request, field)

/* Options that one look at their text settles, and the variables that say the
 * same. */
static const struct setting {
	const char *option, *variable;
	size_t offset; /* in the request */
	bool (*is_right)(const char *text, struct run_plan *plan);
	const char *expected;
} settings[] = {
	{"--timeout", "LOCKSTEP_TIMEOUT", AT(timeout), is_timeout,
	 "seconds, a number above 0"},
	{"--patience", "LOCKSTEP_PATIENCE", AT(patience), is_patience,
	 "seconds, 0 or more"},
	{"--stack-size", "LOCKSTEP_STACK_SIZE", AT(stack_size), is_stack_size,
	 DIST__STACK_WORDS},
	{"--debug", "LOCKSTEP_DEBUG", AT(debug), is_debug, DIST__DEBUG_LEVELS},
	{"--fidelity", "LOCKSTEP_FIDELITY", AT(fidelity), is_fidelity,
	 DIST__FIDELITIES},
	{"--intra", "LOCKSTEP_INTRA", AT(intra), is_intra, DIST__INTRA_WORDS},
	{"--bind-to", "LOCKSTEP_BIND_TO", AT(bind_to), is_bind,
	 DIST__BIND_WORDS},
	{"--annotate", "LOCKSTEP_ANNOTATE", AT(annotate), is_annotate,
	 "github"},
};

static int check_settings(const struct run_request *request,
			  struct run_plan *plan)
{
	plan->patience_ns = DIST__SIM_PATIENCE_S * (int64_t)1000000000;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const struct setting *s = &settings[i];
		const char *option = *(
			const char *const *)((const char *)request + s->offset);
		const char *text = dist__variable_or(option, s->variable);

		if (text && !s->is_right(text, plan))
			return run_refuse(option ? s->option : s->variable,
					  text, s->expected);
	}
	return DIST_EXIT_OK;
}

static int check_secret(const struct run_request *request,
			struct run_plan *plan)
{
	const char *text = getenv("LOCKSTEP_SECRET");

	(void)request;
	(void)plan;
	if (!text || *text)
		return DIST_EXIT_OK;
	return run_refuse("LOCKSTEP_SECRET", text,
			  "what all ranks share, or unset");
}

/* Options that only some worlds obey. */
#define REAL "tcp, nccl or mpi"
static const struct world_option {
	const char *option;
	size_t offset;       /* in the request */
	const char *worlds;  /* whose they are, as text */
	const char *nothing; /* a value that asks for nothing, as "" does */
} world_options[] = {
	{"--platform", AT(platform), "sim", ""},
	{"--fidelity", AT(fidelity), "sim", ""},
	{"--engine", AT(engine), "sim", ""},
	{"--p2p", AT(p2p), "sim", ""},
	{"--stack-size", AT(stack_size), "sim", ""},
	{"--replay", AT(replay), "sim", ""},
	{"--intra", AT(intra), "tcp", ""},
	{"--bind-to", AT(bind_to), "tcp", ""},
	{"--dump", AT(dump), REAL, ""},
	{"--log-dir", AT(log_dir), REAL, ""},
	{"--redirects", AT(redirects), REAL, "0"},
	{"--tee", AT(tee), REAL, "0"},
	{"--local-ranks-filter", AT(local_ranks_filter), REAL, ""},
};

static int refuse_world(const struct run_request *request, const char *option,
			const char *worlds)
{
	return request->explore
		       ? refuse(run_command,
				"%s: expected with lockstep run --backend %s: "
				"explore simulates all ranks",
				option, worlds)
		       : refuse(run_command, "%s: expected with --backend %s",
				option, worlds);
}

static int check_world_options(const struct run_request *request,
			       struct run_plan *plan)
{
	for (size_t i = 0; i < sizeof world_options / sizeof *world_options;
	     i++) {
		const struct world_option *o = &world_options[i];
		const char *text = *(
			const char *const *)((const char *)request + o->offset);

		if (text && *text && strcmp(text, o->nothing) != 0 &&
		    !strstr(o->worlds, plan->world->name))
			return refuse_world(request, o->option, o->worlds);
	}
	return request->prefix_output && plan->world->in_process
		       ? refuse_world(request, "--prefix-output", REAL)
		       : DIST_EXIT_OK;
}

static int check_links(const struct run_request *request, struct run_plan *plan)
{
	struct dist__link_overrides overrides = {.name = ""};
	struct dist__refusal refusal;

	if (rewiring_read(&request->links, &overrides, plan->links, &refusal))
		return complain(&refusal.message);
	if (*plan->links && !plan->world->in_process)
		return run_refuse("--backend", plan->world->name,
				  "sim where links are changed");
	return DIST_EXIT_OK;
}

/* A place that cannot be written to is better known before than after. */
static int check_dump(const struct run_request *request, struct run_plan *plan)
{
	const char *pattern = dist__variable_or(request->dump, "LOCKSTEP_DUMP");

	if (plan->world->in_process || !pattern || check_dump_prepare(pattern))
		return DIST_EXIT_OK;
	return run_refuse(request->dump ? "--dump" : "LOCKSTEP_DUMP", pattern,
			  "a folder that can be written to");
}

/* Of several nodes one writes them, maybe not this one. */
static int check_places(const struct run_request *request,
			struct run_plan *plan)
{
	const char *const paths[] = {
		dist__variable_or(request->trace, "LOCKSTEP_TRACE"),
		dist__variable_or(request->json, "LOCKSTEP_JSON"),
		dist__variable_or(request->junit, "LOCKSTEP_JUNIT"),
		dist__variable_or(request->sarif, "LOCKSTEP_SARIF"),
	};

	if (plan->nodes.max_nodes > 1 ||
	    check_writable(run_command, paths, sizeof paths / sizeof paths[0]))
		return DIST_EXIT_OK;
	return DIST_EXIT_USAGE;
}

/* Whether name lies in these bytes of a program: not in what is for debuggers
 * alone, most of it. What is no ELF file, or has no sections, is looked through
 * whole. */
static bool has_text(const char *bytes, size_t size, const char *name,
		     size_t len)
{
	Elf64_Ehdr head;
	Elf64_Shdr part;
	bool found = false;

	if (size < sizeof head || memcmp(bytes, ELFMAG, SELFMAG) != 0 ||
	    bytes[EI_CLASS] != ELFCLASS64)
		return memmem(bytes, size, name, len);
	memcpy(&head, bytes, sizeof head);
	if (head.e_shnum == 0 || head.e_shentsize != sizeof part ||
	    head.e_shoff > size ||
	    head.e_shnum > (size - head.e_shoff) / sizeof part)
		return memmem(bytes, size, name, len);
	for (size_t i = 0; i < head.e_shnum && !found; i++) {
		memcpy(&part, bytes + head.e_shoff + i * sizeof part,
		       sizeof part);
		if (part.sh_type != SHT_NOBITS && part.sh_offset <= size &&
		    part.sh_size <= size - part.sh_offset &&
		    (part.sh_type == SHT_STRTAB || part.sh_flags & SHF_ALLOC))
			found = memmem(bytes + part.sh_offset, part.sh_size,
				       name, len);
	}
	return found;
}

/* Whether the file at path has a symbol of this name, as far as that is known
 * without running it. */
static bool has_symbol(const char *path, const char *name, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;
	struct stat info;
	bool found = false;

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
		bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE,
			     fd, 0);
	if (bytes != MAP_FAILED) {
		found = has_text(bytes, (size_t)info.st_size, name, len);
		(void)munmap(bytes, (size_t)info.st_size);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static int choose_program(const struct run_request *request,
			  struct run_plan *plan)
{
	const char *name = plan->argv[0];
	struct stat info;

	(void)request;
	if (!name)
		return refuse(run_command,
			      "no PROGRAM; see lockstep %s --help and lockstep "
			      "list scenarios",
			      run_command);
	plan->scenario = scenario_find(name);
	plan->is_whole = true;
	if (plan->scenario)
		return DIST_EXIT_OK;
	if (stat(name, &info) || !S_ISREG(info.st_mode)) {
		struct dist__spelling near = dist__spelling_of(name);
		const char *hint;

		for (const struct scenario *s = scenario_table; s->name; s++)
			dist__spelling_offer(&near, s->name, strlen(s->name));
		hint = dist__spelling_hint(&near);
		return refuse(run_command,
			      "no scenario and no program \"%s\"%s", name,
			      *hint ? hint : "; see lockstep list scenarios");
	}
	if (access(name, X_OK))
		return refuse(run_command,
			      "%s: expected a program that may be executed, or "
			      "a Python script (NAME.py)",
			      name);
	plan->is_whole = has_symbol(name, LAUNCHES, sizeof LAUNCHES);
	return DIST_EXIT_OK;
}

/* ---- --compute ---------------------------------------------------------- */

static bool is_factor(const char *text)
{
	char *end;
	double factor;

	if (*text == '\0')
		return true;
	if (*text++ != ':')
		return false;
	factor = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(factor) && factor > 0;
}

/* Whether text is word, a colon and something. */
static bool begins(const char *text, const char *word)
{
	size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && text[len] == ':' &&
	       text[len + 1] != '\0';
}

static int check_compute(const struct run_request *request,
			 struct run_plan *plan)
{
	const char *text =
		dist__variable_or(request->compute, "LOCKSTEP_COMPUTE");
	const char *option =
		request->compute ? "--compute" : "LOCKSTEP_COMPUTE";

	if (!text)
		return DIST_EXIT_OK;
	if (strcmp(text, "none") != 0 && !begins(text, "table") &&
	    !begins(text, "roofline") &&
	    (strncmp(text, "cpu", 3) != 0 || !is_factor(text + 3)))
		return run_refuse(option, text,
				  "none, cpu, cpu:FACTOR, roofline:GPU or "
				  "table:FILE");
	if (request->compute && (!plan->world->in_process || plan->is_whole))
		return run_refuse(option, text,
				  "--backend sim, and a program that does not "
				  "call dist_launch()");
	return DIST_EXIT_OK;
}

/* A profile that cannot be used is refused here, once, rather than by every
 * rank. */
static int check_profile(const struct run_request *request,
			 struct run_plan *plan)
{
	const char *name =
		dist__variable_or(request->profile, "LOCKSTEP_PROFILE");
	const char *text =
		dist__variable_or(request->algorithm, "LOCKSTEP_ALGORITHM");
	const char *p2p = dist__variable_or(request->p2p, "LOCKSTEP_P2P");
	struct dist_message message = {""};
	struct dist__profile profile;
	int status = DIST_EXIT_OK;

	dist__profile_init(&profile);
	if (p2p && !dist__p2p_mode_parse(&profile.p2p, p2p))
		return run_refuse(request->p2p ? "--p2p" : "LOCKSTEP_P2P", p2p,
				  DIST__P2P_MODES);
	if ((name && dist__profile_find(&profile, name, &message)) ||
	    (text &&
	     (plan->world->in_process
		      ? library_force(&profile, text, &message)
		      : dist__profile_force(&profile, NULL, text, &message))))
		status = complain(&message);
	dist__profile_release(&profile);
	return status;
}

/* Whether this is one of several processes that mpirun or srun started, with no
 * word about ranks: then each is a rank itself, as the program alone would be.
 */
static bool choose_is_rank(const struct run_request *request,
			   const struct run_plan *plan)
{
	return !plan->world->in_process && !request->nproc_per_node &&
	       !request->world_size && !request->nnodes &&
	       !dist__variable_or(NULL, "RANK") && dist__job_is_rank();
}

int run_plan_make(const struct run_request *request, struct run_plan *plan)
{
	static int (*const steps[])(const struct run_request *request,
				    struct run_plan *plan) = {
		check_settings,
		check_secret,
		choose_world,
		check_world_options,
		check_links,
		run_choose_nodes,
		choose_nproc,
		check_represent,
		run_choose_output,
		check_dump,
		check_places,
		run_check_backends,
		run_choose_interpreter,
		choose_program,
		check_compute,
		check_profile};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; i < sizeof steps / sizeof *steps && !status; i++)
		status = steps[i](request, plan);
	if (status)
		return status;
	plan->is_rank = choose_is_rank(request, plan);
	plan->profile = request->profile;
	/* Not where schedules matter, which a library's transfers have none of.
	 */
	if (plan->world->in_process && !request->explore &&
	    !dist__variable_or(request->replay, "LOCKSTEP_REPLAY"))
		plan->profile = usual_profile_on(
			request->platform, request->profile, request->algorithm,
			request->fidelity, plan->nproc * plan->nodes.max_nodes);
	return DIST_EXIT_OK;
}

void run_plan_release(struct run_plan *plan)
{
	free(plan->argv);
	free(plan->words);
	free((void *)plan->output.redirects);
	free((void *)plan->output.tee);
	free((void *)plan->output.shown);
}
