/*
 * Every measure is taken in batches, each timed as a whole from a barrier to
 * the ranks' ends: single messages are too short for the clock, and the
 * quartiles over many short batches show how quiet the machine was. What bytes
 * take is measured in turns, a batch of each, for a machine may be another a
 * moment later: what is held against each other was measured of the same one.
 */
#include "cli/calibration_measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/variable.h"
#include "core/reduce.h"
#include "realbackend/launch/cores.h"
#include "realbackend/launch/launcher.h"

#define MIB        ((size_t)1 << 20)
#define BATCHES    21
#define SMALL      8 /* bytes of the smallest message */
#define BUFFER     (16 * MIB)
#define LONGEST    (2 * MIB) /* of an exchange */
#define TIMEOUT_NS ((int64_t)60 * 1000000000)

/* Rounds in a batch. */
#define TRIPS      100
#define BARRIERS   150
#define ISSUES     64
#define STREAM     8
#define CALLS      400
#define STREAMED   32
#define REDUCTIONS 8

static const int exchange_rounds[CALIBRATION_SIZES] = {
	150, 150, 150, 120, 100, 80, 60, 40, 20, 10, 8, 4};
#define ALGORITHMS                                                             \
	"all_reduce=ring,all_gather=ring,broadcast=linear,gather=linear,"      \
	"all_to_all=linear,barrier=dissemination"

/* Of a message that takes another time where its data are in caches. */
#define CACHED_BYTES (MIB / 16)

/* A batch need not take longer. */
#define BATCH_NS 1e7

/* What all ranks are told. */
struct task {
	int passes;
	int cores; /* on which the ranks stay; 0: not known */
	bool in_memory;
	FILE *results; /* rank 0 writes the measures there */
};

/* One rank's part. */
struct measurer {
	struct dist_group *group;
	struct dist_group *pair;  /* of ranks 0 and 1; NULL on the others */
	struct dist_group *alone; /* of this rank */
	struct dist_group *near;  /* of its core; NULL: not measured */
	int rank;
	int world_size;
	char *out;
	char *in;
	struct dist_tensor *parts; /* one of each rank */
	bool in_memory;
};

/* One batch of rounds on this rank. */
typedef enum dist_error batch_function(struct measurer *m, size_t bytes,
				       int rounds);

/*
 * Where round i finds its message of bytes. A collective walks through a vector
 * of one chunk a rank, so data that are too long for the caches come from
 * memory; standing still would measure the caches.
 */
static char *walk(const struct measurer *m, char *buffer, size_t bytes, int i)
{
	size_t places = (size_t)m->world_size;

	if (places > BUFFER / bytes)
		places = BUFFER / bytes;
	return buffer + (size_t)i % places * bytes;
}

static struct dist_tensor view(char *data, size_t bytes)
{
	return dist_tensor(data, bytes / sizeof(float), DIST_FLOAT32);
}

static enum dist_error round_trips(struct measurer *m, size_t bytes, int rounds)
{
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds && m->rank < 2; i++) {
		if (m->rank == 0)
			error = dist_send(m->group, view(m->out, bytes), 1, 0);
		if (!error)
			error = dist_recv(m->group, view(m->in, bytes),
					  1 - m->rank, 0);
		if (!error && m->rank == 1)
			error = dist_send(m->group, view(m->out, bytes), 0, 0);
	}
	return error;
}

/* Waits for all of them, frees them, and returns the first error. */
static enum dist_error wait_all(struct dist_work **works, int num)
{
	enum dist_error first = DIST_OK;

	for (int i = 0; i < num; i++) {
		enum dist_error error =
			dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);

		first = first ? first : error;
		dist_work_free(works[i]);
	}
	return first;
}

/* Rank 0 issues messages one after the other, rank 1 takes them all, then says
 * so: what rank 0 sends streams. */
static enum dist_error stream(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_work *works[ISSUES];
	enum dist_error error = DIST_OK, end;
	int i;

	if (m->rank > 1)
		return DIST_OK;
	for (i = 0; i < rounds; i++) {
		if (m->rank == 0)
			error = dist_isend(
				m->group,
				view(walk(m, m->out, bytes, i), bytes), 1, 0,
				&works[i]);
		else
			error = dist_irecv(
				m->group, view(walk(m, m->in, bytes, i), bytes),
				0, 0, &works[i]);
		if (error)
			break;
	}
	end = wait_all(works, i);
	error = error ? error : end;
	if (error)
		return error;
	if (m->rank == 0)
		return dist_recv(m->group, view(m->in, SMALL), 1, 1);
	return dist_send(m->group, view(m->out, SMALL), 0, 1);
}

