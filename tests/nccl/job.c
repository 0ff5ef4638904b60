#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/nccl/job.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "realbackend/nccl/world.h"
#include "tests/support/leaks.h"
#include "tests/support/tcp_world.h"
#include "tests/support/captured.h"

struct program {
	const struct job *job;
	struct job_note *notes;
};

void job_use_doubles(int devices)
{
	char number[16];

	snprintf(number, sizeof number, "%d", devices);
	setenv("LOCKSTEP_NCCL_LIBRARY", DOUBLES "libnccl.so.2", 1);
	setenv("LOCKSTEP_CUDART_LIBRARY", DOUBLES "libcudart.so.13", 1);
	setenv("DOUBLE_DEVICES", number, 1);
}

void job_use_real(void)
{
	unsetenv("LOCKSTEP_NCCL_LIBRARY");
	unsetenv("LOCKSTEP_CUDART_LIBRARY");
}

void job_use_gpu(bool shared)
{
	struct dist_message why = {""};
	const char *version;
	int major = 0, minor = 0;

	job_use_real();
	setenv("CUDA_VISIBLE_DEVICES", "0", 0);
	if (!dist__nccl_world.is_available(&why))
		cr_skip_test("%s", why.text);
	version = strstr(why.text, "NCCL ");
	if (version)
		(void)sscanf(version, "NCCL %d.%d", &major, &minor);
	if (shared && 100 * major + minor < 230)
		cr_skip_test("ranks cannot share a GPU: %s", why.text);
}

bool job_failed(struct dist_group *group, struct job_note *note,
		enum dist_error error)
{
	if (error && !note->error) {
		note->error = error;
		snprintf(note->message, sizeof note->message, "%s",
			 dist_error_message(group));
	}
	return error != DIST_OK;
}

static int64_t timeout_of(const struct job *job)
{
	return job->timeout_ns ? job->timeout_ns : 60 * SECOND;
}

static int join_and_run(const struct program *program, struct job_note *note)
{
	struct dist_message message = {""};
	struct dist_init_options options = {.backend = "nccl",
					    .timeout_ns =
						    timeout_of(program->job),
					    .message = &message};
	struct dist_group *group;
	int status = 0;

	note->error = dist_init_process_group(&options, &group);
	if (note->error) {
		memcpy(note->message, message.text, sizeof note->message);
		return 1;
	}
	if (program->job->program)
		status = program->job->program(group, note);
	if (dist_destroy_process_group(group) || note->wrong)
		status = status ? status : 1;
	return status;
}

static int rank_main(void *arg)
{
	const struct program *program = arg;
	const struct job *job = program->job;
	struct job_note *note = &program->notes[atoi(getenv("RANK"))];
	int status = join_and_run(program, note);

	atomic_store(&note->done, true);
	for (int rank = 0; !job->bare && !job->hasty && rank < job->world_size;
	     rank++)
		while (!atomic_load(&program->notes[rank].done))
			sched_yield();
	return leaks_found() ? 99 : status;
}

static int launch(struct program *program)
{
	struct dist_launch_options options = {
		.backend = "nccl",
		.world_size = program->job->world_size,
		.timeout_ns = timeout_of(program->job)};

	return dist_launch(&options, rank_main, program);
}

static int run_bare(struct program *program)
{
	int size = program->job->world_size;
	struct tcp_world world;
	pid_t pids[JOB_MOST_RANKS];

	cr_assert(tcp_world_open(&world));
	for (int rank = 0; rank < size; rank++)
		pids[rank] =
			tcp_world_start(&world, rank, size, rank_main, program);
	tcp_world_close(&world);
	for (int rank = 0; rank < size; rank++)
		(void)tcp_status(pids[rank]);
	return 0;
}

struct job_outcome job_run(const struct job *job)
{
	size_t bytes = JOB_MOST_RANKS * sizeof(struct job_note);
	struct job_outcome outcome = {.status = -1};
	struct program program = {.job = job};
	struct captured captured;

	if (!job->real)
		job_use_doubles(job->devices ? job->devices : job->world_size);
	if (job->version)
		setenv("DOUBLE_NCCL_VERSION", job->version, 1);
	if (job->sharing)
		setenv("NCCL_MULTI_RANK_GPU_ENABLE", job->sharing, 1);
	if (job->fail)
		setenv("DOUBLE_FAIL", job->fail, 1);
	outcome.notes = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(outcome.notes != MAP_FAILED);
	program.notes = outcome.notes;
	captured = capture_begin(STDERR_FILENO);
	outcome.status = job->bare ? run_bare(&program) : launch(&program);
	capture_end(&captured, outcome.text, sizeof outcome.text);
	return outcome;
}
