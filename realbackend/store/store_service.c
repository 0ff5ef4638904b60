/* store_service.c - executes the store's requests; see parcel.h for the
 * operations. */
#include "realbackend/store/store_service.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "realbackend/store/environment.h"
#include "realbackend/store/store_client.h"

/* What a stranger may say where there is a secret; and to agents: an id of a
 * job and a report. */
#define STRANGER_BYTES  256
#define APPLICANT_BYTES 4096
/* Agents that a job may have seen: each has cost a line in the table. */
#define MOST_TICKETS 65536

enum dist_error dist__service_init(struct dist__service *service,
				   const char *run)
{
	bool failed;

	memset(service, 0, sizeof *service);
	dist__roster_init(&service->roster);
	service->table = dist__table_new();
	if (service->table)
		dist__table_limit(service->table, DIST__STORE_MAX_KEYS,
				  DIST__STORE_MAX_BYTES);
	service->run = run ? strdup(run) : NULL;
	service->secret = dist__secret_copy(&failed);
	if (!service->table || failed || (run && !service->run))
		return DIST_ERR_NO_MEMORY;
	return dist__token_draw(service->token) ? DIST_OK : DIST_ERR_IO;
}

void dist__service_release(struct dist__service *service)
{
	dist__table_free(service->table);
	free(service->secret);
	free(service->run);
	dist__roster_release(&service->roster);
}

bool dist__service_reply(struct dist__session *session, int32_t code,
			 const char *text)
{
	struct dist__parcel reply;

	dist__parcel_init(&reply, code, 0);
	if (text)
		dist__parcel_add_text(&reply, text);
	return dist__session_reply(session, &reply);
}

static bool reply_number(struct dist__session *session, int64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)number);
	return dist__service_reply(session, DIST_OK, text);
}

/* ---- keys --------------------------------------------------------------- */

/* Does at once what a request asks for. */
static bool serve_key(struct dist__service *service,
		      struct dist__session *session,
		      const struct dist__bytes strings[3])
{
	struct dist__store_request request = {
		.op = (enum dist__store_op)dist__parcel_code(&session->request),
		.key = strings[0],
		.value = strings[1]};
	enum dist_error error = DIST_OK;
	struct dist__parcel reply;

	if (request.op == DIST__STORE_COMPARE_SET) {
		request.expected = strings[1];
		request.value = strings[2];
	}
	if (request.op == DIST__STORE_ADD &&
	    !dist__bytes_number(strings[1], &request.number))
		error = DIST_ERR_INVALID_ARGUMENT;
	if (!error)
		error = dist__table_do(service->table, &request);
	service->changed |= request.stored;
	if (error || request.op == DIST__STORE_SET)
		return dist__service_reply(session, error, NULL);
	if (request.op != DIST__STORE_COMPARE_SET)
		return reply_number(session, request.number);
	/* Before the session takes the reply, and drops the request. */
	dist__parcel_init(&reply, DIST_OK, 0);
	dist__parcel_add(&reply, request.found.data, request.found.len);
	return dist__session_reply(session, &reply);
}

bool dist__service_retry(struct dist__service *service,
			 struct dist__session *session)
{
	int32_t op = dist__parcel_code(&session->request);
	struct dist__bytes string = {NULL, 0}, value = {NULL, 0};
	struct dist__parcel reply;
	int64_t number = 0;
	size_t offset = 0;

	(void)dist__parcel_next(&session->request, &offset, &string);
	if (op == DIST__STORE_ARRIVE
		    ? dist__bytes_number(string, &number) &&
			      service->arrived < number
		    : !dist__table_get(service->table, string, &value))
		return true;
	dist__parcel_init(&reply, DIST_OK, 0);
	if (op == DIST__STORE_GET)
		dist__parcel_add(&reply, value.data, value.len);
	return dist__session_reply(session, &reply);
}

/* ---- strangers ---------------------------------------------------------- */

size_t dist__service_limit(const struct dist__service *service)
{
	if (service->secret)
		return STRANGER_BYTES;
	return service->run ? APPLICANT_BYTES : DIST__PARCEL_MAX_REQUEST;
}

static bool turn_away(struct dist__service *service,
		      struct dist__session *session, const char *why)
{
	service->roster.turned_away++;
	return dist__service_reply(session, DIST__STORE_LOCKED, why);
}

static bool serve_hello(struct dist__service *service,
			struct dist__session *session)
{
	struct dist__parcel reply;

	dist__parcel_init(&reply, DIST_OK, 0);
	if (service->secret) {
		session->challenged = dist__nonce_draw(session->nonce);
		if (!session->challenged)
			reply.failed = true;
		dist__parcel_add(&reply, session->nonce, DIST__NONCE_BYTES);
	}
	return dist__session_reply(session, &reply);
}