/* Rank 1 sends messages one after the other, which rank 0 takes: a gather is
 * nothing else where the receiver's own part is in place, and these too go the
 * way of those of collectives. */
static enum dist_error one_way(struct measurer *m, size_t bytes, int rounds)
{
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds && m->rank < 2; i++) {
		struct dist_tensor out = view(walk(m, m->out, bytes, i), bytes);
		struct dist_tensor all[2] = {
			out, view(walk(m, m->in, bytes, i), bytes)};

		error = dist_gather(m->pair, out, m->rank == 0 ? all : NULL, 0,
				    NULL);
	}
	return error;
}

/* All ranks at once: to the right, from the left, a step fewer than there are
 * ranks. An all-gather in a ring is nothing else, and its messages go the way
 * of those of collectives, which programs' own do not. */
static enum dist_error exchanges(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor own = view(m->in + (size_t)m->rank * bytes, bytes);
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds; i++)
		error = dist_all_gather_single(
			m->group, view(m->in, (size_t)m->world_size * bytes),
			own, NULL);
	return error;
}

/* All ranks of each core at once: a ring of theirs alone. In turns it walks
 * through the memory that the ring of all does. */
static enum dist_error core_exchanges(struct measurer *m, size_t bytes,
				      int rounds)
{
	int ranks = dist_get_world_size(m->near);
	size_t ring = (size_t)ranks * bytes;
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds; i++) {
		int place = i % (m->world_size / ranks);
		char *all = m->in + (size_t)place * ring;
		char *own = all + (size_t)dist_get_rank(m->near) * bytes;

		error = dist_all_gather_single(m->near, view(all, ring),
					       view(own, bytes), NULL);
	}
	return error;
}

/* Twice that, all messages of the first time being added up. */
static enum dist_error sums(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor all = view(m->in, (size_t)m->world_size * bytes);
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds; i++)
		error = dist_all_reduce(m->group, all, DIST_SUM, NULL);
	return error;
}

/* Rank 0 calls what nobody else takes part in. */
static enum dist_error calls(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor own = view(m->in, bytes);
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds && m->rank == 0; i++)
		error = dist_all_gather_single(m->alone, own, own, NULL);
	return error;
}

/* Rank 0 sends to all others and waits for none. */
static enum dist_error sends(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor tensor = view(m->in, bytes);
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds; i++)
		error = dist_broadcast(m->group, tensor, 0, NULL);
	return error;
}

/* The others send to rank 0 and do not wait for it. */
static enum dist_error receives(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor own = view(m->out, bytes);
	struct dist_tensor *all = m->rank == 0 ? m->parts : NULL;
	enum dist_error error = DIST_OK;

	for (int i = 0; i < m->world_size; i++)
		m->parts[i] = view(m->in + (size_t)i * bytes, bytes);
	for (int i = 0; !error && i < rounds; i++)
		error = dist_gather(m->group, own, all, 0, NULL);
	return error;
}

/* All send to all and wait for all. */
static enum dist_error waits(struct measurer *m, size_t bytes, int rounds)
{
	size_t all = (size_t)m->world_size * bytes;
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds; i++)
		error = dist_all_to_all_single(m->group, view(m->in, all),
					       view(m->out, all), NULL, NULL,
					       NULL);
	return error;
}

static enum dist_error barriers(struct measurer *m, size_t bytes, int rounds)
{
	enum dist_error error = DIST_OK;

	(void)bytes;
	for (int i = 0; !error && i < rounds; i++)
		error = dist_barrier(m->group, NULL);
	return error;
}

static enum dist_error reductions(struct measurer *m, size_t bytes, int rounds)
{
	for (int i = 0; i < rounds; i++)
		dist__reduce(DIST_FLOAT32, DIST_SUM, walk(m, m->out, bytes, i),
			     m->in, bytes / sizeof(float));
	return DIST_OK;
}

static enum dist_error copies(struct measurer *m, size_t bytes, int rounds)
{
	for (int i = 0; i < rounds; i++)
		memcpy(m->in, walk(m, m->out, bytes, i), bytes);
	return DIST_OK;
}

#define MOST_MEASURES (10 + 4 * CALIBRATION_SIZES)

