/* Test beds: their words, and the arithmetic of the switch that is a process.
 * What needs privilege is in tests/cli/testbed.sh. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/testbed/links.h"

#define MS    INT64_C(1000000)
#define NEVER (1000 * MS)

/* 8 Mbit/s: a byte takes a microsecond. */
static struct testbed slow(int hosts, const char *topology)
{
	struct dist_message message;
	struct testbed testbed;

	testbed_init(&testbed);
	testbed.hosts = hosts;
	cr_assert_eq(testbed_read_bandwidth("8mbit", &testbed, &message),
		     DIST_OK);
	cr_assert_eq(testbed_read_topology(topology, &testbed, &message),
		     DIST_OK);
	return testbed;
}

Test(testbed, words_are_read_or_refused_with_what_is_legal)
{
	static const struct {
		enum dist_error (*read)(const char *, struct testbed *,
					struct dist_message *);
		const char *good, *bad, *expected;
	} cases[] = {
		{testbed_read_name, "bed2", "my bed", "small letters"},
		{testbed_read_name, "a", "", "1 to 15"},
		{testbed_read_bandwidth, "1.5gbit", "1.5", "1mbit to 100gbit"},
		{testbed_read_bandwidth, "10mbit", "0gbit", "1mbit to 100gbit"},
		{testbed_read_bandwidth, "100gbit", "1tbit", "as tc writes"},
		{testbed_read_delay, "0.2ms", "0.2", "0us to 1s"},
		{testbed_read_delay, "0us", "-1ms", "0us to 1s"},
		{testbed_read_topology, "tree", "ring", "star, tree"},
		{testbed_read_topology, "oversubscribed:4", "oversubscribed:0",
		 "1 to 64"},
		{testbed_read_slow, "1:0.5", "1:2", "0.01 to 1"},
		{testbed_read_slow, "0:1", "1", "HOST:FACTOR"},
		{testbed_read_switch, "user", "us", "auto, kernel or user"},
	};
	struct dist_message message;
	struct testbed testbed;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		testbed_init(&testbed);
		cr_assert_eq(cases[i].read(cases[i].good, &testbed, &message),
			     DIST_OK, "%s", cases[i].good);
		cr_assert_eq(cases[i].read(cases[i].bad, &testbed, &message),
			     DIST_ERR_INVALID_ARGUMENT, "%s", cases[i].bad);
		cr_assert(strstr(message.text, cases[i].expected), "%s",
			  message.text);
	}
	testbed_init(&testbed);
	testbed.hosts = 1;
	cr_assert_eq(testbed_check(&testbed, &message),
		     DIST_ERR_INVALID_ARGUMENT);
}

/* Lets a frame pass that meets no other on its way; when it is through, -1: it
 * is dropped. */
static int64_t pass_alone(struct testbed_links *links, int from, int to,
			  size_t bytes, int64_t now_ns, int64_t backlog_ns)
{
	struct testbed_passage frame = {
		.from = from, .to = to, .bytes = bytes, .head_ns = now_ns};

	while (!frame.is_through)
		if (!testbed_links_pass(links, &frame, backlog_ns))
			return -1;
	return frame.tail_ns;
}

Test(testbed, a_slow_host_sends_and_takes_at_its_share)
{
	struct testbed testbed = slow(4, "star");
	struct dist_message message;
	struct testbed_links links;

	cr_assert_eq(testbed_read_slow("3:0.5", &testbed, &message), DIST_OK);
	cr_assert_eq(testbed_check(&testbed, &message), DIST_OK);
	testbed_links_init(&links, &testbed);
	cr_assert_eq(pass_alone(&links, 0, 1, 1000, 0, NEVER), MS);
	cr_assert_eq(pass_alone(&links, 2, 3, 1000, 0, NEVER), 2 * MS);
	cr_assert_eq(pass_alone(&links, 3, 0, 1000, 0, NEVER), 2 * MS);
	testbed.hosts = 3;
	cr_assert_eq(testbed_check(&testbed, &message),
		     DIST_ERR_INVALID_ARGUMENT);
}

Test(testbed, a_frame_alone_is_serialised_once)
{
	struct testbed testbed = slow(4, "oversubscribed:1");
	struct testbed_links links;

	testbed.delay_ns = 5 * MS;
	testbed_links_init(&links, &testbed);
	cr_assert_eq(pass_alone(&links, 0, 3, 1000, 2 * MS, NEVER),
		     2 * MS + MS + 5 * MS);
}

Test(testbed, senders_share_the_link_of_their_receiver)
{
	struct testbed testbed = slow(3, "star");
	struct testbed_links links;
	int64_t last_ns = 0;

	testbed_links_init(&links, &testbed);
	for (int i = 0; i < 20; i++)
		last_ns = pass_alone(&links, i % 2, 2, 1000, 0, NEVER);
	cr_assert_eq(last_ns, 20 * MS);
	/* The other way is free. */
	cr_assert_eq(pass_alone(&links, 2, 0, 1000, 0, NEVER), MS);
}

/* Two hosts of one leaf, at half a host's link for both: four times as long. */
Test(testbed, leaves_share_an_uplink)
{
	struct testbed testbed = slow(4, "oversubscribed:4");
	struct testbed_links links;
	int64_t last_ns = 0;

	testbed_links_init(&links, &testbed);
	for (int i = 0; i < 20; i++)
		last_ns = pass_alone(&links, i % 2, 2 + i % 2, 1000, 0, NEVER);
	cr_assert_eq(last_ns, 40 * MS);
	testbed_links_init(&links, &testbed);
	for (int i = 0; i < 20; i++)
		last_ns = pass_alone(&links, 0, 1, 1000, 0, NEVER);
	cr_assert_eq(last_ns, 20 * MS, "inside a leaf it is not felt");
}

/* Each of two hosts brings a frame a millisecond, the third one takes one: once
 * five wait, every other is too many. */
Test(testbed, a_full_switch_drops)
{
	struct testbed testbed = slow(3, "star");
	struct testbed_links links;
	int dropped = 0;

	testbed_links_init(&links, &testbed);
	for (int i = 0; i < 20; i++)
		dropped += pass_alone(&links, i % 2, 2, 1000, 0, 5 * MS) < 0;
	cr_assert_eq(dropped, 5);
}

/* What waits for its own host's link keeps nobody's place on another. */
Test(testbed, a_frame_to_come_keeps_no_place)
{
	struct testbed testbed = slow(3, "star");
	struct testbed_passage late = {.from = 2, .to = 1, .bytes = 1000};
	struct testbed_links links;

	testbed_links_init(&links, &testbed);
	for (int i = 0; i < 10; i++)
		(void)pass_alone(&links, 2, 0, 1000, 0, NEVER);
	cr_assert(testbed_links_pass(&links, &late, NEVER));
	cr_assert_eq(late.head_ns, 10 * MS);
	cr_assert_eq(pass_alone(&links, 0, 1, 1000, 0, NEVER), MS);
	cr_assert(testbed_links_pass(&links, &late, NEVER));
	cr_assert_eq(late.tail_ns, 11 * MS);
}
