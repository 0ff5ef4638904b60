/* service.c - what the store does with a request; see store.h for the
 * operations. */
#include "realbackend/tcp/service.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "realbackend/tcp/clock.h"
#include "realbackend/tcp/store.h"

/* A number that strangers cannot guess, to tell them from ranks. */
static bool draw_token(char *text, size_t size)
{
	uint64_t number = 0;
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	bool drawn = fd >= 0 &&
		     read(fd, &number, sizeof number) == (ssize_t)sizeof number;

	if (fd >= 0)
		close(fd);
	snprintf(text, size, "%016llx", (unsigned long long)number);
	return drawn;
}

enum dist_error dist__service_init(struct dist__service *service)
{
	memset(service, 0, sizeof *service);
	dist__roster_init(&service->roster);
	service->table = dist__table_new();
	if (!service->table)
		return DIST_ERR_NO_MEMORY;
	return draw_token(service->token, sizeof service->token) ? DIST_OK
								 : DIST_ERR_IO;
}

void dist__service_release(struct dist__service *service)
{
	dist__table_free(service->table);
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

/* Whether every string of the request is a key that is there. */
static bool all_there(const struct dist__service *service,
		      const struct dist__session *session)
{
	struct dist__bytes key, value;
	size_t offset = 0;

	while (dist__parcel_next(&session->request, &offset, &key))
		if (!dist__table_get(service->table, key, &value))
			return false;
	return true;
}

static bool serve_set(struct dist__service *service,
		      struct dist__session *session, struct dist__bytes key,
		      struct dist__bytes value)
{
	if (!dist__table_set(service->table, key, value))
		return dist__service_reply(session, DIST_ERR_NO_MEMORY, NULL);
	service->changed = true;
	return dist__service_reply(session, DIST_OK, NULL);
}

static bool serve_add(struct dist__service *service,
		      struct dist__session *session, struct dist__bytes key,
		      struct dist__bytes amount_text)
{
	struct dist__bytes value, sum_text;
	int64_t sum = 0, amount;
	char text[24];

	if (!dist__bytes_number(amount_text, &amount) ||
	    (dist__table_get(service->table, key, &value) &&
	     !dist__bytes_number(value, &sum)))
		return dist__service_reply(session, DIST_ERR_INVALID_ARGUMENT,
					   NULL);
	sum = (int64_t)((uint64_t)sum + (uint64_t)amount);
	snprintf(text, sizeof text, "%lld", (long long)sum);
	sum_text = (struct dist__bytes){(unsigned char *)text, strlen(text)};
	if (!dist__table_set(service->table, key, sum_text))
		return dist__service_reply(session, DIST_ERR_NO_MEMORY, NULL);
	service->changed = true;
	return dist__service_reply(session, DIST_OK, text);
}

bool dist__service_retry(struct dist__service *service,
			 struct dist__session *session)
{
	struct dist__parcel reply;
	struct dist__bytes key = {NULL, 0}, value;
	size_t offset = 0;

	if (!all_there(service, session))
		return true;
	dist__parcel_init(&reply, DIST_OK, 0);
	(void)dist__parcel_next(&session->request, &offset, &key);
	if (dist__parcel_code(&session->request) == DIST__STORE_GET &&
	    dist__table_get(service->table, key, &value))
		dist__parcel_add(&reply, value.data, value.len);
	return dist__session_reply(session, &reply);
}

/* ---- the rendezvous ----------------------------------------------------- */

static bool serve_join(struct dist__service *service,
		       struct dist__session *session)
{
	struct dist__bytes strings[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	char address[DIST__ADDRESS_TEXT], text[64];
	int64_t rank, world_size;
	size_t offset = 0;

	for (int i = 0; i < 3; i++)
		if (!dist__parcel_next(&session->request, &offset, &strings[i]))
			return false;
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
		return dist__service_reply(session, DIST__STORE_AGAIN, NULL);
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

	if (service->roster.failure[0]) {
		service->told++;
		return dist__service_reply(session, DIST_ERR_RENDEZVOUS,
					   service->roster.failure);
	}
	dist__parcel_init(&reply, DIST_OK, 0);
	dist__parcel_add_text(&reply, service->token);
	dist__roster_list(&service->roster, &reply);
	return dist__session_reply(session, &reply);
}

/* ---- requests ----------------------------------------------------------- */

static bool keys_fit(const struct dist__session *session)
{
	struct dist__bytes string;
	size_t offset = 0;
	int32_t op = dist__parcel_code(&session->request);
	bool one = op == DIST__STORE_SET || op == DIST__STORE_ADD;

	while (dist__parcel_next(&session->request, &offset, &string)) {
		if (string.len > DIST__STORE_MAX_KEY)
			return false;
		if (one)
			break;
	}
	return true;
}

bool dist__service_request(struct dist__service *service,
			   struct dist__session *session)
{
	static const int strings[] = {
		[DIST__STORE_SET] = 2,  [DIST__STORE_GET] = 1,
		[DIST__STORE_ADD] = 2,  [DIST__STORE_DELETE] = 1,
		[DIST__STORE_JOIN] = 3,
	};
	int32_t op = dist__parcel_code(&session->request);
	struct dist__bytes a = {NULL, 0}, b = {NULL, 0};
	size_t offset = 0;

	if (op < DIST__STORE_SET || op > DIST__STORE_JOIN ||
	    (strings[op] &&
	     dist__parcel_count(&session->request) != (uint32_t)strings[op]))
		return false;
	if (!keys_fit(session))
		return dist__service_reply(session, DIST_ERR_INVALID_ARGUMENT,
					   NULL);
	if (dist__parcel_next(&session->request, &offset, &a))
		(void)dist__parcel_next(&session->request, &offset, &b);
	session->waiting = true;
	session->deadline_ns =
		dist__clock_after(dist__parcel_timeout_ns(&session->request));
	switch ((enum dist__store_op)op) {
	case DIST__STORE_SET:
		return serve_set(service, session, a, b);
	case DIST__STORE_ADD:
		return serve_add(service, session, a, b);
	case DIST__STORE_GET:
	case DIST__STORE_WAIT:
		return dist__service_retry(service, session);
	case DIST__STORE_CHECK:
		return reply_number(session, all_there(service, session));
	case DIST__STORE_DELETE:
		return reply_number(session,
				    dist__table_delete(service->table, a));
	case DIST__STORE_NUM_KEYS:
		return reply_number(session,
				    (int64_t)dist__table_count(service->table));
	case DIST__STORE_JOIN:
		return serve_join(service, session);
	}
	return false;
}
