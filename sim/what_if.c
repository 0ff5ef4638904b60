/*
 * what_if.c - whether a job that stands still would end if sends did not wait
 * for their receives.
 *
 * A copy of the process tries it: it lets every send that waits go, buffers all
 * later ones, goes on with the simulation, and tells how that ended by its exit
 * status. Nothing of it is seen or heard but what the ranks write into files.
 * Where a simulation cannot be copied the answer is no.
 */
#include "sim/world.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine_shim.h"
#include "sim/platform.h"

/* After that the answer is not known, and counts as no. */
#define LIMIT_S 10

static bool any_letter(const struct dist__sim_world *world)
{
	for (int i = 0; i < world->world_size; i++)
		if (world->ranks[i].sent.first || world->ranks[i].arrived.first)
			return true;
	return false;
}

static void let_go(struct dist__sim_world *world, struct dist__sim_queue *queue)
{
	for (struct dist__request *r = queue->first; r; r = r->next) {
		r->eager = r->done = true;
		if (r->gate)
			dist__sim_gate_open(world, r->gate);
	}
}

static void let_all_go(void *arg)
{
	struct dist__sim_world *world = arg;

	for (int i = 0; i < world->world_size; i++) {
		let_go(world, &world->ranks[i].sent);
		let_go(world, &world->ranks[i].arrived);
	}
	(void)dist__sim_block(world);
}

/* Makes this process the copy. */
static void begin(struct dist__sim_world *world)
{
	int null = open("/dev/null", O_WRONLY);

	if (null < 0)
		_exit(DIST_EXIT_INTERNAL);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	signal(SIGALRM, SIG_DFL);
	alarm(LIMIT_S);
	world->is_copy = true;
	world->profile.p2p.eager_below = SIZE_MAX;
	dist__sim_unblock(world);
	dist__engine_at_end_of_instant(let_all_go, world);
}

enum dist__sim_answer dist__sim_ask_copy(struct dist__sim_world *world)
{
	int status = 1;
	pid_t pid;

	if (world->is_copy)
		_exit(DIST_EXIT_FAILED);
	if (world->profile.p2p.eager_below == SIZE_MAX || !any_letter(world) ||
	    !dist__platform_can_copy())
		return DIST__SIM_STAYS;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		begin(world);
		return DIST__SIM_IS_COPY;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return DIST__SIM_STAYS;
	return status == 0 ? DIST__SIM_WOULD_END : DIST__SIM_STAYS;
}

void dist__sim_answer(const struct dist__sim_world *world, bool failed)
{
	if (world->is_copy)
		_exit(failed || any_letter(world) ? DIST_EXIT_FAILED
						  : DIST_EXIT_OK);
}
