/* The arithmetic of a test bed's switch. */
#include <criterion/criterion.h>

#include "tests/support/switch_links.h"

#define MS    INT64_C(1000000)
#define NEVER (1000 * MS)

/* 8 Mbit/s: a byte takes a microsecond. ratio: leaves of two hosts have an
 * uplink of so much less than these; 0: a star. */
static struct test_bed slow(int hosts, double ratio)
{
	return (struct test_bed){.hosts = hosts,
				 .host_Bps = 1e6,
				 .slow_factor = 1,
				 .leaf_hosts = ratio > 0 ? 2 : 0,
				 .uplink_Bps = ratio > 0 ? 2e6 / ratio : 1e6};
}

/* Lets a frame pass that meets no other on its way; when it is through, -1: it
 * is dropped. */
static int64_t pass_alone(struct switch_links *links, int from, int to,
			  size_t bytes, int64_t now_ns, int64_t backlog_ns)
{
	struct switch_passage frame = {
		.from = from, .to = to, .bytes = bytes, .head_ns = now_ns};

	while (!frame.is_through)
		if (!switch_links_pass(links, &frame, backlog_ns))
			return -1;
	return frame.tail_ns;
}

Test(switch_links, a_slow_host_sends_and_takes_at_its_share)
{
	struct test_bed bed = slow(4, 0);
	struct switch_links links;

	bed.slow_host = 3;
	bed.slow_factor = 0.5;
	switch_links_init(&links, &bed);
	cr_assert_eq(pass_alone(&links, 0, 1, 1000, 0, NEVER), MS);
	cr_assert_eq(pass_alone(&links, 2, 3, 1000, 0, NEVER), 2 * MS);
	cr_assert_eq(pass_alone(&links, 3, 0, 1000, 0, NEVER), 2 * MS);
}

Test(switch_links, a_frame_alone_is_serialised_once)
{
	struct test_bed bed = slow(4, 1);
	struct switch_links links;

	bed.delay_ns = 5 * MS;
	switch_links_init(&links, &bed);
	cr_assert_eq(pass_alone(&links, 0, 3, 1000, 2 * MS, NEVER),
		     2 * MS + MS + 5 * MS);
}

Test(switch_links, senders_share_the_link_of_their_receiver)
{
	struct test_bed bed = slow(3, 0);
	struct switch_links links;
	int64_t last_ns = 0;

	switch_links_init(&links, &bed);
	for (int i = 0; i < 20; i++)
		last_ns = pass_alone(&links, i % 2, 2, 1000, 0, NEVER);
	cr_assert_eq(last_ns, 20 * MS);
	/* The other way is free. */
	cr_assert_eq(pass_alone(&links, 2, 0, 1000, 0, NEVER), MS);
}

/* Two hosts of one leaf, at half a host's link for both: four times as long. */
Test(switch_links, leaves_share_an_uplink)
{
	struct test_bed bed = slow(4, 4);
	struct switch_links links;
	int64_t last_ns = 0;

	switch_links_init(&links, &bed);
	for (int i = 0; i < 20; i++)
		last_ns = pass_alone(&links, i % 2, 2 + i % 2, 1000, 0, NEVER);
	cr_assert_eq(last_ns, 40 * MS);
	switch_links_init(&links, &bed);
	for (int i = 0; i < 20; i++)
		last_ns = pass_alone(&links, 0, 1, 1000, 0, NEVER);
	cr_assert_eq(last_ns, 20 * MS, "inside a leaf it is not felt");
}

/* Each of two hosts brings a frame a millisecond, the third one takes one: once
 * five wait, every other is too many. */
Test(switch_links, a_full_switch_drops)
{
	struct test_bed bed = slow(3, 0);
	struct switch_links links;
	int dropped = 0;

	switch_links_init(&links, &bed);
	for (int i = 0; i < 20; i++)
		dropped += pass_alone(&links, i % 2, 2, 1000, 0, 5 * MS) < 0;
	cr_assert_eq(dropped, 5);
}

/* What waits for its own host's link keeps nobody's place on another. */
Test(switch_links, a_frame_to_come_keeps_no_place)
{
	struct test_bed bed = slow(3, 0);
	struct switch_passage late = {.from = 2, .to = 1, .bytes = 1000};
	struct switch_links links;

	switch_links_init(&links, &bed);
	for (int i = 0; i < 10; i++)
		(void)pass_alone(&links, 2, 0, 1000, 0, NEVER);
	cr_assert(switch_links_pass(&links, &late, NEVER));
	cr_assert_eq(late.head_ns, 10 * MS);
	cr_assert_eq(pass_alone(&links, 0, 1, 1000, 0, NEVER), MS);
	cr_assert(switch_links_pass(&links, &late, NEVER));
	cr_assert_eq(late.tail_ns, 11 * MS);
}
