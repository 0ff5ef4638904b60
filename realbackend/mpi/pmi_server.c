/*
 * pmi_server.c - answers the lines of PMI-1 that MPI writes into a socket.
 *
 *	init, get_maxes, get_my_kvsname, get_appnum, get_universe_size
 *	put key=K value=V	kept for the next barrier
 *	barrier_in		exchanges all ranks' pairs, over rank 0
 *	get key=K		a pair that a rank put, or PMI_process_mapping
 *	clique			ours, for pmi/client.c: the ranks of this node
 *	finalize
 *
 * The protocol is that of MPICH's src/pmi (simple, version 1.1).
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "realbackend/mpi/pmi_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wait.h"
#include "realbackend/agree/control.h"

/* Of a line, and of what is said to be the longest key and value. */
#define LINE_SIZE  4096
#define MOST_KEY   "64"
#define MOST_VALUE "1024"

/* Steps of the exchanges, beside those of control.h. */
#define FIRST_STEP 0x300u

/* Pairs, each a line "key=value". */
struct pairs {
	char *text;
	size_t bytes;
};

struct dist__pmi_server {
	int ours, theirs; /* ends of the socket */
	pthread_t thread;
	int64_t timeout_ns;
	struct dist__members members; /* all ranks */
	struct dist__control control;
	uint32_t step;
	struct pairs put, known;
	int job;
	atomic_bool is_alone;
};

/* ---- pairs -------------------------------------------------------------- */

static bool add(struct pairs *pairs, const char *text, size_t bytes)
{
	char *more = realloc(pairs->text, pairs->bytes + bytes + 1);

	if (!more)
		return false;
	memcpy(more + pairs->bytes, text, bytes);
	pairs->text = more;
	pairs->bytes += bytes;
	more[pairs->bytes] = '\0';
	return true;
}

/* The value of key, of *len bytes; NULL: nobody put it. */
static const char *find(const struct pairs *pairs, const char *key, size_t *len)
{
	size_t key_len = strlen(key);

	for (const char *at = pairs->text; at && *at; at++) {
		if (strncmp(at, key, key_len) == 0 && at[key_len] == '=') {
			*len = strcspn(at + key_len + 1, "\n");
			return at + key_len + 1;
		}
		at = strchr(at, '\n');
		if (!at)
			break;
	}
	return NULL;
}

/* ---- to all ------------------------------------------------------------- */

static enum dist_error move(struct dist__pmi_server *s, struct dist__message m,
			    bool sends)
{
	struct dist__transport *t = s->control.transport;
	struct dist__request *request;
	enum dist_error error =
		sends ? dist__control_send(&s->control, m, &request)
		      : dist__control_receive(&s->control, m, &request);

	return error ? error
		     : t->ops->wait(t, request,
				    t->ops->now_ns(t) + s->timeout_ns);
}

/* Sends pairs to peer, or adds what comes from it; step and the next are the
 * length's and the text's. */
static enum dist_error pass(struct dist__pmi_server *s, int peer, uint32_t step,
			    struct pairs *pairs, bool sends)
{
	uint64_t bytes = pairs->bytes;
	struct dist__message m = {.peer = peer,
				  .tag = -1,
				  .seq = DIST__CONTROL_SEQ,
				  .step = step,
				  .data = &bytes,
				  .bytes = sizeof bytes};
	enum dist_error error = move(s, m, sends);
	char *text;

	if (error || bytes == 0)
		return error;
	text = sends ? pairs->text : malloc(bytes);
	if (!text)
		return DIST_ERR_NO_MEMORY;
	m.step = step + 1;
	m.data = text;
	m.bytes = bytes;
	error = move(s, m, sends);
	if (sends)
		return error;
	if (!error && !add(pairs, text, bytes))
		error = DIST_ERR_NO_MEMORY;
	free(text);
	return error;
}

/* Gathers what all have put at rank 0, which passes it on. */
static enum dist_error exchange(struct dist__pmi_server *s)
{
	uint32_t up = s->step, down = up + 2;
	int size = s->members.world_size;
	struct pairs all = {NULL, 0};
	enum dist_error error = DIST_OK;

