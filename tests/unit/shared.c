/* Memory that two ranks of one machine share: what comes out is what went in,
 * the bell rings for who asked for it, and nothing else is taken for ours. */
#include <criterion/criterion.h>

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realbackend/wire/shared.h"

/* More than goes into a ring at once, and no multiple of a piece. */
#define STREAM_BYTES ((size_t)1000003)
#define PIECE        (16 << 10) /* told of, or waited for */

struct pair {
	int bells[2];
	struct dist__shared *sides[2];
};

static void open_pair(struct pair *pair, bool crowded)
{
	struct dist__shared_offer offer;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair->bells), 0);
	pair->sides[0] = dist__shared_new(pair->bells[0], crowded, &offer);
	cr_assert(pair->sides[0]);
	pair->sides[1] = dist__shared_open(pair->bells[1], crowded, &offer);
	cr_assert(pair->sides[1]);
	dist__shared_settled(pair->sides[0]);
}

static void close_pair(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		dist__shared_free(pair->sides[i]);
		close(pair->bells[i]);
	}
}

static struct pair pair; /* of each test */

static void open_it(void)
{
	open_pair(&pair, false);
}

static void close_it(void)
{
	close_pair(&pair);
}

TestSuite(shared, .init = open_it, .fini = close_it);

/* How often the bell of side i has rung since the last look. */
static int rings(int i)
{
	char bytes[16];
	ssize_t n = recv(pair.bells[i], bytes, sizeof bytes, MSG_DONTWAIT);

	return n > 0 ? (int)n : 0;
}

static size_t put(struct dist__shared *side, const char *data, size_t len)
{
	const struct iovec part = {(void *)data, len};

	return dist__shared_put(side, &part, 1);
}

static ssize_t take(struct dist__shared *side, char *data, size_t len)
{
	const struct iovec part = {data, len};

	return dist__shared_take(side, &part, 1);
}

static char byte_of(size_t i)
{
	return (char)(i * 2654435761U >> 13);
}

/* Puts bytes in one place, if there is one: a few into a line. */
static size_t put_at_once(struct dist__shared *side, const char *data,
			  size_t len)
{
	unsigned char *place = dist__shared_place(side, len);

	if (!place)
		return put(side, data, len);
	memcpy(place, data, len);
	dist__shared_placed(side, len);
	return len;
}

/* The other process: writes the stream in writes of growing length up to most,
 * every third by a list. */
static void write_stream(struct dist__shared *side, size_t most)
{
	static char data[STREAM_BYTES];
	size_t done = 0, len = 1;

	alarm(60); /* should nobody read any more */
	for (size_t i = 0; i < STREAM_BYTES; i++)
		data[i] = byte_of(i);
	for (; done < STREAM_BYTES; len = len * 3 % most + 1) {
		if (len > STREAM_BYTES - done)
			len = STREAM_BYTES - done;
		done += len % 3 ? put_at_once(side, data + done, len)
				: put(side, data + done, len);
	}
	_exit(0);
}

/* Takes some of the stream, the bytes from done on, each time another way. */
static size_t read_some(struct dist__shared *side, size_t done, unsigned turn)
{
	const unsigned char *bytes;
	char data[4099];
	size_t n;

	if (turn % 5 == 0) {
		ssize_t taken = take(side, data, turn % sizeof data + 1);

		cr_assert_geq(taken, 0);
		bytes = (const unsigned char *)data;
		n = (size_t)taken;
	} else {
		n = dist__shared_peek(side, &bytes);
		if (n > 1 && turn % 2)
			n /= 2; /* the rest stays for the next look */
	}
	for (size_t i = 0; i < n; i++)
		cr_assert_eq((char)bytes[i], byte_of(done + i),
			     "byte %zu of the stream", done + i);
	if (turn % 5 > 0)
		dist__shared_skip(side, n);
	return n;
}

