#include "realbackend/launch/status_request.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "realbackend/launch/child.h"
#include "realbackend/launch/leader.h"
#include "realbackend/launch/python_notes.h"
#include "realbackend/store/store_client.h"

/* What the other agents may take to answer. */
#define ANSWER_NS ((int64_t)2 * 1000000000)

void dist__status_request_ask(struct dist__status_request *request,
			      struct dist__agent *agent)
{
	request->here = true;
	if (!agent->store)
		request->asked++;
	else if (!dist__store_add(agent->store, "looks", 1, &request->asked) &&
		 !agent->leads)
		fputs("lockstep: status: node 0 tells where the ranks are\n",
		      stderr);
}

void dist__status_request_ask_quietly(struct dist__status_request *request,
				      struct dist__agent *agent)
{
	if (agent->store &&
	    dist__store_add(agent->store, "looks", 1, &request->asked))
		return;
	request->asked += !agent->store;
	request->quiet++;
}

struct check_board *
dist__status_request_found(struct dist__status_request *request)
{
	struct check_board *found = request->found;

	request->found = NULL;
	return found;
}

/* The records of this node's ranks as they are now; nothing is known of the
 * others. */
static void take(struct dist__outcome *now, const struct dist__workers *workers)
{
	const struct dist__seat *seat = &workers->plumbing.seat;

	dist__workers_take(workers, now);
	now->attempt = seat->round;
	dist__outcome_narrow(now, seat->first_rank, workers->started);
}

/* ---- the stacks of Python ranks ----------------------------------------- */

/* A signal asks them, and they write into a file (python_notes.h). */

/* What the stacks of all ranks may take to be written on a busy machine (only a
 * rank that does not answer costs as much), and how long nothing
 * more comes when they are. */
#define WRITING_NS ((int64_t)5000000000)
#define QUIET_MS   20

/* Whether the process handles the signal: else it would die of it. */
static bool is_caught(pid_t pid)
{
	char path[64], line[256];
	unsigned long long caught = 0;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof line, status))
		if (strncmp(line, "SigCgt:", 7) == 0)
			caught = strtoull(line + 7, NULL, 16);
	if (status)
		fclose(status);
	return caught >> (DIST__NOTES_SIGNAL - 1) & 1;
}

static bool ask(const struct dist__child *child)
{
	return child->notes_fd >= 0 && child->pid && !child->ended &&
	       is_caught(child->pid) &&
	       lseek(child->notes_fd, 0, SEEK_SET) == 0 &&
	       ftruncate(child->notes_fd, 0) == 0 &&
	       kill(child->pid, DIST__NOTES_SIGNAL) == 0;
}

static off_t size_of(const struct dist__child *children, int num_children,
		     int *missing)
{
	off_t size = 0;
	struct stat info;

	*missing = 0;
	for (int i = 0; i < num_children; i++) {
		if (children[i].notes_fd < 0 ||
		    fstat(children[i].notes_fd, &info) != 0)
			continue;
		size += info.st_size;
		*missing += info.st_size == 0;
	}
	return size;
}

/* Asks the ranks that can answer and prints what they say: blocks for about 40
 * ms, at most a second. */
static void print_stacks(FILE *out, const struct dist__child *children,
			 int num_children)
{
	int64_t until_ns = dist__clock_after(WRITING_NS);
	int asked = 0, missing = 0;
	off_t before, size = 0;

	for (int i = 0; i < num_children; i++)
		asked += ask(&children[i]);
	if (!asked)
		return;
	do {
		before = size;
		poll(NULL, 0, QUIET_MS);
		size = size_of(children, num_children, &missing);
	} while ((size != before || missing > num_children - asked) &&
		 dist__clock_ns() < until_ns);
	for (int i = 0; i < num_children; i++) {
		if (!dist__notes_any(children[i].notes_fd))
			continue;
		fprintf(out, "Python stacks of rank %d (process %ld)\n",
			children[i].rank, (long)children[i].pid);
		dist__notes_print(out, children[i].notes_fd, "  ", "  ");
		/* What is left at the end is why it ended. */
		(void)!ftruncate(children[i].notes_fd, 0);
	}
}

/* ---- asking and answering ----------------------------------------------- */

static void answer(struct dist__status_request *request,
		   struct dist__agent *agent,
		   const struct dist__workers *workers)
{
	const struct dist__seat *seat = &workers->plumbing.seat;
	struct dist__slot_key where = {.name = "look"};
	struct dist__outcome now;

	request->aloud |= request->asked - request->answered > request->quiet;
	request->answered = request->asked;
	if (agent->leads)
		request->due_ns = dist__clock_after(ANSWER_NS);
	if (agent->leads || !dist__workers_busy(workers))
		return;
	if (request->here)
		print_stacks(stderr, workers->children, workers->started);
	request->here = false;
	where.number = request->answered;
	take(&now, workers);
	if (now.board)
		dist__agent_give_slots(agent, &where, now.board,
				       seat->first_rank, workers->started);
	dist__outcome_release(&now);
}

/* Damaged records do not get better with time. */
static bool all_known(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state == CHECK_RANK_UNKNOWN &&
		    !board->slots[rank].damaged)
			return false;
	return true;
}

/* The look is over, and this is what it found. */
static void report(struct dist__status_request *request,
		   struct dist__outcome *now,
		   const struct dist__workers *workers)
{
	if (request->aloud) {
		dist__outcome_status(stderr, now,
				     workers->plumbing.spec->timeout_ns);
		print_stacks(stderr, workers->children, workers->started);
	}
	if (request->quiet && now->board && all_known(now->board)) {
		free(request->found);
		request->found = now->board;
		now->board = NULL;
	}
	request->quiet = request->due_ns = 0;
	request->aloud = false;
}

/* Tells, if all have answered or time is up. */
static void conclude(struct dist__status_request *request,
		     struct dist__agent *agent,
		     const struct dist__workers *workers)
{
	struct dist__outcome now;

	if (!dist__workers_busy(workers)) {
		if (request->aloud)
			fputs("lockstep: status: no ranks run here now\n",
			      stderr);
		request->quiet = request->due_ns = 0;
		request->aloud = false;
		return;
	}
	take(&now, workers);
	if (now.board && agent->store)
		dist__leader_gather(agent, "look", request->answered,
				    now.board);
	if (!now.board || all_known(now.board) ||
	    dist__clock_ns() >= request->due_ns)
		report(request, &now, workers);
	dist__outcome_release(&now);
}

void dist__status_request_turn(struct dist__status_request *request,
			       struct dist__agent *agent,
			       const struct dist__workers *workers)
{
	if (agent->store)
		(void)dist__store_add(agent->store, "looks", 0,
				      &request->asked);
	if (request->asked > request->answered)
		answer(request, agent, workers);
	if (request->due_ns)
		conclude(request, agent, workers);
}
