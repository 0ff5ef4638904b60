/* zoo - runs one program of the zoo, or its correct twin. */
#include "scenarios/zoo/zoo.h"

#include <stdio.h>
#include <string.h>

#include "lockstep/store.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"
#include "scenarios/scenario.h"

struct options {
	const struct zoo_program *program;
	int correct;
};

enum dist_error zoo_free_port(struct zoo *zoo, int32_t *port)
{
	struct dist_store *store = NULL;

	*port = 0;
	if (zoo->rank == 0)
		zoo_try(dist_tcp_store_new("127.0.0.1", 0, 0, true,
					   DIST_TIMEOUT_OF_STORE, &store,
					   NULL));
	if (store)
		*port = dist_tcp_store_port(store);
	dist_store_free(store);
	return dist_broadcast(zoo->group, dist_tensor(port, 1, DIST_INT32), 0,
			      NULL);
}

enum dist_error zoo_join_by(struct zoo *zoo, int rank, int world_size,
			    const char *url)
{
	struct dist_message message = {""};
	const struct dist_init_options options = {.init_method = url,
						  .rank = rank,
						  .world_size = world_size,
						  .timeout_ns = 1000000000,
						  .message = &message};
	enum dist_error error = dist_destroy_process_group(zoo->group);

	zoo->group = NULL;
	if (!error)
		error = dist_init_process_group(&options, &zoo->group);
	if (error)
		fprintf(stderr, "rank %d: %s\n", zoo->rank,
			*message.text ? message.text
				      : dist_error_string(error));
	return error;
}

enum dist_error zoo_join_again(struct zoo *zoo, int rank, int world_size,
			       int32_t port)
{
	char url[40];

	snprintf(url, sizeof url, "tcp://127.0.0.1:%d", (int)port);
	return zoo_join_by(zoo, rank, world_size, url);
}

static int rank_main(void *arg)
{
	const struct options *options = arg;
	struct zoo zoo = {.correct = options->correct};
	enum dist_error error;
	int status;

	if (options->program->before)
		options->program->before(options->correct);
	if (rank_join(&zoo.group))
		return 1;
	zoo.rank = dist_get_rank(zoo.group);
	zoo.world_size = dist_get_world_size(zoo.group);
	error = options->program->run(&zoo);
	status = error != DIST_OK;
	if (zoo.group)
		status = rank_leave(zoo.group, options->program->name, error);
	dist_work_free(zoo.kept);
	return status;
}

static int list(void)
{
	for (int i = 0; zoo_table[i]; i++)
		printf("%s\t%d\n", zoo_table[i]->name,
		       zoo_table[i]->world_size);
	return DIST_EXIT_OK;
}

static const struct zoo_program *find(const char *name)
{
	for (int i = 0; zoo_table[i]; i++)
		if (strcmp(zoo_table[i]->name, name) == 0)
			return zoo_table[i];
	return NULL;
}

int zoo_main(int argc, char **argv)
{
	struct options options = {0};
	const char *name;
	const struct poptOption table[] = {
		{"correct", '\0', POPT_ARG_NONE, &options.correct, 0,
		 "run the program's correct twin", NULL},
		POPT_AUTOHELP POPT_TABLEEND};

	if (!arguments_parse_word(
		    argc, (const char **)argv, table,
		    "NAME [--correct]\n\nNAME: list, or one of what `zoo list` "
		    "prints, with its number of ranks.\nExample: lockstep run "
		    "--backend sim --platform star-8 --nproc-per-node 3 zoo "
		    "01_swapped\n",
		    &name))
		return DIST_EXIT_USAGE;
	if (strcmp(name, "list") == 0)
		return list();
	options.program = find(name);
	if (!options.program) {
		fprintf(stderr,
			"%s: %s: expected a name that `zoo list` "
			"prints\n",
			argv[0], name);
		return DIST_EXIT_USAGE;
	}
	return dist_launch(NULL, rank_main, &options);
}
