/* Several devices a rank: the calls of the multi table on tensors that lie on
 * the devices themselves, in groups, where GPUs are short, and their failures.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/device.h"
#include "tests/nccl/job.h"

TestSuite(nccl_devices);

#define NUM   3
#define NUMEL 500

/* The double's runtime, which the rank has loaded already. */
struct runtime {
	unsigned (*set)(int device);
	unsigned (*alloc)(void **memory, size_t bytes);
	int (*current)(void);
};

static bool runtime_open(struct runtime *r)
{
	void *library = dlopen(DOUBLES "libcudart.so.13", RTLD_NOW);

	if (!library)
		return false;
	*(void **)&r->set = dlsym(library, "cudaSetDevice");
	*(void **)&r->alloc = dlsym(library, "cudaMalloc");
	*(void **)&r->current = dlsym(library, "double_device");
	return r->set && r->alloc && r->current;
}

/* Sums over all devices of size ranks, what each has being its number. */
static void sum_over(struct dist_group *group, struct job_note *note,
		     struct dist_tensor *tensors)
{
	int rank = dist_get_rank(group), n = NUM * dist_get_world_size(group);
	int32_t host[NUMEL];
	bool right = true;

	for (int d = 0; d < NUM; d++) {
		for (size_t i = 0; i < NUMEL; i++)
			host[i] = rank * NUM + d + (int)i;
		note->wrong += dist_device_copy(group, tensors[d].data, host,
						sizeof host) != 0;
	}
	if (job_failed(group, note,
		       dist_all_reduce_multigpu(group, tensors, NUM, DIST_SUM,
						NULL)))
		return;
	for (int d = 0; d < NUM; d++) {
		note->wrong += dist_device_copy(group, host, tensors[d].data,
						sizeof host) != 0;
		for (size_t i = 0; i < NUMEL; i++)
			right &= host[i] == n * (n - 1) / 2 + n * (int)i;
	}
	note->wrong += !right;
}

/* Where the operation needs them, and anywhere else. */
static int on_devices(struct dist_group *group, struct job_note *note)
{
	const int first = NUM * dist_get_rank(group);
	struct dist_tensor tensors[NUM];
	struct runtime r;
	int own;

	if (!runtime_open(&r))
		return 1;
	own = r.current();
	for (int shift = 0; shift < NUM; shift++) {
		for (int d = 0; d < NUM; d++) {
			void *memory = NULL;

			note->wrong += r.set(first + (d + shift) % NUM) ||
				       r.alloc(&memory, NUMEL * 4);
			tensors[d] = dist_tensor(memory, NUMEL, DIST_INT32);
		}
		note->wrong += r.set(own) != 0;
		sum_over(group, note, tensors);
		note->wrong += r.current() != own;
		for (int d = 0; d < NUM; d++)
			dist_device_free(group, tensors[d].data);
	}
	return 0;
}

/* On the host, in a group of two of three, which is then given up; beside
 * other calls on the way. */
static int in_groups(struct dist_group *all, struct job_note *note)
{
	static const int pair[] = {0, 2};
	static int32_t data[NUM][NUMEL], one;
	struct dist_work *work;
	struct dist_tensor tensors[NUM];
	struct dist_group *group;

	for (int d = 0; d < NUM; d++)
		tensors[d] = dist_tensor(data[d], NUMEL, DIST_INT32);
	if (dist_new_group(all, pair, 2, NULL, &group))
		return 1;
	one = 1;
	note->wrong += dist_all_reduce(all, dist_tensor(&one, 1, DIST_INT32),
				       DIST_SUM, &work) != 0;
	if (group) {
		sum_over(group, note, tensors);
		note->wrong += dist_destroy_process_group(group) != 0;
	}
	sum_over(all, note, tensors);
	note->wrong += dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) != 0;
	dist_work_free(work);
	note->wrong += one != 3;
	return 0;
}

static int on_host(struct dist_group *group, struct job_note *note)
{
	static int32_t data[NUM][NUMEL];
	struct dist_tensor tensors[NUM];

	for (int d = 0; d < NUM; d++)
		tensors[d] = dist_tensor(data[d], NUMEL, DIST_INT32);
	sum_over(group, note, tensors);
	return note->error != 0;
}

static void expect_right(struct job job)
{
	struct job_outcome outcome = job_run(&job);

	for (int rank = 0; rank < job.world_size; rank++)
		cr_expect(outcome.notes[rank].wrong == 0 &&
				  outcome.notes[rank].error == DIST_OK,
			  "rank %d: %s", rank, outcome.notes[rank].message);
	cr_expect_eq(outcome.status, DIST_EXIT_OK, "%s", outcome.text);
}

Test(nccl_devices, tensors_on_them)
{
	expect_right((struct job){
		.world_size = 2, .devices = 2 * NUM, .program = on_devices});
}

