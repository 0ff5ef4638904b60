/* One seed, one trace: two runs of a simulation write the same bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int lockstep(const char *arguments, const char *trace)
{
	const char *program = getenv("LOCKSTEP");
	char command[1024];
	int status;

	snprintf(command, sizeof command, "%s run --trace %s %s >%s.out 2>&1",
		 program ? program : "build/default/lockstep", trace, arguments,
		 trace);
	fflush(NULL);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Compares two files byte by byte; returns their size, -1 when they differ. */
static long same_bytes(const char *path_a, const char *path_b)
{
	FILE *a = fopen(path_a, "rb"), *b = fopen(path_b, "rb");
	long size = 0;
	int c = 0;

	cr_assert(a && b, "%s and %s must exist", path_a, path_b);
	while (c != EOF && size >= 0) {
		c = fgetc(a);
		size = fgetc(b) == c ? size + 1 : -1;
	}
	fclose(a);
	fclose(b);
	return size;
}

static void expect_identical(const char *arguments, const char *suffix)
{
	char folder[] = "/tmp/lockstep-golden-XXXXXX", path[2][64];
	char command[128];

	cr_assert(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof path[i], "%s/%d.%s", folder, i,
			 suffix);
		cr_expect_eq(lockstep(arguments, path[i]), 0, "%s", arguments);
	}
	cr_expect_gt(same_bytes(path[0], path[1]), 1000, "%s", arguments);
	snprintf(command, sizeof command, "rm -r %s", folder);
	cr_assert_eq(system(command), 0);
}

Test(golden, traces_of_a_step_are_identical)
{
	expect_identical("--backend sim --platform star-64 --nproc-per-node 16 "
			 "ddp_step --model resnet50",
			 "json");
}

Test(golden, compressed_traces_are_identical)
{
	expect_identical("--backend sim --platform fat-tree-64 "
			 "--nproc-per-node 12 ddp_step --model resnet18 --real",
			 "json.gz");
}
