/* The file that a rank's events go to as they happen: what was added is there,
 * and whatever is done to its bytes, reading it makes nothing of it worse than
 * a trace with odd numbers. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/support/okay.h"
#include "trace/spill.h"
#include "trace/write.h"

enum { EVENTS = 3000 };

static char path[] = "/tmp/lockstep-spill-XXXXXX";

/* Adds events in two groups, some with a list of parts. */
static void spill_some(void)
{
	const struct dist__fact fact = {"backend", "tcp"};
	struct dist__track track = {.rank = 1, .world_size = 4, .name = "0"};
	struct dist__spill *spill = dist__spill_new(path, 4, 1);
	struct dist__splits splits = {2, 2, {1, 2}, {3, 4}};
	char label[16];

	cr_assert(spill);
	dist__spill_fact(spill, &fact);
	cr_assert_eq(dist__spill_track(spill, &track), 0);
	track.group_id = 7;
	cr_assert_eq(dist__spill_track(spill, &track), 1);
	for (int i = 0; i < EVENTS; i++) {
		struct dist__event event = {
			.issued_ns = 10 * i,
			.started_ns = 10 * i + 1,
			.ended_ns = 10 * i + 2,
			.kind = i % 5 ? DIST__ALL_REDUCE : DIST__EVENT_COMPUTE,
			.dtype = DIST_FLOAT32,
			.call = (uint32_t)i,
			.splits = i % 7 == 0 ? &splits : NULL,
		};

		snprintf(label, sizeof label, "layer %d", i % 10);
		event.name = label;
		dist__spill_event(spill, (uint32_t)i % 2, &event);
	}
	cr_assert_eq(dist__spill_close(spill), 0);
}

static void make_file(void)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	close(fd);
	spill_some();
}

static void remove_file(void)
{
	unlink(path);
}

TestSuite(trace_spill, .init = make_file, .fini = remove_file);

Test(trace_spill, keeps_what_was_added)
{
	struct dist__spilled spilled;
	size_t events = 0;

	okay(dist__spill_load(path, &spilled));
	cr_assert_eq(spilled.num_tracks, 2);
	cr_assert_eq(spilled.recording.world_size, 4);
	cr_assert_eq(spilled.recording.part, 1);
	cr_assert_eq(spilled.recording.num_facts, 1);
	cr_assert_str_eq(spilled.recording.facts[0].value, "tcp");
	for (int i = 0; i < 2; i++) {
		const struct dist__track *track = spilled.tracks[i];

		events += track->num_events;
		for (size_t k = 0; k < track->num_events; k++) {
			const struct dist__event *event = &track->events[k];
			char label[16];

			snprintf(label, sizeof label, "layer %u",
				 event->call % 10);
			cr_assert_str_eq(event->name, label);
			cr_assert_eq(event->issued_ns, 10 * event->call);
			cr_assert_eq(event->splits != NULL,
				     event->call % 7 == 0);
			if (event->splits)
				cr_assert_eq(event->splits->out[1], 4);
		}
	}
	cr_assert_eq(events, EVENTS);
	dist__spilled_release(&spilled);
}

Test(trace_spill, believes_nothing)
{
	static const size_t places[] = {64, 600, 4000, 300000};
	struct dist_message message;
	uint64_t state = 18;
	int fd = open(path, O_RDWR);

	cr_assert_geq(fd, 0);
	for (int i = 0; i < 60; i++) {
		struct dist__spilled spilled;

		for (int k = 0; k < 20; k++) {
			unsigned char byte =
				(unsigned char)dist__random_next(&state);
			off_t at =
				(off_t)(dist__random_next(&state) %
					places[dist__random_next(&state) % 4]);

			if (at >= 8) /* whose file it is stays */
				cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
		}
		okay(dist__spill_load(path, &spilled));
		okay_or(dist__trace_write(&spilled.recording, "/dev/null",
					  &message),
			message);
		dist__spilled_release(&spilled);
	}
	cr_assert_eq(ftruncate(fd, 100000), 0);
	close(fd);
}
