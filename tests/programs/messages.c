/* Messages that do not meet. */
#include "tests/programs/programs.h"

enum dist_error ring_receives_first(struct job *job)
{
	int right = right_of(job), left = left_of(job);
	float token[1] = {0};

	if (!job->wrong && job->rank == 0)
		try(dist_send(job->world, floats(token), right, 3));
	/* culprit */
	try(dist_recv(job->world, floats(token), left, 3));
	if (job->wrong || job->rank != 0)
		try(dist_send(job->world, floats(token), right, 3));
	return DIST_OK;
}

/* A ring of sends before receives lives by buffers alone. Seen in nccl#479. */
enum dist_error ring_sends_first(struct job *job)
{
	int right = right_of(job), left = left_of(job);
	float out[256] = {0}, in[256];

	if (!job->wrong && job->rank == 0)
		try(dist_recv(job->world, floats(in), left, 0));
	/* culprit */
	try(dist_send(job->world, floats(out), right, 0));
	if (job->wrong || job->rank != 0)
		try(dist_recv(job->world, floats(in), left, 0));
	return DIST_OK;
}

/* Tags are numbers of steps, from 0 here and from 1 there. Seen in
 * pytorch#94819, pytorch#125079. */
enum dist_error tags_from_one(struct job *job)
{
	float x[4] = {0};

	for (int step = 0; step < 3; step++)
		if (job->rank == 0)
			/* culprit */
			try(dist_send(job->world, floats(x), 1, step));
		else
			/* culprit */
			try(dist_recv(job->world, floats(x), 0,
				      step + job->wrong));
	return DIST_OK;
}

/* Rank 3 listens to the wrong rank. */
enum dist_error wrong_source(struct job *job)
{
	float x[4] = {0};

	if (job->rank == 2)
		/* culprit */
		return dist_send(job->world, floats(x), 3, 0);
	if (job->rank == 3)
		/* culprit */
		return dist_recv(job->world, floats(x), job->wrong ? 1 : 2, 0);
	return DIST_OK;
}

/* Activations go to the stage after the next. */
enum dist_error wrong_destination(struct job *job)
{
	float x[4] = {0};
	int dst = job->rank + 1;

	if (job->rank > 0)
		/* culprit */
		try(dist_recv(job->world, floats(x), job->rank - 1, 0));
	if (at_fault(job, 0))
		dst = 2;
	if (dst < job->size)
		/* culprit */
		try(dist_send(job->world, floats(x), dst, 0));
	return DIST_OK;
}

/* Seen in nccl#1938, pytorch#113376. */
enum dist_error message_too_long(struct job *job)
{
	float x[100] = {0};

	if (job->rank == 1)
		/* culprit */
		return dist_send(
			job->world,
			dist_tensor(x, job->wrong ? 100 : 99, DIST_FLOAT32), 0,
			1);
	if (job->rank == 0)
		/* culprit */
		return dist_recv(job->world, dist_tensor(x, 99, DIST_FLOAT32),
				 1, 1);
	return DIST_OK;
}

enum dist_error message_of_another_type(struct job *job)
{
	int64_t n[4] = {0};
	enum dist_dtype dtype = job->wrong ? DIST_FLOAT64 : DIST_INT64;
	struct dist_work *work;

	if (job->rank == 0) {
		/* culprit */
		try(dist_isend(job->world, longs(n), 1, 0, &work));
		return end(work);
	}
	/* culprit */
	return dist_recv(job->world, dist_tensor(n, 4, dtype), 0, 0);
}

/* The same, awaited from anybody. */
enum dist_error another_type_from_anybody(struct job *job)
{
	int64_t n[4] = {0};
	enum dist_dtype dtype = job->wrong ? DIST_FLOAT64 : DIST_INT64;
	int source;

	if (job->rank == 0)
		/* culprit */
		return dist_send(job->world, longs(n), 1, 0);
	/* culprit */
	return dist_recv_any(job->world, dist_tensor(n, 4, dtype), 0, &source);
}

/* A size goes ahead of the message, but that of the padded one. */
enum dist_error announced_otherwise(struct job *job)
{
	char text[64] = "hello";
	int64_t size[1] = {job->wrong ? 64 : 6};