/* Holds the proof against the nonce of this session, which is then used up. */
static bool serve_prove(struct dist__service *service,
			struct dist__session *session, struct dist__bytes nonce,
			struct dist__bytes proof)
{
	struct dist__claim claim = {.role = DIST__STORE_CLIENT};
	unsigned char ours[DIST__PROOF_BYTES];
	struct dist__parcel reply;

	if (!session->challenged || nonce.len != DIST__NONCE_BYTES ||
	    proof.len != DIST__PROOF_BYTES)
		return false;
	session->challenged = false;
	memcpy(claim.dialler_nonce, nonce.data, DIST__NONCE_BYTES);
	memcpy(claim.other_nonce, session->nonce, DIST__NONCE_BYTES);
	if (!dist__secret_holds(service->secret, &claim, proof.data))
		return turn_away(service, session,
				 "LOCKSTEP_SECRET is not the one of rank 0");
	dist__session_admit(session);
	claim.role = DIST__STORE_SERVER;
	dist__secret_prove(service->secret, &claim, ours);
	dist__parcel_init(&reply, DIST_OK, 0);
	dist__parcel_add(&reply, ours, sizeof ours);
	return dist__session_reply(session, &reply);
}

/* ---- agents ------------------------------------------------------------- */

static void name_report(int ticket, char key[32])
{
	snprintf(key, 32, "%d/report", ticket);
}

static bool serve_enrol(struct dist__service *service,
			struct dist__session *session, struct dist__bytes run,
			struct dist__bytes report)
{
	struct dist__store_request arrivals = {
		.op = DIST__STORE_ADD,
		.key = dist__bytes_text("arrivals"),
		.number = 1};
	struct dist__table_change change;
	char key[32];

	if (!service->run || session->ticket >= 0)
		return false;
	if (run.len != strlen(service->run) ||
	    memcmp(run.data, service->run, run.len) != 0)
		return dist__service_reply(session, DIST__STORE_OTHER, NULL);
	(void)dist__table_plan(service->table, &arrivals, &change);
	if (arrivals.number > MOST_TICKETS)
		return dist__service_reply(
			session, DIST__STORE_LOCKED,
			"too many agents have come to this job");
	name_report((int)arrivals.number, key);
	/* The report first: who has arrived has reported. */
	if (!dist__table_set(service->table, dist__bytes_text(key), report) ||
	    !dist__table_set(service->table, arrivals.key, change.value))
		return dist__service_reply(session, DIST_ERR_NO_MEMORY, NULL);
	session->ticket = (int)arrivals.number;
	dist__session_admit(session);
	return reply_number(session, arrivals.number);
}

void dist__service_forget(struct dist__service *service,
			  const struct dist__session *session)
{
	struct dist__bytes value;
	unsigned char *text;
	char key[32];

	if (session->ticket < 1)
		return;
	name_report(session->ticket, key);
	if (!dist__table_get(service->table, dist__bytes_text(key), &value) ||
	    dist__bytes_keep(&value))
		return;
	text = (unsigned char *)value.data;
	text[value.len++] = '\n'; /* in place of the 0 behind it */
	(void)dist__table_set(service->table, dist__bytes_text(key), value);
	free(text);
}

/* Whether an agent may ask for this. */
static bool is_allowed(const struct dist__session *session, int32_t op,
		       const struct dist__bytes strings[3])
{
	char own[16];
	size_t len;

	switch (op) {
	case DIST__STORE_GET:
		return true;
	case DIST__STORE_SET:
		len = (size_t)snprintf(own, sizeof own, "%d/", session->ticket);
		return strings[0].len > len &&
		       memcmp(strings[0].data, own, len) == 0;
	case DIST__STORE_ADD:
		return strings[0].len == strlen("looks") &&
		       memcmp(strings[0].data, "looks", strings[0].len) == 0 &&
		       strings[1].len == 1 &&
		       (*strings[1].data == '0' || *strings[1].data == '1');
	default:
		return false;
	}
}

/* Whether a store of agents serves this request. */
static bool is_agents(const struct dist__session *session, int32_t op,
		      const struct dist__bytes strings[3])
{
	if (session->ticket < 0)
		return op == DIST__STORE_HELLO || op == DIST__STORE_PROVE ||
		       op == DIST__STORE_ENROL;
	return session->ticket == 0 || is_allowed(session, op, strings);
}

/* ---- the rendezvous ----------------------------------------------------- */