	if (atomic_load(&s->is_alone))
		return DIST_ERR_ABORTED;
	s->step += 4;
	if (s->members.rank > 0) {
		error = pass(s, 0, up, &s->put, true);
		if (!error)
			error = pass(s, 0, down, &s->known, false);
	} else {
		if (s->put.bytes && !add(&all, s->put.text, s->put.bytes))
			error = DIST_ERR_NO_MEMORY;
		for (int peer = 1; peer < size && !error; peer++)
			error = pass(s, peer, up, &all, false);
		for (int peer = 1; peer < size && !error; peer++)
			error = pass(s, peer, down, &all, true);
		if (!error && all.bytes && !add(&s->known, all.text, all.bytes))
			error = DIST_ERR_NO_MEMORY;
		free(all.text);
	}
	free(s->put.text);
	s->put = (struct pairs){NULL, 0};
	return error;
}

/* ---- answers ------------------------------------------------------------ */

/* Which ranks are on which node: runs of ranks, as (node, 1, ranks). */
static void write_mapping(const struct dist__pmi_server *s, char *text,
			  size_t size)
{
	int ranks = s->members.world_size, run;

	snprintf(text, size, "(vector");
	for (int rank = 0; rank < ranks; rank += run) {
		int node = dist__node(&s->members, rank);

		run = 1;
		while (rank + run < ranks &&
		       dist__node(&s->members, rank + run) == node)
			run++;
		(void)dist__append(text, size, ",(%d,1,%d)", node, run);
	}
	(void)dist__append(text, size, ")");
}

static void write_clique(const struct dist__pmi_server *s, char *text,
			 size_t size)
{
	int node = dist__node(&s->members, s->members.rank);

	*text = '\0';
	for (int rank = 0; rank < s->members.world_size; rank++)
		if (dist__node(&s->members, rank) == node)
			(void)dist__append(text, size, "%s%d", *text ? "," : "",
					   rank);
}

