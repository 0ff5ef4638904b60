/*
 * switch.c - the switch of a test bed (tools/testbed.sh): a process that
 * forwards frames between the TAP devices net0 of the hosts' namespaces.
 *
 *	switch NAME HOSTS BIT/S DELAY_US SLOW_HOST FACTOR LEAF_HOSTS
 *UPLINK_BIT/S
 *
 * returns once the devices are there, and leaves a process that forwards until
 * it is killed. Host i is /run/netns/lockstep-NAME-<i>; the process stays in
 * lockstep-NAME-net.
 *
 * Frames wait in a heap until switch_links.c says that they come to their next
 * link or are through. A host
 * whose link is taken for longer than SHORT_NS is not read from meanwhile: its
 * frames wait in its own queue, as they would at a network card.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): setns, ppoll */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/heap.h"
#include "tests/support/switch_links.h"

/* So that a link does not stand idle while we are late on a busy machine. */
#define SHORT_NS   2000000
#define BACKLOG_NS 20000000 /* a switch's buffer, as time on its link */
#define FRAME      65600    /* most bytes */
#define BURST      16       /* frames read from one host in a row */

/* Hosts are told by their hardware address. */
static const unsigned char prefix[5] = {2, 0x77, 0, 0, 0};

struct frame {
	int64_t at_ns;   /* when it comes to its next link, or is through */
	uint64_t number; /* of two at one time the first goes first */
	struct switch_passage passage;
	unsigned char data[];
};

struct relay {
	struct test_bed bed;
	struct switch_links links;
	int taps[SWITCH_HOSTS];
	struct frame **heap; /* the earliest first */
	size_t num, space;
	uint64_t frames;
	unsigned char buffer[FRAME];
};

/* ---- frames that wait --------------------------------------------------- */

#define IS_BEFORE(a, b)                                                        \
	((a)->at_ns < (b)->at_ns ||                                            \
	 ((a)->at_ns == (b)->at_ns && (a)->number < (b)->number))

DIST__HEAP(frames, struct frame *, 2, IS_BEFORE, DIST__HEAP_PUT)

static bool push(struct relay *relay, struct frame *frame)
{
	if (relay->num == relay->space) {
		size_t space = relay->space ? 2 * relay->space : 256;
		struct frame **heap =
			realloc(relay->heap, space * sizeof(struct frame *));

		if (!heap)
			return false;
		relay->heap = heap;
		relay->space = space;
	}
	frames_rise(relay->heap, relay->num++, frame);
	return true;
}

/* ---- carrying ------------------------------------------------------------ */

/* Lets the next link take frame on, and keeps it until it is over that; owns
 * it. */
static void pass(struct relay *relay, struct frame *frame)
{
	struct switch_passage *p = &frame->passage;

	if (switch_links_pass(&relay->links, p, BACKLOG_NS)) {
		frame->at_ns = p->is_through ? p->tail_ns : p->head_ns;
		if (push(relay, frame))
			return;
	}
	free(frame);
}

static void forward(struct relay *relay, int from, int to, size_t bytes)
{
	struct frame *frame = malloc(sizeof *frame + bytes);

	if (!frame)
		return;
	frame->number = relay->frames++;
	frame->passage = (struct switch_passage){.from = from,
						 .to = to,
						 .bytes = bytes,
						 .head_ns = dist__clock_ns()};
	memcpy(frame->data, relay->buffer, bytes);
	pass(relay, frame);
}

/* Reads a frame of host `from`; false: there is none. */
static bool take(struct relay *relay, int from)
{
	const unsigned char *address = relay->buffer;
	ssize_t bytes = read(relay->taps[from], relay->buffer, FRAME);
	int to;

	if (bytes < 14)
		return false;
	if (address[0] & 1) {
		for (to = 0; to < relay->bed.hosts; to++)
			if (to != from)
				forward(relay, from, to, (size_t)bytes);
		return true;
	}
	to = address[5] - 1;
	if (memcmp(address, prefix, sizeof prefix) == 0 && to >= 0 &&
	    to < relay->bed.hosts && to != from)
		forward(relay, from, to, (size_t)bytes);
	return true;
}

/* Hands a frame over. A device that is down or full loses it, as a card would.
 */
static void deliver(struct relay *relay, struct frame *frame)
{
	if (write(relay->taps[frame->passage.to], frame->data,
		  frame->passage.bytes) < 0)
		relay->frames++;
	free(frame);
}