static void stream_through(size_t most)
{
	struct pair two;
	unsigned turn = 0;
	size_t done = 0;
	int status;
	pid_t pid;

	open_pair(&two, false);
	cr_assert_eq(read_some(two.sides[0], 0, 1), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		write_stream(two.sides[1], most);
	while (done < STREAM_BYTES)
		done += read_some(two.sides[0], done, turn++);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_not(dist__shared_has(two.sides[0]));
	close_pair(&two);
}

Test(shared, bytes_come_out_as_they_went_in)
{
	stream_through(70001);
	stream_through(61);
	stream_through(131);
}

Test(shared, what_lies_in_a_line_is_of_one_message)
{
	const unsigned char *bytes;

	cr_assert_eq(put_at_once(pair.sides[0], "abc", 3), 3);
	cr_assert_eq(dist__shared_peek(pair.sides[1], &bytes), 3);
	cr_assert_arr_eq(bytes, "abc", 3);
	cr_assert_eq(put_at_once(pair.sides[0], "defgh", 5), 5);
	cr_assert_eq(dist__shared_peek(pair.sides[1], &bytes), 3,
		     "more is looked for when this is taken");
	cr_assert_arr_eq(bytes, "abc", 3);
	dist__shared_skip(pair.sides[1], 1);
	cr_assert_eq(dist__shared_peek(pair.sides[1], &bytes), 2);
	cr_assert_arr_eq(bytes, "bc", 2);
	dist__shared_skip(pair.sides[1], 2);
	cr_assert_eq(dist__shared_peek(pair.sides[1], &bytes), 5);
	cr_assert_arr_eq(bytes, "defgh", 5);
	cr_assert_eq(put(pair.sides[0], "i", 1), 1);
	dist__shared_skip(pair.sides[1], 5);
	cr_assert_eq(dist__shared_peek(pair.sides[1], &bytes), 1);
	cr_assert_arr_eq(bytes, "i", 1);
}

/* How many bytes are found when two messages of len lie there. */
static size_t found_of_two(bool crowded, size_t len)
{
	static const char data[256];
	const unsigned char *bytes;
	struct pair two;
	size_t found;

	open_pair(&two, crowded);
	cr_assert_eq(put_at_once(two.sides[0], data, len), len);
	cr_assert_eq(put_at_once(two.sides[0], data, len), len);
	found = dist__shared_peek(two.sides[1], &bytes);
	close_pair(&two);
	return found;
}

Test(shared, what_takes_two_lines_is_packed_in_a_crowd)
{
	cr_expect_eq(found_of_two(false, 56), 56);
	cr_expect_eq(found_of_two(true, 56), 56);
	cr_expect_eq(found_of_two(false, 57), 57);
	cr_expect_eq(found_of_two(true, 57), 114);
	cr_expect_eq(found_of_two(false, 120), 120);
	cr_expect_eq(found_of_two(false, 121), 242);
}

Test(shared, lines_and_other_bytes_come_in_their_order)
{
	const unsigned char *bytes;
	char data[8] = "";

	cr_assert_eq(put(pair.sides[0], "a", 1), 1);
	cr_assert_eq(put_at_once(pair.sides[0], "bcd", 3), 3);
	cr_assert_eq(put(pair.sides[0], "e", 1), 1);
	cr_assert_eq(put_at_once(pair.sides[0], "f", 1), 1);
	cr_assert_eq(dist__shared_peek(pair.sides[1], &bytes), 1);
	cr_assert_arr_eq(bytes, "a", 1);
	cr_assert_eq(take(pair.sides[1], data, 3), 3, "half of the line");
	cr_assert_eq(dist__shared_peek(pair.sides[1], &bytes), 1);
	cr_assert_arr_eq(bytes, "d", 1);
	cr_assert_eq(take(pair.sides[1], data + 3, 5), 3);
	cr_assert_str_eq(data, "abcdef");
	cr_assert_not(dist__shared_has(pair.sides[1]));
}

Test(shared, goes_on_without_lines)
{
	char data[3000];

	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof data; i++) {
			const char byte = byte_of(i + round);

			cr_assert_eq(put_at_once(pair.sides[0], &byte, 1), 1);
		}
		cr_assert_eq(take(pair.sides[1], data, sizeof data),
			     sizeof data);
		for (size_t i = 0; i < sizeof data; i++)
			cr_assert_eq(data[i], byte_of(i + round));
	}
}

Test(shared, parts_are_gathered_and_scattered)
{
	char head[3], tail[9] = "";
	char text[] = "abcdefg";
	const struct iovec out[] = {{text, 2}, {text, 0}, {text + 2, 5}};
	const struct iovec in[] = {{head, sizeof head}, {tail, sizeof tail}};

	cr_assert_eq(dist__shared_put(pair.sides[0], out, 3), 7);
	cr_assert_eq(dist__shared_take(pair.sides[1], in, 2), 7);
	cr_assert_eq(memcmp(head, "abc", 3), 0);
	cr_assert_str_eq(tail, "defg");
}