Test(nccl_devices, in_groups_and_beside_other_calls)
{
	expect_right((struct job){
		.world_size = 3, .devices = 3 * NUM, .program = in_groups});
}

/* All devices of all ranks are one GPU. */
Test(nccl_devices, on_one_gpu)
{
	expect_right((struct job){.world_size = 2,
				  .devices = 1,
				  .version = "23000",
				  .program = on_host});
}

static void expect_text(struct job job, const char *text)
{
	struct job_outcome outcome = job_run(&job);
	bool told = false;

	for (int rank = 0; rank < job.world_size; rank++) {
		cr_expect_neq(outcome.notes[rank].error, DIST_OK);
		told |= strstr(outcome.notes[rank].message, text) != NULL;
	}
	cr_expect(told, "no \"%s\" in: %s", text, outcome.notes[0].message);
}

Test(nccl_devices, more_than_gpus)
{
	expect_text(
		(struct job){.world_size = 1, .devices = 2, .program = on_host},
		"a rank with 3 devices has 2 GPUs: NCCL 2.28.9 refuses it; "
		"from 2.30 on it allows it where NCCL_MULTI_RANK_GPU_ENABLE=1 "
		"is set");
}

/* Each rank has GPUs enough, but they are those of others too. */
Test(nccl_devices, gpus_of_others)
{
	expect_text(
		(struct job){.world_size = 2, .devices = 4, .program = on_host},
		"Duplicate GPU detected");
}

Test(nccl_devices, more_than_gpus_and_not_allowed)
{
	expect_text((struct job){.world_size = 1,
				 .devices = 2,
				 .version = "23000",
				 .program = on_host},
		    "Set NCCL_MULTI_RANK_GPU_ENABLE=1");
}

/* ---- failures ---------------------------------------------------------- */

/* One of them has one more. */
static int other_number(struct dist_group *group, struct job_note *note)
{
	static int32_t data[NUM + 1][NUMEL];
	struct dist_tensor tensors[NUM + 1];
	size_t num = NUM + (dist_get_rank(group) == 1);

	for (size_t d = 0; d < num; d++)
		tensors[d] = dist_tensor(data[d], NUMEL, DIST_INT32);
	return job_failed(
		group, note,
		dist_all_reduce_multigpu(group, tensors, num, DIST_SUM, NULL));
}

Test(nccl_devices, numbers_differ)
{
	struct job job = {
		.world_size = 3, .devices = 12, .program = other_number};
	struct job_outcome outcome = job_run(&job);

	cr_expect_eq(outcome.status, DIST_EXIT_MISMATCH, "%s", outcome.text);
}

static struct job_outcome run_failing(const char *fail)
{
	struct job job = {.world_size = 2,
			  .devices = 2 * NUM,
			  .timeout_ns = 5 * SECOND,
			  .fail = fail,
			  .program = on_host};

	return job_run(&job);
}

static void expect_failed(const char *fail, enum dist_error error,
			  const char *text)
{
	struct job_outcome outcome = run_failing(fail);

	cr_expect_eq(outcome.notes[1].error, error, "%s: %s", fail,
		     outcome.notes[1].message);
	cr_expect(strstr(outcome.notes[1].message, text), "%s: %s", fail,
		  outcome.notes[1].message);
	cr_expect_neq(outcome.notes[0].error, DIST_OK);
	cr_expect_neq(outcome.status, DIST_EXIT_OK);
}

/* Both are late, and who finds it first leaves the other. */
static void expect_late(const char *fail)
{
	struct job_outcome outcome = run_failing(fail);

	for (int rank = 0; rank < 2; rank++)
		cr_expect(outcome.notes[rank].error == DIST_ERR_TIMEOUT ||
				  outcome.notes[rank].error ==
					  DIST_ERR_PEER_LOST,
			  "%s: %s", fail, outcome.notes[rank].message);
	cr_expect_eq(outcome.status, DIST_EXIT_TIMEOUT, "%s", outcome.text);
}

/* Its second communicator, of the devices', or its launch on the last. */
Test(nccl_devices, one_of_them_fails)
{
	expect_failed("1:3:init", DIST_ERR_IO,
		      "on device 4 of 6: unhandled system error");
	expect_failed("1:3:return", DIST_ERR_IO, "ncclGroupEnd");
	expect_failed("1:2:async", DIST_ERR_IO, "remote process exited");
	expect_late("1:3:join");
	expect_late("1:1:hang");
}

/* ---- on a GPU, which is all of them ------------------------------------ */

Test(nccl_gpu, several_devices_a_rank)
{
	job_use_gpu(true);
	expect_right((struct job){.world_size = 2,
				  .real = true,
				  .sharing = "1",
				  .program = on_host});
}
