/*
 * client.c - PMI-1 as a shared library, which Open MPI 4 requires: each call
 * sends a line to the rank's own manager (realbackend/mpi/pmi_server.c) and
 * reads one. Only Open MPI loads it, by the name in FLUX_PMI_LIBRARY_PATH.
 *
 * Names, arguments and results are those of MPICH's pmi.h: 0 is success, -1 a
 * failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE 4096
#define SHOW      __attribute__((visibility("default")))

/* One manager a process. */
static int fd = -1;
static int own_rank, num_ranks;

/* ---- asking ------------------------------------------------------------- */

static int read_line(char line[LINE_SIZE])
{
	size_t used = 0;

	while (used < LINE_SIZE - 1) {
		if (read(fd, line + used, 1) != 1)
			return -1;
		if (line[used] == '\n')
			break;
		used++;
	}
	line[used] = '\0';
	return strstr(line, "rc=0") ? 0 : -1;
}

static int number_of(const char *name, int *number)
{
	const char *text = getenv(name);

	*number = text ? atoi(text) : -1;
	return *number < 0 ? -1 : 0;
}

/* Sends a line, and stores the one that comes back. */
static int ask(const char *question, char answer[LINE_SIZE])
{
	if (dprintf(fd, "%s\n", question) < 0)
		return -1;
	return read_line(answer);
}

static int ask_plainly(const char *question)
{
	char answer[LINE_SIZE];

	return ask(question, answer);
}

/* ---- the calls ---------------------------------------------------------- */

SHOW int PMI_Init(int *spawned)
{
	if (number_of("PMI_FD", &fd) || number_of("PMI_RANK", &own_rank) ||
	    number_of("PMI_SIZE", &num_ranks))
		return -1;
	*spawned = 0;
	return ask_plainly("cmd=init pmi_version=1 pmi_subversion=1");
}

SHOW int PMI_Initialized(int *flag)
{
	*flag = fd >= 0;
	return 0;
}

SHOW int PMI_Finalize(void)
{
	int status = ask_plainly("cmd=finalize");

	close(fd);
	fd = -1;
	return status;
}

SHOW int PMI_Abort(int status, const char *text)
{
	fprintf(stderr, "lockstep: rank %d: MPI gave up: %s\n", own_rank,
		text ? text : "it does not say why");
	_exit(status ? status : 1);
}

/* A call that stores a number, which needs no asking. */
#define NUMBER(name, value)                                                    \
	SHOW int PMI_##name(int *number)                                       \
	{                                                                      \
		*number = (value);                                             \
		return 0;                                                      \
	}

NUMBER(Get_size, num_ranks)
NUMBER(Get_rank, own_rank)
NUMBER(Get_universe_size, num_ranks)
NUMBER(Get_appnum, 0)
NUMBER(Get_id_length_max, 64)
NUMBER(KVS_Get_name_length_max, 64)
NUMBER(KVS_Get_key_length_max, 64)
NUMBER(KVS_Get_value_length_max, 1024)

SHOW int PMI_Barrier(void)
{
	return ask_plainly("cmd=barrier_in");
}

SHOW int PMI_KVS_Get_my_name(char *name, int len)
{
	snprintf(name, (size_t)len, "lockstep");
	return 0;
}

SHOW int PMI_KVS_Put(const char *name, const char *key, const char *value)
{
	char question[LINE_SIZE];
	int len = snprintf(question, sizeof question,
			   "cmd=put kvsname=%s key=%s value=%s", name, key,
			   value);

	return len < (int)sizeof question ? ask_plainly(question) : -1;
}

SHOW int PMI_KVS_Commit(const char *name)
{
	(void)name;
	return 0;
}

/* The text behind "value=" in an answer; NULL: there is none. */
static const char *value_of(const char *answer)
{
	const char *value = strstr(answer, "value=");

	return value ? value + strlen("value=") : NULL;
}

SHOW int PMI_KVS_Get(const char *name, const char *key, char *value, int len)
{
	char question[LINE_SIZE], answer[LINE_SIZE];
	const char *found;

	snprintf(question, sizeof question, "cmd=get kvsname=%s key=%s", name,
		 key);
	if (ask(question, answer))
		return -1;
	found = value_of(answer);
	if (!found)
		return -1;
	snprintf(value, (size_t)len, "%s", found);
	return 0;
}

/* Stores the ranks of this node, as far as there is room; returns how many. */
static int clique(int *ranks, int room)
{
	char answer[LINE_SIZE];
	const char *at;
	int n = 0;

	if (ask("cmd=clique", answer))
		return -1;
	for (at = value_of(answer); at; at = strchr(at, ',')) {
		at += *at == ',';
		if (n < room)
			ranks[n] = atoi(at);
		n++;
	}
	return n;
}

SHOW int PMI_Get_clique_size(int *size)
{
	*size = clique(NULL, 0);
	return *size > 0 ? 0 : -1;
}

SHOW int PMI_Get_clique_ranks(int *ranks, int len)
{
	return clique(ranks, len) > 0 ? 0 : -1;
}
