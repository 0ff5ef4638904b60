#include "tests/support/stranger.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "realbackend/store/store_client.h"
#include "base/random.h"
#include "tests/support/tcp_world.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const keys[] = {
	"orders",   "arrivals",      "looks",    "run",      "report/1",
	"1/report", "2/report",      "1/slot/1", "1/look/1", "slot/0/1",
	"look/1/1", "2147483647/x",  "-1/x",     "",         "\033[2J",
	"1/",       "lockstep/jobs", "0/report", "1/slot/0", "k"};

static const char *const values[] = {
	"",
	"0",
	"1",
	"-1",
	"2147483647",
	"9223372036854775807",
	"-9223372036854775808",
	"2 0 0 ",
	"2 0 0 \033]0;owned\007",
	"0 0 0 ",
	"1 0 0 127.0.0.1 1 1 1 1 r",
	"1 7 0 127.0.0.1 1 4096 0 2147483647 r 1 2147483647 r",
	"1 0 0 127.0.0.1 99999999 2 0 0 r 1 0 r",
	"9 3 0 1 1 1 1 \033[2J \033[2J 3 99999999 1 \033[2J",
	"9 1 1 0 2147483647 1 1 r h 0 0 0 ",
	"9 2 0 0 1 1 1 r h 3 -5 1 x",
	"none",
	"\xff\xfe\xfd"};

/* A request, right or wrong; JOIN aside, which would be a rank's. */
static void compose(uint64_t *state, struct dist__parcel *parcel)
{
	static unsigned char junk[3000];
	int32_t op =
		(int32_t)(dist__random_next(state) % (DIST__STORE_ENROL + 2));
	int strings = (int)(dist__random_next(state) % 4);

	if (op == DIST__STORE_JOIN)
		op = DIST__STORE_SET;
	if (op == DIST__STORE_SET || op == DIST__STORE_ADD ||
	    op == DIST__STORE_ENROL)
		strings = 2;
	if (op == DIST__STORE_GET || op == DIST__STORE_DELETE)
		strings = 1;
	for (size_t i = 0; i < sizeof junk; i += 16)
		junk[i] = (unsigned char)dist__random_next(state);
	dist__parcel_init(parcel, op,
			  (int64_t)(dist__random_next(state) % 2000000));
	for (int i = 0; i < strings; i++) {
		if (dist__random_next(state) % 8 == 0)
			dist__parcel_add(parcel, junk,
					 dist__random_next(state) %
						 sizeof junk);
		else if (i == 0)
			dist__parcel_add_text(
				parcel,
				keys[dist__random_next(state) % COUNT(keys)]);
		else
			dist__parcel_add_text(parcel,
					      values[dist__random_next(state) %
						     COUNT(values)]);
	}
	if (dist__random_next(state) % 8 == 0)
		parcel->data[dist__random_next(state) % parcel->len] =
			(unsigned char)dist__random_next(state);
	if (dist__random_next(state) % 16 == 0)
		parcel->len -= dist__random_next(state) % parcel->len;
}

/* Says it and waits a moment; whether something came back. */
static bool ask(int fd, const struct dist__parcel *parcel)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	char answer[4096];

	return send(fd, parcel->data, parcel->len, MSG_NOSIGNAL) > 0 &&
	       poll(&polled, 1, 20) > 0 &&
	       recv(fd, answer, sizeof answer, MSG_DONTWAIT) > 0;
}

int stranger_talk(uint64_t *state, int port, const char *run)
{
	struct dist__parcel parcel;
	int fd = tcp_dial(port), answers = 0;
	int requests = 1 + (int)(dist__random_next(state) % 6);
	bool going = fd >= 0;

	if (going && run && dist__random_next(state) % 2) {
		dist__parcel_init(&parcel, DIST__STORE_ENROL, 0);
		dist__parcel_add_text(&parcel, run);
		dist__parcel_add_text(
			&parcel,
			values[dist__random_next(state) % COUNT(values)]);
		going = ask(fd, &parcel);
		answers += going;
		dist__parcel_release(&parcel);
	}
	for (int i = 0; i < requests && going; i++) {
		compose(state, &parcel);
		going = ask(fd, &parcel);
		answers += going;
		dist__parcel_release(&parcel);
	}
	if (fd >= 0)
		close(fd);
	return answers;
}