/* One measure: how it is taken, and what came of it. */
struct measure {
	struct dist__sample *sample; /* of a round, or of one of its parts */
	batch_function *batch;
	size_t bytes;
	int rounds; /* in a batch */
	int parts;  /* of a round */
	/* Out of the barrier in front of a batch ranks come one after the
	 * other, so it is their average where all take part, DIST_AVG; DIST_MAX
	 * where others stand by; DIST_SUM is the time of rank 0 alone. */
	enum dist_reduce_op op;
	bool warms_up;    /* by a batch that does not count */
	double *round_ns; /* by batch */
};

static enum dist_error
time_batch(struct measurer *m, const struct measure *measure, double *round_ns)
{
	enum dist_error error = dist_barrier(m->group, NULL);
	int64_t start_ns = dist_now_ns(m->group), end_ns;

	if (!error)
		error = measure->batch(m, measure->bytes, measure->rounds);
	end_ns = dist_now_ns(m->group);
	*round_ns = (double)(end_ns - start_ns) / measure->rounds;
	if (measure->op == DIST_SUM && m->rank > 0)
		*round_ns = 0;
	return error;
}

/* A batch in front, which opens connections, tells how many rounds a batch has
 * time for. */
static enum dist_error prepare(struct measurer *m, struct measure *measure)
{
	double round_ns;
	enum dist_error error = time_batch(m, measure, &round_ns);

	if (!error)
		error = dist_all_reduce(m->group,
					dist_tensor(&round_ns, 1, DIST_FLOAT64),
					measure->op, NULL);
	if (!error && round_ns * measure->rounds > BATCH_NS)
		measure->rounds = (int)(BATCH_NS / round_ns) + 1;
	return error;
}

/* Describes a part of a round over all batches. */
static enum dist_error conclude(struct measurer *m,
				const struct measure *measure, size_t batches)
{
	double *round_ns = measure->round_ns;
	enum dist_error error = dist_all_reduce(
		m->group, dist_tensor(round_ns, batches, DIST_FLOAT64),
		measure->op, NULL);

	for (size_t i = 0; !error && i < batches; i++)
		round_ns[i] /= measure->parts;
	if (!error)
		*measure->sample = dist__sample_of(round_ns, batches);
	return error;
}

/* Measures that are taken in turns. */
struct plan {
	struct measure measures[MOST_MEASURES];
	size_t num;
};

/* Takes a batch, the one of a turn. */
static enum dist_error take_turn(struct measurer *m,
				 const struct measure *measure, size_t turn)
{
	enum dist_error error = DIST_OK;

	if (measure->warms_up)
		error = time_batch(m, measure, &measure->round_ns[turn]);
	if (!error)
		error = time_batch(m, measure, &measure->round_ns[turn]);
	return error;
}

/* Takes so many batches of each. The first of a turn finds the caches full of
 * what the last one left. */
static enum dist_error take(struct measurer *m, struct plan *plan,
			    size_t batches)
{
	struct measure *all = plan->measures;
	enum dist_error error = DIST_OK;

	for (size_t i = 0; !error && i < plan->num; i++)
		error = prepare(m, &all[i]);
	all[0].warms_up = plan->num > 1;
	for (size_t turn = 0; !error && turn < batches; turn++)
		for (size_t i = 0; !error && i < plan->num; i++)
			error = take_turn(m, &all[i], turn);
	for (size_t i = 0; !error && i < plan->num; i++)
		error = conclude(m, &all[i], batches);
	return error;
}

/* Plans to take sample by batches of so many rounds. */
static struct measure *add(struct plan *plan, struct dist__sample *sample,
			   batch_function *batch, size_t bytes, int rounds,
			   enum dist_reduce_op op)
{
	struct measure *measure = &plan->measures[plan->num++];

	*measure = (struct measure){.sample = sample,
				    .batch = batch,
				    .bytes = bytes,
				    .rounds = rounds,
				    .parts = 1,
				    .op = op};
	return measure;
}

/* Plans rounds of steps each, of messages of size i. Through memory long ones
 * find the caches as they left them, and do not begin with what another measure
 * did. */
static void add_steps(const struct measurer *m, struct plan *plan,
		      struct dist__sample *sample, batch_function *batch, int i,
		      int rounds, int steps)
{
	size_t bytes = calibration_bytes[i];
	struct measure *measure =
		add(plan, sample, batch, bytes, rounds, DIST_AVG);

	measure->parts = steps;
	measure->warms_up = m->in_memory && bytes >= CACHED_BYTES;
}

