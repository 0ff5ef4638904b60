/* What is said where a library, a function of it, or a device is missing. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "realbackend/nccl/world.h"
#include "tests/nccl/job.h"

TestSuite(nccl_libraries);

/* Expects the world to be missing, and the words about it. */
static void expect_missing(const char *text, const char *more)
{
	struct dist_message why = {""};

	cr_assert_not(dist__nccl_world.is_available(&why));
	cr_expect(strstr(why.text, text) && strstr(why.text, more),
		  "no \"%s\" and \"%s\" in: %s", text, more, why.text);
	cr_expect_not(dist_is_backend_available("NCCL"));
}

Test(nccl_libraries, no_cuda_runtime)
{
	job_use_doubles(1);
	setenv("LOCKSTEP_CUDART_LIBRARY", "/nowhere/libcudart.so", 1);
	expect_missing("no CUDA runtime: looked for /nowhere/libcudart.so",
		       "No such file");
}

Test(nccl_libraries, no_nccl)
{
	job_use_doubles(1);
	setenv("LOCKSTEP_NCCL_LIBRARY", "/nowhere/libnccl.so", 1);
	expect_missing("no NCCL: looked for /nowhere/libnccl.so",
		       "No such file");
}

Test(nccl_libraries, old_nccl)
{
	job_use_doubles(1);
	setenv("LOCKSTEP_NCCL_LIBRARY", DOUBLES "libnccl_old.so", 1);
	expect_missing("libnccl_old.so) has no ncclGetUniqueId",
		       "expected version 2.14 or newer");
}

Test(nccl_libraries, no_driver)
{
	job_use_doubles(1);
	setenv("DOUBLE_CUDA_ERROR", "35", 1);
	expect_missing("found NCCL 2.28.9 (",
		       "but no GPU: cudaGetDeviceCount: CUDA driver version "
		       "is insufficient for CUDA runtime version (no NVIDIA "
		       "driver is loaded)");
}

Test(nccl_libraries, no_device)
{
	job_use_doubles(0);
	expect_missing("libcudart.so.13)", "but no GPU: cudaGetDeviceCount: "
					   "0 devices");
}

/* The names that are looked for when none is given. */
Test(nccl_libraries, looks_for_the_real_ones)
{
	struct dist_message why = {""};

	job_use_real();
	setenv("CUDA_HOME", "/nowhere", 1);
	if (dist__nccl_world.is_available(&why))
		cr_skip_test("there is a GPU");
	cr_expect(strstr(why.text, "libcudart.so.13") ||
			  strstr(why.text, "libnccl.so.2"),
		  "neither name in: %s", why.text);
}

/* Who asks may fork the ranks afterwards: the driver is not theirs then. */
static int hello(void *arg)
{
	struct dist_group *group;

	(void)arg;
	return dist_init_process_group(NULL, &group) ||
	       dist_barrier(group, NULL) || dist_destroy_process_group(group);
}

Test(nccl_libraries, asking_leaves_the_driver_alone)
{
	struct dist_launch_options options = {
		.backend = "NCCL", .world_size = 2, .timeout_ns = 30 * SECOND};

	job_use_doubles(2);
	cr_assert(dist_is_backend_available("nccl"));
	cr_expect_eq(dist_launch(&options, hello, NULL), DIST_EXIT_OK);
}

Test(nccl_libraries, a_job_without_them_is_skipped)
{
	struct dist_launch_options options = {.backend = "nccl",
					      .world_size = 2};

	job_use_doubles(0);
	cr_expect_eq(dist_launch(&options, hello, NULL), DIST_EXIT_SKIPPED);
}