static void answer_get(const struct dist__pmi_server *s, const char *key,
		       char *answer)
{
	char mapping[LINE_SIZE / 2];
	const char *value = mapping;
	size_t len;

	if (strcmp(key, "PMI_process_mapping") == 0) {
		write_mapping(s, mapping, sizeof mapping);
		len = strlen(mapping);
	} else {
		value = find(&s->known, key, &len);
	}
	if (value)
		snprintf(answer, LINE_SIZE,
			 "cmd=get_result rc=0 msg=success value=%.*s", (int)len,
			 value);
	else
		snprintf(
			answer, LINE_SIZE,
			"cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

static bool put(struct dist__pmi_server *s, const char *key, const char *value)
{
	return add(&s->put, key, strlen(key)) && add(&s->put, "=", 1) &&
	       add(&s->put, value, strlen(value)) && add(&s->put, "\n", 1);
}

/* The text behind " name=" in line: up to the next blank, or, of a value, to
 * the end. "": there is none. */
static const char *word_of(const char *line, const char *name, char *word,
			   size_t size)
{
	const char *at = strstr(line, name);
	size_t len;

	*word = '\0';
	if (!at)
		return word;
	at += strlen(name);
	len = strcmp(name, " value=") == 0 ? strlen(at) : strcspn(at, " ");
	snprintf(word, size, "%.*s", (int)len, at);
	return word;
}

/* Writes the answer to a request; false: that was the last, or nothing to be
 * answered any more. */
static bool answer(struct dist__pmi_server *s, const char *line, char *text)
{
	char command[32], key[LINE_SIZE], value[LINE_SIZE],
		clique[LINE_SIZE / 2];
	int good;

	word_of(line, "cmd=", command, sizeof command);
	word_of(line, " key=", key, sizeof key);
	word_of(line, " value=", value, sizeof value);
	if (strcmp(command, "get") == 0) {
		answer_get(s, key, text);
	} else if (strcmp(command, "put") == 0) {
		good = put(s, key, value) ? 0 : -1;
		snprintf(text, LINE_SIZE, "cmd=put_result rc=%d msg=%s", good,
			 good == 0 ? "success" : "no_memory");
	} else if (strcmp(command, "barrier_in") == 0) {
		good = exchange(s) == DIST_OK ? 0 : -1;
		snprintf(text, LINE_SIZE, "cmd=barrier_out rc=%d", good);
	} else if (strcmp(command, "clique") == 0) {
		write_clique(s, clique, sizeof clique);
		snprintf(text, LINE_SIZE, "cmd=clique rc=0 value=%s", clique);
	} else if (strcmp(command, "init") == 0) {
		snprintf(text, LINE_SIZE,
			 "cmd=response_to_init pmi_version=1 pmi_subversion=1 "
			 "rc=0");
	} else if (strcmp(command, "get_maxes") == 0) {
		snprintf(text, LINE_SIZE,
			 "cmd=maxes kvsname_max=64 keylen_max=" MOST_KEY
			 " vallen_max=" MOST_VALUE " rc=0");
	} else if (strcmp(command, "get_my_kvsname") == 0) {
		snprintf(text, LINE_SIZE,
			 "cmd=my_kvsname kvsname=lockstep rc=0");
	} else if (strcmp(command, "get_appnum") == 0) {
		snprintf(text, LINE_SIZE, "cmd=appnum appnum=0 rc=0");
	} else if (strcmp(command, "get_universe_size") == 0) {
		snprintf(text, LINE_SIZE, "cmd=universe_size size=%d rc=0",
			 s->members.world_size);
	} else if (strcmp(command, "finalize") == 0) {
		snprintf(text, LINE_SIZE, "cmd=finalize_ack rc=0");
	} else {
		return false;
	}
	return true;
}

/* ---- the thread --------------------------------------------------------- */

/* By no stream: the process may be in exit(), which would write what is in one
 * once more, to a socket that MPI has closed. */
static bool tell(const struct dist__pmi_server *s, char *line)
{
	size_t len = strlen(line);

	line[len] = '\n';
	return send(s->ours, line, len + 1, MSG_NOSIGNAL) == (ssize_t)(len + 1);
}

static void *serve(void *arg)
{
	struct dist__pmi_server *s = arg;
	char line[LINE_SIZE], text[LINE_SIZE];
	size_t used = 0;
	char *end;
	ssize_t n;

	while ((n = read(s->ours, line + used, sizeof line - 1 - used)) > 0) {
		used += (size_t)n;
		line[used] = '\0';
		while ((end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			if (answer(s, line, text)) {
				if (!tell(s, text))
					return NULL;
			}
			used -= (size_t)(end + 1 - line);
			memmove(line, end + 1, used + 1);
		}
	}
	return NULL;
}

/* ---- making ------------------------------------------------------------- */

/* Rank 0 draws the number and tells it. */
static bool agree_about_job(struct dist__pmi_server *s)
{
	struct timespec now;
	char text[32];
	const char *job;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof text, "job=%ld\n",
		 1 + ((long)getpid() * 1000003 + now.tv_nsec) % 1000000000);
	if (s->members.rank == 0 && !add(&s->put, text, strlen(text)))
		return false;
	if (exchange(s))
		return false;
	job = find(&s->known, "job", &len);
	s->job = job ? atoi(job) : 1;
	return true;
}

struct dist__pmi_server *dist__pmi_server_new(const struct dist__place *place)
{
	struct dist__pmi_server *s = calloc(1, sizeof *s);
	int ends[2];

	if (!s)
		return NULL;
	s->timeout_ns = place->timeout_ns;
	s->members = (struct dist__members){.rank = place->rank,
					    .world_size = place->world_size,
					    .nodes = place->nodes};
	s->control.members = &s->members;
	s->control.transport = place->transport;
	s->step = FIRST_STEP;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		free(s);
		return NULL;
	}
	s->ours = ends[0];
	s->theirs = ends[1];
	if (!agree_about_job(s) || !dist__thread_start(&s->thread, serve, s)) {
		close(ends[1]);
		close(s->ours);
		free(s->put.text);
		free(s->known.text);
		free(s);
		return NULL;
	}
	return s;
}

int dist__pmi_server_job(const struct dist__pmi_server *server)
{
	return server->job;
}

int dist__pmi_server_fd(const struct dist__pmi_server *server)
{
	return server->theirs;
}

void dist__pmi_server_part(struct dist__pmi_server *s)
{
	if (s)
		atomic_store(&s->is_alone, true);
}