/* Exchanges of a size, and what is held against them. */
static void plan_exchange(const struct measurer *m, struct plan *plan,
			  struct calibration_measures *all, int i)
{
	int rounds = exchange_rounds[i], steps = m->world_size - 1;
	int core_steps = m->near ? dist_get_world_size(m->near) - 1 : 0;

	add_steps(m, plan, &all->exchange[i], exchanges, i, rounds / steps + 1,
		  steps);
	if (core_steps > 0 && i > 0)
		add_steps(m, plan, &all->core_exchange[i], core_exchanges, i,
			  rounds / core_steps + 1, core_steps);
	if (m->in_memory && i > 0)
		add_steps(m, plan, &all->sums[i], sums, i,
			  rounds / steps / 2 + 1, steps);
}

/* What calls and messages take beside their bytes. */
static void plan_calls(const struct measurer *m, struct plan *plan,
		       struct calibration_measures *all)
{
	add(plan, &all->half_trip, round_trips, SMALL, TRIPS, DIST_MAX)->parts =
		2;
	add(plan, &all->round, barriers, 0, BARRIERS, DIST_AVG)->parts =
		calibration_barrier_rounds(m->world_size);
	add(plan, &all->issue, stream, SMALL, ISSUES, DIST_MAX);
	plan_exchange(m, plan, all, 0);
	if (!m->in_memory)
		return;
	add(plan, &all->call, calls, SMALL, CALLS, DIST_MAX);
	add(plan, &all->sends, sends, SMALL, STREAMED, DIST_SUM);
	add(plan, &all->receives, receives, SMALL, STREAMED, DIST_MAX);
	add(plan, &all->waits, waits, SMALL, STREAMED, DIST_AVG);
}

static enum dist_error take_plan(struct measurer *m, struct plan *plan,
				 int passes)
{
	size_t batches = (size_t)passes * BATCHES;
	double *round_ns = calloc(plan->num * batches, sizeof *round_ns);
	enum dist_error error = round_ns ? DIST_OK : DIST_ERR_NO_MEMORY;

	for (size_t i = 0; !error && i < plan->num; i++)
		plan->measures[i].round_ns = round_ns + i * batches;
	if (!error)
		error = take(m, plan, batches);
	free(round_ns);
	return error;
}

/* Calls find the caches as they left them, and come one after the other. */
static enum dist_error take_all(struct measurer *m, int passes,
				struct calibration_measures *all)
{
	struct plan of_calls = {.num = 0}, of_bytes = {.num = 0};
	enum dist_error error = DIST_OK;

	all->world_size = m->world_size;
	plan_calls(m, &of_calls, all);

	/* What bytes take, from the shortest messages on. */
	for (int i = 1; i < CALIBRATION_SIZES; i++) {
		plan_exchange(m, &of_bytes, all, i);
		if (m->in_memory && i == CALIBRATION_ONE_WAY)
			add(&of_bytes, &all->one_way, one_way,
			    calibration_bytes[i], 4 * STREAM, DIST_MAX);
	}
	add(&of_bytes, &all->pair_message, one_way,
	    calibration_bytes[CALIBRATION_PAIR], STREAM, DIST_MAX);
	add(&of_bytes, &all->reduce, reductions, MIB, REDUCTIONS, DIST_AVG)
		->warms_up = true;
	for (int i = 1; i < CALIBRATION_SIZES; i++)
		add(&of_bytes, &all->copies[i], copies, calibration_bytes[i],
		    exchange_rounds[i], DIST_AVG)
			->warms_up = true;
	for (size_t i = 0; !error && i < of_calls.num; i++) {
		struct plan one = {.measures = {of_calls.measures[i]},
				   .num = 1};

		error = take_plan(m, &one, passes);
	}
	return error ? error : take_plan(m, &of_bytes, passes);
}

/* Memory that is really there, and holds ordinary numbers: untouched pages are
 * one page of zeros, which sends faster than data does. */
static char *buffer_new(size_t bytes)
{
	float *values = malloc(bytes);

	for (size_t i = 0; values && i < bytes / sizeof *values; i++)
		values[i] = 1;
	return (char *)values;
}

/* Makes the groups of the ranks of each core, if all cores have as many and
 * more than one; there must be others to tell them from. */