	if (job->rank == 0) {
		try(dist_send(job->world, longs(size), 1, 0));
		/* culprit */
		return dist_send(job->world, dist_tensor(text, 6, DIST_INT8), 1,
				 1);
	}
	try(dist_recv(job->world, longs(size), 0, 0));
	/* culprit */
	return dist_recv(job->world,
			 dist_tensor(text, (size_t)size[0], DIST_INT8), 0, 1);
}

/* The server expects three results, a worker sends none. */
enum dist_error server_expects_more(struct job *job)
{
	float result[1] = {0};
	int from;

	if (job->rank != 0)
		return at_fault(job, 2)
			       ? DIST_OK
			       : dist_send(job->world, floats(result), 0, 9);
	for (int i = 1; i < job->size; i++)
		/* culprit */
		try(dist_recv_any(job->world, floats(result), 9, &from));
	return DIST_OK;
}

/* The stop is not sent to the last worker. */
enum dist_error last_worker_not_stopped(struct job *job)
{
	int64_t task[1] = {0};
	int last = job->size - (job->wrong ? 1 : 0);

	if (job->rank == 0) {
		for (int w = 1; w < job->size; w++) {
			task[0] = w;
			try(dist_send(job->world, longs(task), w, 0));
		}
		task[0] = -1;
		for (int w = 1; w < last; w++)
			try(dist_send(job->world, longs(task), w, 0));
		return DIST_OK;
	}
	do {
		/* culprit */
		try(dist_recv(job->world, longs(task), 0, 0));
	} while (task[0] >= 0);
	return DIST_OK;
}

/* Halos of a line of ranks; one end believes in a ring. */
enum dist_error halo_of_a_ring(struct job *job)
{
	float out[2] = {0}, in[2];
	struct dist_work *works[4];
	int num = 0, right = job->rank + 1;

	if (at_fault(job, 3))
		right = 0;
	if (right < job->size) {
		/* culprit */
		try(dist_irecv(job->world, dist_tensor(in, 1, DIST_FLOAT32),
			       right, 0, &works[num++]));
		try(dist_isend(job->world, dist_tensor(out, 1, DIST_FLOAT32),
			       right, 0, &works[num++]));
	}
	if (job->rank > 0) {
		try(dist_irecv(job->world, dist_tensor(in + 1, 1, DIST_FLOAT32),
			       job->rank - 1, 0, &works[num++]));
		try(dist_isend(job->world,
			       dist_tensor(out + 1, 1, DIST_FLOAT32),
			       job->rank - 1, 0, &works[num++]));
	}
	for (int i = 0; i < num; i++) {
		/* culprit */
		try(dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP));
		dist_work_free(works[i]);
	}
	return DIST_OK;
}

/* Around a ring in batches; rank 2 leaves out one of its two messages. */
static enum dist_error batches_around(struct job *job, enum dist_p2p_kind less)
{
	float out[2] = {0}, in[2];
	const struct dist_p2p_op both[2] = {
		{DIST_ISEND, floats(out), right_of(job), 0},
		{DIST_IRECV, floats(in), left_of(job), 0},
	};
	bool one = at_fault(job, 2);
	struct dist_work *works[2];

	/* culprit: batch_without_receive batch_without_send */
	try(dist_batch_isend_irecv(job->world,
				   both + (one && less == both[0].kind),
				   one ? 1 : 2, works));
	try(end_all(works, one ? 1 : 2));
	/* partner: batch_without_receive batch_without_send */
	return dist_barrier(job->world, NULL);
}

enum dist_error batch_without_receive(struct job *job)
{
	return batches_around(job, DIST_IRECV);
}

/* Seen in nccl#2130. */
enum dist_error batch_without_send(struct job *job)
{
	return batches_around(job, DIST_ISEND);
}

/* Four messages each way are too many for one batch: each rank makes two of
 * them, and rank 1 begins with the other half. Seen in pytorch#174288,
 * pytorch#174942. */
enum dist_error batches_cut_elsewhere(struct job *job)
{
	float data[4] = {0};
	struct dist_p2p_op ops[4];
	struct dist_work *works[4];

	for (int half = 0; half < 2; half++) {
		for (int i = 0; i < 4; i++)
			ops[i] = (struct dist_p2p_op){
				i % 2 ? DIST_ISEND : DIST_IRECV,
				dist_tensor(&data[i], 1, DIST_FLOAT32),
				1 - job->rank,
				2 * (half ^ at_fault(job, 1)) + i / 2};
		/* culprit */
		try(dist_batch_isend_irecv(job->world, ops, 4, works));
		try(end_all(works, 4));
	}
	return DIST_OK;
}

