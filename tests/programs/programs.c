/*
 * programs - runs one of the labelled programs, or its twin.
 *
 *	programs list              NAME, ranks, verdict, culprits, where
 *	programs NAME [correct]
 */
#include "tests/programs/programs.h"

#include <stdio.h>
#include <string.h>

static const struct program {
	const char *name;
	enum dist_error (*run)(struct job *job);
	int ranks;
	const char *verdict, *culprits, *where;
} programs[] = {
#define BOTH "sim tcp"
#define PROGRAM(function, ranks, verdict, culprits, where)                     \
	{#function, function, ranks, verdict, culprits, where},
#include "tests/programs/table.def"
#undef PROGRAM
};
#define NUM_PROGRAMS (sizeof programs / sizeof *programs)

struct choice {
	const struct program *program;
	bool wrong;
};

static int list(void)
{
	const struct program *p = programs;

	for (; p < programs + NUM_PROGRAMS; p++)
		printf("%s|%d|%s|%s|%s\n", p->name, p->ranks, p->verdict,
		       p->culprits, p->where);
	return 0;
}

static const struct program *find(const char *name)
{
	for (size_t i = 0; i < NUM_PROGRAMS; i++)
		if (strcmp(programs[i].name, name) == 0)
			return &programs[i];
	return NULL;
}

static int rank_main(void *arg)
{
	const struct choice *choice = arg;
	struct job job = {.wrong = choice->wrong};
	enum dist_error error, left;

	if (!strstr(choice->program->where, "apart")) {
		if (dist_init_process_group(NULL, &job.world))
			return 1;
		job.rank = dist_get_rank(job.world);
		job.size = dist_get_world_size(job.world);
	}
	error = choice->program->run(&job);
	dist_ddp_free(job.ddp);
	left = dist_destroy_process_group(job.world);
	dist_work_free(job.left);
	dist_store_free(job.store);
	free(job.memory);
	return error || left;
}

int main(int argc, char **argv)
{
	struct choice choice = {.wrong = argc == 2};

	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "correct")))
		return DIST_EXIT_USAGE;
	choice.program = find(argv[1]);
	if (!choice.program)
		return DIST_EXIT_USAGE;
	return dist_launch(NULL, rank_main, &choice);
}
