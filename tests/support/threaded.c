#include "tests/support/threaded.h"

#include <pthread.h>
#include <stdbool.h>

enum { ROUNDS = 40, NUMEL = 700, WORKS = 4 };

/* What the issuing thread leaves to the other. */
struct desk {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct dist_work *works[ROUNDS * WORKS];
	int issued, completed;
	bool over;
	int wrong;
};

static void hand_over(struct desk *desk, struct dist_work *work)
{
	pthread_mutex_lock(&desk->mutex);
	desk->works[desk->issued++] = work;
	pthread_cond_broadcast(&desk->changed);
	pthread_mutex_unlock(&desk->mutex);
}

/* The receives, which the other thread may wait for as well, it frees. */
static bool is_shared(int number)
{
	return number % WORKS == WORKS - 1;
}

/* One in three is polled. */
static void complete(struct desk *desk, struct dist_work *work, int number)
{
	enum dist_error error;

	while (number % 3 == 0 && !dist_work_is_completed(work))
		;
	error = dist_work_wait_aside(work, DIST_TIMEOUT_OF_GROUP);
	desk->wrong += error != DIST_OK || dist_work_error(work) != DIST_OK;
	if (!is_shared(number))
		dist_work_free(work);
}

static void *helper(void *arg)
{
	struct desk *desk = arg;

	pthread_mutex_lock(&desk->mutex);
	for (;;) {
		struct dist_work *work;

		while (desk->completed == desk->issued && !desk->over)
			pthread_cond_wait(&desk->changed, &desk->mutex);
		if (desk->completed == desk->issued)
			break;
		work = desk->works[desk->completed];
		pthread_mutex_unlock(&desk->mutex);
		complete(desk, work, desk->completed);
		pthread_mutex_lock(&desk->mutex);
		desk->completed++;
		pthread_cond_broadcast(&desk->changed);
	}
	pthread_mutex_unlock(&desk->mutex);
	return NULL;
}

static float data[ROUNDS][WORKS][NUMEL];

/* Two reductions, in two groups, and a message around the ring. */
static int issue(struct dist_group *all, struct dist_group *other, int round,
		 struct dist_work **works)
{
	int rank = dist_get_rank(all), size = dist_get_world_size(all);
	struct dist_tensor t[WORKS];
	float one = 1;

	for (int i = 0; i < WORKS; i++) {
		t[i] = dist_tensor(data[round][i], NUMEL, DIST_FLOAT32);
		for (int e = 0; e < NUMEL; e++)
			data[round][i][e] = (float)(rank + round);
	}
	if (dist_all_reduce(all, t[0], DIST_SUM, &works[0]) ||
	    dist_all_reduce(other, t[1], DIST_SUM, &works[1]) ||
	    dist_isend(all, t[2], (rank + 1) % size, 3, &works[2]) ||
	    dist_irecv(all, t[3], (rank + size - 1) % size, 3, &works[3]))
		return 1;
	/* Now and then a call that blocks while the other thread waits, too. */
	return round % 5 == 0 &&
	       (dist_all_reduce(other, dist_tensor(&one, 1, DIST_FLOAT32),
				DIST_SUM, NULL) ||
		one != (float)size);
}

static int count_wrong(int rank, int size)
{
	int wrong = 0, previous = (rank + size - 1) % size;

	for (int round = 0; round < ROUNDS; round++) {
		float sum = (float)(size * round + size * (size - 1) / 2);

		for (int e = 0; e < NUMEL; e += NUMEL - 1)
			wrong += data[round][0][e] != sum ||
				 data[round][1][e] != sum ||
				 data[round][3][e] != (float)(previous + round);
	}
	return wrong;
}

int threaded_walk(struct dist_group *all)
{
	struct desk desk = {.mutex = PTHREAD_MUTEX_INITIALIZER,
			    .changed = PTHREAD_COND_INITIALIZER};
	struct dist_work *works[WORKS];
	struct dist_group *other;
	pthread_t thread;
	int wrong = 0;

	if (dist_new_group(all, NULL, 0, NULL, &other) ||
	    dist_allow_threads(all) || dist_allow_threads(other) ||
	    pthread_create(&thread, NULL, helper, &desk))
		return 1;
	for (int round = 0; round < ROUNDS && !wrong; round++) {
		wrong = issue(all, other, round, works);
		for (int i = 0; i < WORKS && !wrong; i++)
			hand_over(&desk, works[i]);
		if (!wrong && round % 5 == 1)
			wrong = dist_work_wait(works[WORKS - 1],
					       DIST_TIMEOUT_OF_GROUP) !=
				DIST_OK;
	}
	pthread_mutex_lock(&desk.mutex);
	desk.over = true;
	pthread_cond_broadcast(&desk.changed);
	pthread_mutex_unlock(&desk.mutex);
	pthread_join(thread, NULL);
	for (int i = 0; i < desk.issued; i++)
		if (is_shared(i))
			dist_work_free(desk.works[i]);
	return wrong + desk.wrong +
	       count_wrong(dist_get_rank(all), dist_get_world_size(all));
}

int threaded_rank(void *arg)
{
	struct dist_group *group;
	int wrong;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	wrong = threaded_walk(group);
	return dist_destroy_process_group(group) != DIST_OK || wrong;
}