/* A token from rank 0 through all ranks below size and back. */
static enum dist_error pass_token(struct job *job, int size, int tag)
{
	float token[1] = {1};

	if (job->rank == 0)
		try(dist_send(job->world, floats(token), 1, tag));
	/* culprit: counts_its_own_calls */
	try(dist_recv(job->world, floats(token), (job->rank + size - 1) % size,
		      tag));
	return job->rank == 0 ? DIST_OK
			      : dist_send(job->world, floats(token),
					  (job->rank + 1) % size, tag);
}

/* The messages of a call are tagged by its number, of which each rank keeps a
 * count; ranks 0 and 1 have made one more. Seen in torchcomms#2964. */
enum dist_error counts_its_own_calls(struct job *job)
{
	int calls = job->wrong ? 0 : 1;

	if (job->rank < 2) {
		try(pass_token(job, 2, 0));
		calls = 1;
	}
	return pass_token(job, job->size, calls);
}

/* The second stage wants the gradient before it has given the activation. */
enum dist_error backward_before_forward(struct job *job)
{
	float activation[3] = {0}, gradient[3] = {0};

	if (job->rank == 0) {
		try(dist_send(job->world, floats(activation), 1, 0));
		/* partner */
		return dist_recv(job->world, floats(gradient), 1, 1);
	}
	if (job->rank == 1) {
		try(dist_recv(job->world, floats(activation), 0, 0));
		if (job->wrong)
			/* culprit */
			try(dist_recv(job->world, floats(gradient), 2, 1));
		try(dist_send(job->world, floats(activation), 2, 0));
		if (!job->wrong)
			try(dist_recv(job->world, floats(gradient), 2, 1));
		return dist_send(job->world, floats(gradient), 0, 1);
	}
	/* culprit */
	try(dist_recv(job->world, floats(activation), 1, 0));
	return dist_send(job->world, floats(gradient), 1, 1);
}

enum dist_error one_receive_more(struct job *job)
{
	float x[1] = {0};

	if (job->rank == 0)
		for (int i = 0; i < 3; i++)
			try(dist_send(job->world, floats(x), 1, 0));
	for (int i = 0; job->rank == 1 && i < 3 + job->wrong; i++)
		/* culprit */
		try(dist_recv(job->world, floats(x), 0, 0));
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* Two tags in the other order: fine as long as the first is buffered. */
enum dist_error tags_in_other_order(struct job *job)
{
	float a[2] = {0}, b[2] = {0};

	if (job->rank == 0) {
		/* culprit */
		try(dist_send(job->world, floats(a), 1, 1));
		return dist_send(job->world, floats(b), 1, 2);
	}
	if (!job->wrong)
		try(dist_recv(job->world, floats(a), 0, 1));
	/* culprit */
	try(dist_recv(job->world, floats(b), 0, 2));
	return job->wrong ? dist_recv(job->world, floats(a), 0, 1) : DIST_OK;
}

/* One end is in a message, the other in a collective. */
enum dist_error receives_before_the_sum(struct job *job)
{
	float x[2] = {0}, sum[2] = {0};

	if (job->rank == 0) {
		/* culprit */
		try(dist_recv(job->world, floats(x), 1, 0));
		return dist_all_reduce(job->world, floats(sum), DIST_SUM, NULL);
	}
	if (!job->wrong && job->rank == 1)
		try(dist_send(job->world, floats(x), 0, 0));
	/* partner */
	try(dist_all_reduce(job->world, floats(sum), DIST_SUM, NULL));
	if (job->wrong && job->rank == 1)
		try(dist_send(job->world, floats(x), 0, 0));
	return DIST_OK;
}

/* A broadcast by hand; a loop that ends one too early. */
enum dist_error broadcast_by_hand(struct job *job)
{
	float x[5] = {0};

	if (job->rank == 0) {
		for (int dst = 1; dst < job->size - job->wrong; dst++)
			try(dist_send(job->world, floats(x), dst, 0));
	} else {
		/* culprit */
		try(dist_recv(job->world, floats(x), 0, 0));
	}
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Nobody takes what is sent. Seen in pytorch#108378. */
enum dist_error nobody_receives(struct job *job)
{
	float x[2] = {0};
	struct dist_work *work;

