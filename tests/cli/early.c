/* A rank program of two ranks that touches a buffer on its stack while a
 * receive holds it: "early KIND ELEMENT", where KIND is write, back (writes,
 * and later what was there), same (writes what is there), read, fill or none.
 * Alone it fails where there are no watchpoints. */
#define _GNU_SOURCE /* syscall */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lockstep/dist.h"

#define NUMEL 64

static float touch(volatile float *at, const char *kind)
{
	if (strcmp(kind, "read") == 0)
		return *at; /* read */
	if (strcmp(kind, "fill") == 0)
		memset((float *)at, 7, strlen(kind)); /* filled */
	else if (strcmp(kind, "none") != 0)
		*at = strcmp(kind, "same") == 0 ? 1 : 7; /* written */
	return 0;
}

static bool receive(struct dist_group *group, char **argv)
{
	_Alignas(64) float x[NUMEL];
	float y = 1, z;
	struct dist_tensor token = dist_tensor(&y, 1, DIST_FLOAT32);
	struct dist_work *work;
	bool good;

	for (int i = 0; i < NUMEL; i++)
		x[i] = 1;
	good = !dist_irecv(group, dist_tensor(x, NUMEL, DIST_FLOAT32), 0, 0,
			   &work); /* culprit */
	good = good && !dist_send(group, token, 0, 1);
	good = good && !dist_send(group, token, 0, 2); /* before */
	z = touch(&x[atoi(argv[2])], argv[1]);
	good = good && !dist_send(group, token, 0, 3); /* after */
	if (strcmp(argv[1], "back") == 0)
		x[atoi(argv[2])] = 1;
	good = good && !dist_send(group, token, 0, 4);
	good = good && !dist_work_wait(work, DIST_TIMEOUT_OF_GROUP); /* wait */
	dist_work_free(work);
	return good && x[0] == 2 && x[NUMEL - 1] == 2 && z < 2;
}

static bool serve(struct dist_group *group)
{
	float x[NUMEL], y;
	bool good = true;

	for (int i = 0; i < NUMEL; i++)
		x[i] = 2;
	for (int tag = 1; good && tag <= 4; tag++)
		good = !dist_recv(group, dist_tensor(&y, 1, DIST_FLOAT32), 1,
				  tag);
	return good &&
	       !dist_send(group, dist_tensor(x, NUMEL, DIST_FLOAT32), 1, 0);
}

/* Whether this system has watchpoints for a program to use. */
static bool has_points(void)
{
#ifdef __x86_64__
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof attr,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.bp_type = 2, /* writes */
		.bp_addr = (uintptr_t)&attr,
		.bp_len = 8,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) >= 0;
#else
	return false;
#endif
}

static int rank_main(void *arg)
{
	struct dist_group *group;
	bool good;

	if (dist_init_process_group(NULL, &group))
		return 1;
	good = dist_get_rank(group) == 1 ? receive(group, arg) : serve(group);
	return dist_destroy_process_group(group) != DIST_OK || !good;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return !has_points();
	return argc == 3 ? dist_launch(NULL, rank_main, argv) : 2;
}
