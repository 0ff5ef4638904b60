/*
 * programs - runs one of the labelled programs, or its twin.
 *
 *	programs list              NAME, ranks, verdict, culprits, worlds
 *	programs NAME [correct]
 */
#include "tests/programs/programs.h"

#include <stdio.h>
#include <string.h>

static const struct program *const tables[] = {
	collective_programs, flow_programs,   message_programs, group_programs,
	handle_programs,     ending_programs, pattern_programs,
};
#define NUM_TABLES (sizeof tables / sizeof *tables)

struct choice {
	const struct program *program;
	bool wrong;
};

static int list(void)
{
	for (size_t i = 0; i < NUM_TABLES; i++)
		for (const struct program *p = tables[i]; p->name; p++)
			printf("%s|%d|%s|%s|%s\n", p->name, p->ranks,
			       p->verdict, p->culprits, p->worlds);
	return 0;
}

static const struct program *find(const char *name)
{
	for (size_t i = 0; i < NUM_TABLES; i++)
		for (const struct program *p = tables[i]; p->name; p++)
			if (strcmp(p->name, name) == 0)
				return p;
	return NULL;
}

static int rank_main(void *arg)
{
	const struct choice *choice = arg;
	struct job job = {.wrong = choice->wrong};
	enum dist_error error;

	if (dist_init_process_group(NULL, &job.world))
		return 1;
	job.rank = dist_get_rank(job.world);
	job.size = dist_get_world_size(job.world);
	error = choice->program->run(&job);
	if (dist_destroy_process_group(job.world))
		return 1;
	return error != DIST_OK;
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