Test(shared, rings_once_for_who_sleeps)
{
	char data[8];

	cr_assert_eq(put(pair.sides[0], "x", 1), 1);
	cr_assert_eq(rings(1), 0, "nobody asked");
	dist__shared_sleep(pair.sides[1]);
	cr_assert(dist__shared_has(pair.sides[1]), "came before");
	cr_assert_eq(put(pair.sides[0], "y", 1), 1);
	cr_assert_eq(put(pair.sides[0], "z", 1), 1);
	cr_assert_eq(rings(1), 1);
	dist__shared_sleep(pair.sides[1]);
	dist__shared_wake(pair.sides[1]);
	cr_assert_eq(put(pair.sides[0], "!", 1), 1);
	cr_assert_eq(rings(1), 0, "awake again");
	cr_assert_eq(take(pair.sides[1], data, sizeof data), 4);
	cr_assert_eq(memcmp(data, "xyz!", 4), 0);
}

Test(shared, rings_when_there_is_room_again)
{
	static char data[STREAM_BYTES];
	size_t held;

	held = put(pair.sides[0], data, sizeof data);
	cr_assert_lt(held, sizeof data);
	cr_assert_not(dist__shared_has_room(pair.sides[0]));
	dist__shared_sleep(pair.sides[0]);
	cr_assert_eq(take(pair.sides[1], data, PIECE - 1), PIECE - 1);
	cr_assert_eq(rings(0), 0, "not worth it");
	cr_assert_not(dist__shared_has_room(pair.sides[0]));
	cr_assert_eq(take(pair.sides[1], data, 1), 1);
	cr_assert_eq(rings(0), 1);
	cr_assert(dist__shared_has_room(pair.sides[0]));
	cr_assert_eq(put(pair.sides[0], data, 1), 1, "no more than that");
	dist__shared_sleep(pair.sides[0]);
	cr_assert_eq(take(pair.sides[1], data, PIECE), PIECE);
	cr_assert_eq(rings(0), 0, "there is nothing to write");
}

Test(shared, puts_a_few_bytes_as_a_whole)
{
	static char data[STREAM_BYTES];
	size_t held;

	held = put(pair.sides[0], data, sizeof data);
	cr_assert_eq(take(pair.sides[1], data, PIECE), PIECE);
	cr_assert_eq(put(pair.sides[0], data, PIECE - 100), PIECE - 100);
	cr_assert_eq(put(pair.sides[0], data, 101), 0);
	cr_assert_eq(put(pair.sides[0], data, 100), 100);
	cr_assert_eq(put(pair.sides[0], data, 1), 0);
	cr_assert_eq(take(pair.sides[1], data, sizeof data), (ssize_t)held);
	cr_assert_eq(put(pair.sides[0], data, PIECE), PIECE);
}

Test(shared, has_room_for_who_is_read)
{
	char data[100] = "";

	for (size_t done = 0; done < STREAM_BYTES; done += sizeof data) {
		cr_assert_eq(put(pair.sides[0], data, sizeof data),
			     sizeof data);
		cr_assert_eq(take(pair.sides[1], data, sizeof data),
			     (ssize_t)sizeof data);
	}
	cr_assert_eq(rings(0), 0);
}

Test(shared, lent_memory_is_read_until_it_is_recalled)
{
	char here[] = "what was lent", there[sizeof here] = "";

	cr_assert(dist__shared_lends(pair.sides[0]));
	cr_assert(dist__shared_lends(pair.sides[1]));
	cr_assert(dist__shared_read(pair.sides[1], there,
				    (uint64_t)(uintptr_t)here, sizeof here));
	cr_assert_str_eq(there, "what was lent");
	cr_assert_not(dist__shared_read(pair.sides[1], there, 1, sizeof there),
		      "nothing is there");
	dist__shared_recall(pair.sides[0]);
	cr_assert_not(dist__shared_read(
		pair.sides[1], there, (uint64_t)(uintptr_t)here, sizeof here));
	cr_assert(dist__shared_read(pair.sides[0], there,
				    (uint64_t)(uintptr_t)here, sizeof here),
		  "the other direction");
}

Test(shared, refuses_what_was_not_offered)
{
	struct dist__shared_offer offer, wrong;
	struct dist__shared *made = dist__shared_new(-1, false, &offer);

	cr_assert(made);
	cr_assert_eq(offer.pid, (uint32_t)getpid());
	wrong = offer;
	wrong.nonce ^= 1;
	cr_assert_null(dist__shared_open(-1, false, &wrong),
		       "another's memory");
	wrong = offer;
	wrong.pid = 0;
	cr_assert_null(dist__shared_open(-1, false, &wrong), "no offer");
	wrong = offer;
	wrong.fd = STDIN_FILENO;
	cr_assert_null(dist__shared_open(-1, false, &wrong), "no memory");
	dist__shared_settled(made);
	cr_assert_null(dist__shared_open(-1, false, &offer), "settled");
	dist__shared_free(made);
	dist__shared_free(NULL);
}