static bool serve_join(struct dist__service *service,
		       struct dist__session *session,
		       const struct dist__bytes strings[3])
{
	char address[DIST__ADDRESS_TEXT], text[64];
	int64_t rank, world_size;

	if (!dist__bytes_number(strings[0], &rank) ||
	    !dist__bytes_number(strings[1], &world_size) || rank < 0 ||
	    rank > INT_MAX || world_size < 0 || world_size > INT_MAX)
		return false;
	dist__bytes_copy(strings[2], address, sizeof address);
	session->rank = (int)rank;
	switch (dist__roster_join(&service->roster, (int)rank, (int)world_size,
				  address)) {
	case DIST__ROSTER_WAIT:
	case DIST__ROSTER_COMPLETE:
		session->joined = true;
		return true;
	case DIST__ROSTER_FAILED:
		return true;
	case DIST__ROSTER_AGAIN:
		return dist__service_reply(session, DIST__STORE_AGAIN,
					   "the job of before has not ended");
	case DIST__ROSTER_REFUSED:
		break;
	}
	snprintf(text, sizeof text, "a second rank %d came to a running job",
		 (int)rank);
	return dist__service_reply(session, DIST_ERR_RENDEZVOUS, text);
}

bool dist__service_is_join(const struct dist__session *session)
{
	return session->waiting &&
	       dist__parcel_code(&session->request) == DIST__STORE_JOIN;
}

bool dist__service_reply_join(struct dist__service *service,
			      struct dist__session *session)
{
	struct dist__parcel reply;

	service->failures_sent += service->roster.failure.text[0] != 0;
	dist__roster_write(&service->roster, service->token, &reply);
	return dist__session_reply(session, &reply);
}

/* ---- requests ----------------------------------------------------------- */

/* How many strings a request has, and whether the first of them is a key. */
static const struct {
	uint32_t strings;
	bool has_key;
} shapes[] = {
	[DIST__STORE_SET] = {2, true},
	[DIST__STORE_GET] = {1, true},
	[DIST__STORE_ADD] = {2, true},
	[DIST__STORE_WAIT] = {1, true},
	[DIST__STORE_CHECK] = {1, true},
	[DIST__STORE_DELETE] = {1, true},
	[DIST__STORE_NUM_KEYS] = {0},
	[DIST__STORE_JOIN] = {3},
	[DIST__STORE_COMPARE_SET] = {3, true},
	[DIST__STORE_ARRIVE] = {1},
	[DIST__STORE_HELLO] = {0},
	[DIST__STORE_PROVE] = {2},
	[DIST__STORE_ENROL] = {2},
};

static bool serve(struct dist__service *service, struct dist__session *session,
		  const struct dist__bytes strings[3])
{
	switch ((enum dist__store_op)dist__parcel_code(&session->request)) {
	case DIST__STORE_SET:
	case DIST__STORE_ADD:
	case DIST__STORE_COMPARE_SET:
	case DIST__STORE_CHECK:
	case DIST__STORE_DELETE:
	case DIST__STORE_NUM_KEYS:
		return serve_key(service, session, strings);
	case DIST__STORE_GET:
	case DIST__STORE_WAIT:
		return dist__service_retry(service, session);
	case DIST__STORE_JOIN:
		return serve_join(service, session, strings);
	case DIST__STORE_ARRIVE:
		service->arrived += !session->arrived;
		session->arrived = true;
		service->changed = true;
		return dist__service_retry(service, session);
	case DIST__STORE_HELLO:
		return serve_hello(service, session);
	case DIST__STORE_PROVE:
		return serve_prove(service, session, strings[0], strings[1]);
	case DIST__STORE_ENROL:
		return serve_enrol(service, session, strings[0], strings[1]);
	}
	return false;
}

bool dist__service_request(struct dist__service *service,
			   struct dist__session *session)
{
	struct dist__bytes strings[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	int32_t op = dist__parcel_code(&session->request);
	size_t offset = 0;
	int n = 0;

	if (op < DIST__STORE_SET || op > DIST__STORE_ENROL ||
	    dist__parcel_count(&session->request) != shapes[op].strings)
		return false;
	while (n < 3 &&
	       dist__parcel_next(&session->request, &offset, &strings[n]))
		n++;
	if (shapes[op].has_key && strings[0].len > DIST__STORE_MAX_KEY)
		return dist__service_reply(session, DIST_ERR_INVALID_ARGUMENT,
					   NULL);
	if (!service->secret && !service->run)
		dist__session_admit(session);
	else if (service->secret && !session->known &&
		 op != DIST__STORE_HELLO && op != DIST__STORE_PROVE)
		return turn_away(
			service, session,
			"rank 0 has a LOCKSTEP_SECRET, this process has none");
	if (service->run && !is_agents(session, op, strings))
		return false;
	session->waiting = true;
	if (session->known)
		session->deadline_ns = dist__clock_after(
			dist__parcel_timeout_ns(&session->request));
	return serve(service, session, strings);
}
