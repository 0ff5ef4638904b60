#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/support/simulate.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"

/* For one simulation, so that of one that hangs the name is told. */
#define LIMIT_S 60

static int launch(const struct simulation *s, const char *fidelity,
		  int (*rank_main)(void *arg), void *shared)
{
	char text[96];
	const struct dist_launch_options options = {
		.backend = "sim",
		.platform = s->platform,
		.profile = s->profile,
		.world_size = s->world_size,
		.algorithm = s->algorithm ? text : NULL,
		.fidelity = fidelity,
	};

	snprintf(text, sizeof text, "%s=%s", s->op,
		 s->algorithm ? s->algorithm : "");
	return dist_launch(&options, rank_main, shared);
}

bool simulate(const struct simulation *s, const char *fidelity,
	      int (*rank_main)(void *arg), void *shared)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(LIMIT_S);
		_exit(launch(s, fidelity, rank_main, shared));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "%s %s, %d ranks, %s, %s, %s: status 0x%x",
		     s->op, s->algorithm ? s->algorithm : "", s->world_size,
		     s->platform, s->profile ? s->profile : "no profile",
		     fidelity, (unsigned)status);
	return status == 0;
}

int launch_ranks(const char *backend, const char *platform, int world_size,
		 int (*rank_main)(void *arg), void *arg)
{
	const struct dist_launch_options options = {.backend = backend,
						    .platform = platform,
						    .world_size = world_size};

	return dist_launch(&options, rank_main, arg);
}

void *simulate_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	return memory;
}

size_t simulate_both(struct simulation *both,
		     const struct dist__algorithm *algorithm,
		     const char *platform, const char *profile, int world_size)
{
	both[0] = (struct simulation){dist__op_name(algorithm->op),
				      algorithm->name, platform, NULL,
				      world_size};
	both[1] = both[0];
	both[1].profile = profile;
	return 2;
}

static bool is_same(const struct simulation *a, const struct simulation *b)
{
	return strcmp(a->op, b->op) == 0 &&
	       strcmp(a->algorithm, b->algorithm) == 0;
}

size_t simulate_spans(const void *elements, size_t n, size_t size,
		      struct span *spans)
{
	const struct simulation *last = elements;
	size_t num = 0;

	for (size_t i = 0; i < n; i++) {
		const void *s = (const char *)elements + i * size;

		if (i == 0 || !is_same(last, s))
			spans[num++] = (struct span){.first = i};
		spans[num - 1].num++;
		last = s;
	}
	return num;
}