	if (job->rank == 1) {
		/* culprit */
		try(dist_isend(job->world, floats(x), 2, 4, &work));
		try(end(work));
	}
	if (job->rank == 2 && !job->wrong)
		return dist_recv(job->world, floats(x), 1, 4);
	return DIST_OK;
}

/* Not wrong: by a deadline of its own rank 0 gives up what never comes, a
 * message or a sum. */
enum dist_error does_without_the_news(struct job *job)
{
	const struct dist_group_options soon = {.timeout_ns = 200000000};
	struct dist_group *news;
	float x[2];

	for (int i = 0; i < 2; i++) {
		try(dist_new_group(job->world, NULL, 0, &soon, &news));
		if (job->rank == 0 &&
		    (i ? dist_all_reduce(news, floats(x), DIST_SUM, NULL)
		       : dist_recv(news, floats(x), 1, 0)) != DIST_ERR_TIMEOUT)
			return DIST_ERR_IO;
		try(dist_barrier(job->world, NULL));
	}
	return DIST_OK;
}

/* Not wrong where sends are buffered: more than the sockets hold, before either
 * receives. */
enum dist_error much_is_sent_first(struct job *job)
{
	const size_t numel = 32 << 20;
	char *data = keep(job, 2 * numel);
	int other = 1 - job->rank;

	if (!data)
		return DIST_ERR_NO_MEMORY;
	data[numel - 1] = (char)(job->rank + 1);
	try(dist_send(job->world, dist_tensor(data, numel, DIST_INT8), other,
		      0));
	try(dist_recv(job->world, dist_tensor(data + numel, numel, DIST_INT8),
		      other, 0));
	return data[2 * numel - 1] == other + 1 ? DIST_OK : DIST_ERR_IO;
}

/* Not wrong: receives from anybody, as many as there are sends. */
enum dist_error anybody_first(struct job *job)
{
	float x[2] = {0};
	int from;

	if (job->rank == 0)
		for (int i = 1; i < job->size; i++)
			try(dist_recv_any(job->world, floats(x), 2, &from));
	else
		try(dist_send(job->world, floats(x), 0, 2));
	return dist_barrier(job->world, NULL);
}

/* Not wrong: posted before anybody waits, in any order of tags and peers. */
enum dist_error all_posted_first(struct job *job)
{
	float out[4] = {0}, in[4];
	struct dist_work *works[8];
	int num = 0;

	for (int peer = job->size - 1; peer >= 0; peer--)
		if (peer != job->rank)
			try(dist_isend(job->world,
				       dist_tensor(out, 1, DIST_FLOAT32), peer,
				       job->rank, &works[num++]));
	for (int peer = 0; peer < job->size; peer++)
		if (peer != job->rank)
			try(dist_irecv(job->world,
				       dist_tensor(in + peer, 1, DIST_FLOAT32),
				       peer, peer, &works[num++]));
	while (num-- > 0) {
		try(dist_work_wait(works[num], DIST_TIMEOUT_OF_GROUP));
		dist_work_free(works[num]);
	}
	return DIST_OK;
}

/* A sum that one rank waits to hear of before it takes part. */
enum dist_error hears_of_the_sum(struct job *job)
{
	float x[2] = {0}, word[1] = {0};

	if (at_fault(job, 0))
		/* culprit */
		try(dist_recv(job->world, floats(word), 1, 0));
	/* culprit */
	try(dist_reduce(job->world, floats(x), 0, DIST_SUM, NULL));
	if (job->rank == 1)
		return dist_send(job->world, floats(word), 0, 0);
	return job->rank == 0 && !job->wrong
		       ? dist_recv(job->world, floats(word), 1, 0)
		       : DIST_OK;
}

/* Rank 2 listens to the wrong rank, and all others wait for it. */
enum dist_error wrong_source_and_a_barrier(struct job *job)
{
	float x[4] = {0};

	if (job->rank == 3)
		/* culprit */
		try(dist_send(job->world, floats(x), 2, 0));
	if (job->rank == 2)
		/* culprit */
		try(dist_recv(job->world, floats(x), job->wrong ? 0 : 3, 0));
	return dist_barrier(job->world, NULL);
}