/* Moves what is due; returns when the next frame is, -1: there is none. */
static int64_t move(struct relay *relay)
{
	int64_t at_ns = dist__clock_ns();

	while (relay->num > 0 && relay->heap[0]->at_ns <= at_ns) {
		struct frame *frame = frames_pop(relay->heap, relay->num--);

		if (frame->passage.is_through)
			deliver(relay, frame);
		else
			pass(relay, frame);
	}
	return relay->num > 0 ? relay->heap[0]->at_ns : -1;
}

static void wait_for(struct relay *relay, struct pollfd *polls, int64_t next_ns)
{
	int64_t at_ns = dist__clock_ns(), left_ns;
	struct timespec left;

	for (int i = 0; i < relay->bed.hosts; i++) {
		int64_t free_ns = relay->links.up[i].free_ns - SHORT_NS / 2;
		bool busy = free_ns > at_ns + SHORT_NS / 2;

		polls[i] = (struct pollfd){.fd = relay->taps[i],
					   .events = busy ? 0 : POLLIN};
		if (busy && (next_ns < 0 || free_ns < next_ns))
			next_ns = free_ns;
	}
	left_ns = next_ns > at_ns ? next_ns - at_ns : 0;
	left.tv_sec = (time_t)(left_ns / 1000000000);
	left.tv_nsec = (long)(left_ns % 1000000000);
	(void)ppoll(polls, (nfds_t)relay->bed.hosts, next_ns < 0 ? NULL : &left,
		    NULL);
}

__attribute__((noreturn)) static void carry(struct relay *relay)
{
	struct pollfd polls[SWITCH_HOSTS];

	for (;;) {
		wait_for(relay, polls, move(relay));
		for (int i = 0; i < relay->bed.hosts; i++)
			for (int n = 0; n < BURST; n++)
				if (!(polls[i].revents & POLLIN) ||
				    !take(relay, i))
					break;
	}
}

/* ---- starting ------------------------------------------------------------ */

__attribute__((noreturn)) static void give_up(const char *what)
{
	fprintf(stderr, "switch: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void enter(const char *name, const char *host)
{
	char path[128];
	int space;

	snprintf(path, sizeof path, "/run/netns/lockstep-%s-%s", name, host);
	space = open(path, O_RDONLY | O_CLOEXEC);
	if (space < 0 || setns(space, CLONE_NEWNET) != 0)
		give_up(path);
	close(space);
}

/* Makes net0 in host i's namespace. */
static int open_tap(const char *name, int i)
{
	struct ifreq request = {.ifr_name = "net0"};
	char host[16];
	int tap;

	snprintf(host, sizeof host, "%d", i);
	enter(name, host);
	tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	request.ifr_flags = IFF_TAP | IFF_NO_PI;
	if (tap < 0 || ioctl(tap, TUNSETIFF, &request) != 0)
		give_up("cannot make a TAP device");
	request.ifr_hwaddr.sa_family = 1; /* Ethernet */
	memcpy(request.ifr_hwaddr.sa_data, prefix, sizeof prefix);
	request.ifr_hwaddr.sa_data[5] = (char)(i + 1);
	if (ioctl(tap, SIOCSIFHWADDR, &request) != 0)
		give_up("cannot name a TAP device");
	return tap;
}

int main(int argc, char **argv)
{
	/* Hardware does not wait for a processor that the hosts keep busy. */
	const struct sched_param first = {.sched_priority = 1};
	struct relay *relay;

	if (argc != 9 || atoi(argv[2]) > SWITCH_HOSTS)
		return 2;
	relay = calloc(1, sizeof *relay);
	if (!relay)
		return 2;
	relay->bed = (struct test_bed){
		.hosts = atoi(argv[2]),
		.host_Bps = atof(argv[3]) / 8,
		.delay_ns = (int64_t)(atof(argv[4]) * 1e3),
		.slow_host = atoi(argv[5]),
		.slow_factor = atof(argv[6]),
		.leaf_hosts = atoi(argv[7]),
		.uplink_Bps = atof(argv[8]) / 8,
	};
	switch_links_init(&relay->links, &relay->bed);
	for (int i = 0; i < relay->bed.hosts; i++)
		relay->taps[i] = open_tap(argv[1], i);
	enter(argv[1], "net");
	/* Nobody waits for the end of its output. */
	if (daemon(1, 0) != 0)
		give_up("cannot fork");
	(void)prctl(PR_SET_TIMERSLACK, 1000UL);
	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	carry(relay);
}
