/*
 * hoard.c - rank 0 sends what rank 1 does not ask for yet.
 *
 *	hoard COUNT BYTES
 *
 * Rank 0 sends COUNT messages of BYTES with tag 1, then one with tag 2, and
 * waits for none before all are posted; rank 1 receives that of tag 2 first. It
 * prints "got COUNT" at the end, or on stderr the error that ended it.
 */
#include <lockstep/dist.h>

#include <stdio.h>
#include <stdlib.h>

static enum dist_error send_all(struct dist_group *group, int count,
				struct dist_tensor tensor)
{
	struct dist_work **works = calloc((size_t)count + 1, sizeof *works);
	enum dist_error error = works ? DIST_OK : DIST_ERR_NO_MEMORY;
	int posted = 0;

	for (; !error && posted <= count; posted++)
		error = dist_isend(group, tensor, 1, posted < count ? 1 : 2,
				   &works[posted]);
	for (int i = 0; works && i < posted && works[i]; i++) {
		enum dist_error late = dist_work_wait(works[i], 0);

		error = error ? error : late;
		dist_work_free(works[i]);
	}
	free(works);
	return error;
}

static enum dist_error receive_all(struct dist_group *group, int count,
				   struct dist_tensor tensor)
{
	enum dist_error error = dist_recv(group, tensor, 0, 2);

	for (int i = 0; !error && i < count; i++)
		error = dist_recv(group, tensor, 0, 1);
	return error;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0;
	size_t bytes = argc > 2 ? (size_t)atol(argv[2]) : 1;
	void *memory = malloc(bytes);
	struct dist_tensor tensor = dist_tensor(memory, bytes, DIST_UINT8);
	struct dist_group *group;
	enum dist_error error;

	if (!memory)
		return 2;
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)memory)[i] = (unsigned char)i;
	error = dist_init_process_group(NULL, &group);
	if (!error) {
		error = dist_get_rank(group) == 0
				? send_all(group, count, tensor)
				: receive_all(group, count, tensor);
		if (!error)
			printf("got %d\n", count);
		else
			fprintf(stderr, "hoard: rank %d: %s\n",
				dist_get_rank(group),
				dist_error_message(group));
		(void)dist_destroy_process_group(group);
	}
	free(memory);
	return error != DIST_OK;
}