static enum dist_error group_by_core(struct measurer *m, int cores)
{
	int ranks = cores > 1 ? m->world_size / cores : 0;
	struct dist_rank_list *lists;
	int *members;
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (ranks < 2 || m->world_size % cores != 0)
		return DIST_OK;
	lists = calloc((size_t)cores, sizeof *lists);
	members = calloc((size_t)m->world_size, sizeof *members);
	if (lists && members) {
		for (int i = 0; i < m->world_size; i++)
			members[i] = i % ranks * cores + i / ranks;
		for (int i = 0; i < cores; i++)
			lists[i] = (struct dist_rank_list){members + i * ranks,
							   ranks};
		error = dist_new_subgroups_by_enumeration(
			m->group, lists, cores, NULL, &m->near);
	}
	free(lists);
	free(members);
	return error;
}

/* arg is the task; ranks are processes. In a job that others started, the file
 * is that of rank 0's process. */
static int rank_main(void *arg)
{
	struct calibration_measures all;
	struct measurer m = {.group = NULL};
	enum dist_error error = DIST_ERR_NO_MEMORY;
	const struct task *task = arg;

	memset(&all, 0, sizeof all);
	if (dist_init_process_group(NULL, &m.group))
		return 1;
	if (dist_new_group(m.group, (int[]){0, 1}, 2, NULL, &m.pair) ||
	    dist_new_subgroups(m.group, 1, NULL, &m.alone))
		return 1;
	m.in_memory = task->in_memory;
	m.rank = dist_get_rank(m.group);
	m.world_size = dist_get_world_size(m.group);
	if (group_by_core(&m, task->cores))
		return 1;
	m.out = buffer_new(BUFFER);
	m.in = buffer_new((size_t)m.world_size * LONGEST);
	m.parts = calloc((size_t)m.world_size, sizeof *m.parts);
	if (m.world_size < 2)
		error = DIST_ERR_INVALID_ARGUMENT;
	else if (m.out && m.in && m.parts)
		error = take_all(&m, task->passes, &all);
	if (!error && m.rank == 0 &&
	    (fwrite(&all, sizeof all, 1, task->results) != 1 ||
	     fflush(task->results)))
		error = DIST_ERR_IO;
	if (error)
		fprintf(stderr, "lockstep calibrate: rank %d: %s\n", m.rank,
			dist_error_string(error));
	if (dist_destroy_process_group(m.group))
		error = error ? error : DIST_ERR_IO;
	free(m.out);
	free(m.in);
	free(m.parts);
	return error != DIST_OK;
}

/* What ranks of one machine talk through. */
static bool shares_memory(const struct calibration_job *job)
{
	const char *text = dist__variable_or(job->intra, "LOCKSTEP_INTRA");
	bool shares = true;

	if (text)
		(void)dist__intra_parse(text, &shares);
	return shares;
}

/* The cores on which ranks of one machine stay, each on its own by turns; 0:
 * they go where the system puts them. */
static int own_cores(const struct calibration_job *job)
{
	const char *text = dist__variable_or(job->bind_to, "LOCKSTEP_BIND_TO");
	bool binds = false;

	if (text)
		(void)dist__bind_parse(text, &binds);
	return binds && job->world_size > 0 ? dist__cores() : 0;
}

int calibration_measure(const struct calibration_job *job,
			struct calibration_measures *measures)
{
	const struct dist_launch_options options = {
		.backend = "tcp",
		.world_size = job->world_size,
		.algorithm = ALGORITHMS,
		.timeout_ns = TIMEOUT_NS,
	};
	FILE *results = tmpfile();
	struct task task = {job->passes, own_cores(job),
			    job->world_size > 0 && shares_memory(job), results};
	int status;

	/* Ranks are forks, and read in the environment where they are. */
	if (!results ||
	    (job->intra && setenv("LOCKSTEP_INTRA", job->intra, 1) != 0) ||
	    (job->bind_to &&
	     setenv("LOCKSTEP_BIND_TO", job->bind_to, 1) != 0)) {
		fprintf(stderr, "lockstep calibrate: cannot begin: %s\n",
			strerror(errno));
		return DIST_EXIT_INTERNAL;
	}
	fflush(NULL);
	status = dist_launch(&options, rank_main, &task);
	rewind(results);
	measures->world_size = 0;
	if (status == DIST_EXIT_OK &&
	    fread(measures, sizeof *measures, 1, results) != 1 &&
	    !dist__job_is_rank()) {
		fprintf(stderr, "lockstep calibrate: no results\n");
		status = DIST_EXIT_INTERNAL;
	}
	/* Of a job it is not known. */
	measures->cores = job->world_size > 0 ? dist__cores() : 0;
	measures->in_memory = task.in_memory;
	fclose(results);
	return status;
}
