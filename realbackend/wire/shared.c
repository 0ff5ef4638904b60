#define _GNU_SOURCE /* process_vm_readv, syscall */
#include "realbackend/wire/shared.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "realbackend/wire/memory_file.h"
#include "realbackend/wire/secret.h"

/* Bytes of a ring: both rings of a pair stay in a core's second cache, and 31
 * pairs of a rank are 8 MiB, half of them its own. A power of two. */
#define RING_BYTES DIST__PACE_RING
/* What one side copies before it tells the other; and how much room who had too
 * little waits for. */
#define PIECE_BYTES ((size_t)16 << 10)

/* What one processor writes lies apart from what another does. */
#define LINE 64

/* A few bytes that are written as a whole lie in a line of the cache by
 * themselves, or in two, in place of the ring: with how many they are and the
 * first one's place in the stream, so that who looks for them reads those lines
 * and no other, and who writes the next ones takes them from nobody. That is
 * room for a frame and 16 bytes, or 80. */
#define LINE_BYTES (2 * LINE - sizeof(uint64_t))
#define ONE_LINE   (LINE - sizeof(uint64_t))
/* Both ways as much as a core's first cache at most. A power of two. */
#define LINES 128

struct line {
	/* The first byte's place << LINE_SHIFT | how many they are; 0: none
	 * were ever here. Written last. */
	alignas(2 * LINE) atomic_uint_least64_t stamp;
	unsigned char bytes[LINE_BYTES];
};
#define LINE_SHIFT 7
/* So many lines before it is written a line is sent for: further than a reader
 * looks that waits for the next. */
#define LINES_AHEAD 4

/* The bytes that one side writes and the other one reads. Counts are of all
 * bytes ever, of those in lines, too; a byte's place is its count modulo
 * RING_BYTES. */
struct ring {
	alignas(LINE) atomic_uint_least64_t written; /* up to what is no line */
	alignas(LINE) atomic_uint_least64_t taken;
	atomic_uint_least64_t lines_taken;
	atomic_bool full; /* the writer has more than there was room for */
	struct line lines[LINES];
	alignas(LINE) unsigned char bytes[RING_BYTES];
};

struct memory {
	uint64_t nonce;
	struct side {
		alignas(LINE) atomic_bool asleep;
		atomic_bool barriers; /* it sets some before it sleeps */
		atomic_bool reads;    /* the other side's memory */
		atomic_bool recalled; /* what it had lent */
		pid_t pid;
		uint64_t address; /* of this memory, in that process */
	} sides[2];
	struct dist__pace_shown shown[2]; /* by side */
	struct ring rings[2];             /* by the side that writes */
};

/* What a side knows by itself, for a look at a line of the peer's, or of its
 * own that the peer has looked at, waits for it to come. */
struct dist__shared {
	struct memory *memory;
	int side;
	int bell; /* borrowed */
	int fd;   /* of the memory, until settled; -1: closed */
	bool full;
	bool in_line;      /* is what is being placed */
	size_t peeked;     /* bytes of the line that was found last; 0: none */
	bool reached;      /* by barriers of others */
	size_t line_bytes; /* go into a line at most */
	uint64_t written;
	uint64_t taken; /* the peer told or not */
	uint64_t told;  /* of those */
	uint64_t lines_written, lines_taken, lines_told;
	/* By the peer, when last looked. */
	uint64_t their_written, their_taken, their_lines_taken;
	struct dist__pace pace;
};

static struct side *mine(const struct dist__shared *shared)
{
	return &shared->memory->sides[shared->side];
}

static struct side *theirs(const struct dist__shared *shared)
{
	return &shared->memory->sides[!shared->side];
}

/* ---- life --------------------------------------------------------------- */

static struct dist__shared *shared_of(int side, int bell, int fd, bool crowded)
{
	struct dist__shared *shared = malloc(sizeof *shared);

	if (!shared)
		return NULL;
	*shared = (struct dist__shared){.side = side,
					.bell = bell,
					.fd = fd,
					.line_bytes = crowded ? ONE_LINE
							      : LINE_BYTES};
	shared->memory = dist__memory_file_map(fd, sizeof *shared->memory);
	if (!shared->memory) {
		free(shared);
		return NULL;
	}
	shared->reached =
		syscall(SYS_membarrier,
			MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
	atomic_store(&mine(shared)->barriers, shared->reached);
	mine(shared)->pid = getpid();
	mine(shared)->address = (uint64_t)(uintptr_t)shared->memory;
	return shared;
}

/* Whether this process may read the peer's memory: tried with a number that it
 * holds. */
static bool may_read(struct dist__shared *shared)
{
	uint64_t nonce = 0;

	return dist__shared_read(shared, &nonce,
				 theirs(shared)->address +
					 offsetof(struct memory, nonce),
				 sizeof nonce) &&
	       nonce == shared->memory->nonce;
}

struct dist__shared *dist__shared_new(int bell, bool crowded,
				      struct dist__shared_offer *offer)
{
	unsigned char nonce[DIST__NONCE_BYTES];
	struct dist__shared *shared = NULL;
	int fd = -1;

	*offer = (struct dist__shared_offer){.pid = 0};
	if (dist__nonce_draw(nonce))
		fd = dist__memory_file_new(sizeof(struct memory));
	if (fd >= 0)
		shared = shared_of(0, bell, fd, crowded);
	if (!shared) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	memcpy(&shared->memory->nonce, nonce, sizeof shared->memory->nonce);
	*offer = (struct dist__shared_offer){.pid = (uint32_t)getpid(),
					     .fd = (uint32_t)fd,
					     .nonce = shared->memory->nonce};
	return shared;
}

struct dist__shared *dist__shared_open(int bell, bool crowded,
				       const struct dist__shared_offer *offer)
{
	struct dist__shared *shared = NULL;
	struct stat status;
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%u/fd/%u", offer->pid, offer->fd);
	fd = offer->pid ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size == (off_t)sizeof(struct memory))
		shared = shared_of(1, bell, fd, crowded);
	if (shared && shared->memory->nonce != offer->nonce) {
		dist__shared_free(shared);
		return NULL;
	}
	if (shared)
		dist__shared_settled(shared);
	else
		close(fd);
	return shared;
}

void dist__shared_settled(struct dist__shared *shared)
{
	close(shared->fd);
	shared->fd = -1;
	atomic_store(&mine(shared)->reads, may_read(shared));
}

void dist__shared_free(struct dist__shared *shared)
{
	if (!shared)
		return;
	munmap(shared->memory, sizeof *shared->memory);
	if (shared->fd >= 0)
		close(shared->fd);
	free(shared);
}

/* ---- the bell ----------------------------------------------------------- */

/*
 * Who puts bytes writes how many there are, then looks whether the peer sleeps;
 * who goes to sleep says so, then looks for bytes. With a fence between, on
 * either side, at least one sees what the other wrote. But a fence waits until
 * the lines just written have come here from the other processor, and putting
 * is what happens all the time: so the fence is left to who goes to sleep, and
 * the system sets it on all processors (membarrier(2)).
 */
void dist__shared_sleep(struct dist__shared *shared)
{
	atomic_store(&mine(shared)->asleep, true);
}

void dist__shared_asleep(void)
{
	/* It fails where the peers do without. */
	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void dist__shared_wake(struct dist__shared *shared)
{
	atomic_store_explicit(&mine(shared)->asleep, false,
			      memory_order_relaxed);
}

/* Says to the peer how far a ring was written, before it is looked at whether
 * the peer sleeps. */
static void say(struct dist__shared *shared, atomic_uint_least64_t *count,
		uint64_t value)
{
	bool barriers = atomic_load_explicit(&theirs(shared)->barriers,
					     memory_order_relaxed);

	if (!shared->reached || !barriers) {
		atomic_store(count, value);
		return;
	}
	atomic_store_explicit(count, value, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Wakes the peer if it sleeps. Where the socket is full there are bells enough
 * in it. */
static void ring_bell(struct dist__shared *shared)
{
	atomic_bool *asleep = &theirs(shared)->asleep;

	if (atomic_load(asleep) && atomic_exchange(asleep, false))
		(void)send(shared->bell, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- lent memory -------------------------------------------------------- */

bool dist__shared_lends(const struct dist__shared *shared)
{
	return atomic_load_explicit(&theirs(shared)->reads,
				    memory_order_relaxed);
}

bool dist__shared_read(struct dist__shared *shared, void *to, uint64_t from,
		       size_t len)
{
	char *at = to;

	while (len > 0) {
		struct iovec here = {at, len};
		/* An address of the other process, a number here.
		 * NOLINTNEXTLINE(performance-no-int-to-ptr) */
		struct iovec there = {(void *)(uintptr_t)from, len};
		ssize_t n = process_vm_readv(theirs(shared)->pid, &here, 1,
					     &there, 1, 0);

		if (n <= 0)
			return false;
		at += n;
		from += (uint64_t)n;
		len -= (size_t)n;
	}
	/* Not before the bytes are here: they were the peer's to change then.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	return !atomic_load(&theirs(shared)->recalled);
}

void dist__shared_recall(struct dist__shared *shared)
{
	atomic_store(&mine(shared)->recalled, true);
}

struct dist__pace *dist__shared_pace(struct dist__shared *shared)
{
	return &shared->pace;
}

struct dist__pace_shown *dist__shared_shown(struct dist__shared *shared)
{
	return &shared->memory->shown[shared->side];
}

const struct dist__pace_shown *
dist__shared_all_shown(const struct dist__shared *shared)
{
	return shared->memory->shown;
}

/* ---- bytes -------------------------------------------------------------- */

static struct ring *ring_out(const struct dist__shared *shared)
{
	return &shared->memory->rings[shared->side];
}

static struct ring *ring_in(const struct dist__shared *shared)
{
	return &shared->memory->rings[!shared->side];
}

/* The line that is written next, or ahead of that one. */
static struct line *line_out(const struct dist__shared *shared, size_t ahead)
{
	return &ring_out(shared)
			->lines[(shared->lines_written + ahead) % LINES];
}

static struct line *line_in(const struct dist__shared *shared)
{
	return &ring_in(shared)->lines[shared->lines_taken % LINES];
}

/* The stamp of the line that comes next. */
static uint64_t stamp_in(const struct dist__shared *shared)
{
	return atomic_load_explicit(&line_in(shared)->stamp,
				    memory_order_acquire);
}

/* How many bytes of the line that comes next are to be taken now: 0, before it
 * is written, or while others are to be taken first. */
static size_t fill_line(const struct dist__shared *shared)
{
	uint64_t stamp = stamp_in(shared);
	uint64_t done = shared->taken - (stamp >> LINE_SHIFT);
	size_t len = stamp % (1 << LINE_SHIFT);

	return done < len && len <= LINE_BYTES ? len - (size_t)done : 0;
}

/* How many bytes of the ring there are to take, looked up if none are known of,
 * not past the line that follows them; more than RING_BYTES: somebody wrote
 * nonsense. */
static uint64_t fill_in(struct dist__shared *shared)
{
	uint64_t fill, stamp, before;

	if ((int64_t)(shared->their_written - shared->taken) <= 0)
		shared->their_written = atomic_load_explicit(
			&ring_in(shared)->written, memory_order_acquire);
	fill = shared->their_written - shared->taken;
	if ((int64_t)fill <= 0)
		return 0;
	stamp = stamp_in(shared);
	before = (stamp >> LINE_SHIFT) - shared->taken;
	return stamp && before < fill ? before : fill;
}

/* How many bytes may follow the first `written`, looked up if fewer than wanted
 * are known of. */
static size_t room_out(struct dist__shared *shared, uint64_t written,
		       size_t wanted)
{
	uint64_t fill = written - shared->their_taken;

	if (fill > RING_BYTES || RING_BYTES - fill < wanted) {
		shared->their_taken = atomic_load(&ring_out(shared)->taken);
		fill = written - shared->their_taken;
	}
	return fill < RING_BYTES ? RING_BYTES - (size_t)fill : 0;
}

/* Notes whether there was too little room, for the peer to see. */
static void note_full(struct dist__shared *shared, bool full)
{
	if (full != shared->full)
		atomic_store(&ring_out(shared)->full, full);
	shared->full = full;
}

/* The peer, which may sleep, tells of room once it is noted that there is too
 * little. */
bool dist__shared_has_room(struct dist__shared *shared)
{
	if (!shared->full && room_out(shared, shared->written, 1) > 0)
		return true;
	note_full(shared, true);
	return room_out(shared, shared->written, PIECE_BYTES) >= PIECE_BYTES;
}

bool dist__shared_has(struct dist__shared *shared)
{
	return fill_line(shared) > 0 || fill_in(shared) > 0;
}

/* How much to copy at once: not round the end, nor more than there is, nor so
 * much that the peer would wait for the rest of it. */
static size_t piece(size_t wanted, uint64_t at, uint64_t there)
{
	size_t n = wanted < PIECE_BYTES ? wanted : PIECE_BYTES;

	if (n > RING_BYTES - at % RING_BYTES)
		n = RING_BYTES - (size_t)(at % RING_BYTES);
	return n < there ? n : (size_t)there;
}

/* Lets the peer have what was written up to a count. */
static void publish(struct dist__shared *shared, uint64_t written)
{
	shared->written = written;
	say(shared, &ring_out(shared)->written, written);
	ring_bell(shared);
}

/* Copies as much of part as there is room for, after *written, and publishes
 * it piece by piece, so that the peer reads one while the next is written; the
 * rest waits for what follows. Returns how much. */
static size_t put_part(struct dist__shared *shared, const struct iovec *part,
		       uint64_t *written)
{
	struct ring *ring = ring_out(shared);
	size_t done = 0;

	while (done < part->iov_len) {
		size_t left = part->iov_len - done;
		size_t n =
			piece(left, *written, room_out(shared, *written, left));

		if (n == 0)
			break;
		memcpy(ring->bytes + *written % RING_BYTES,
		       (const char *)part->iov_base + done, n);
		*written += n;
		done += n;
		if (n == PIECE_BYTES)
			publish(shared, *written);
	}
	return done;
}

/* Whether parts are to wait: a few bytes are put as a whole, so that who looks
 * for them finds all of them. */
static bool waits(struct dist__shared *shared, const struct iovec *parts,
		  size_t num)
{
	size_t whole = 0;

	for (size_t i = 0; i < num && whole <= PIECE_BYTES; i++)
		whole += parts[i].iov_len;
	return whole <= PIECE_BYTES &&
	       room_out(shared, shared->written, whole) < whole;
}

size_t dist__shared_put(struct dist__shared *shared, const struct iovec *parts,
			size_t num)
{
	uint64_t before = shared->written, written = before;
	bool full = waits(shared, parts, num);

	for (size_t i = 0; i < num && !full; i++)
		full = put_part(shared, &parts[i], &written) < parts[i].iov_len;
	note_full(shared, full);
	if (written != before)
		publish(shared, written);
	return (size_t)(written - before);
}

/* Whether so many bytes go into a line. */
static bool suits_line(struct dist__shared *shared, size_t bytes)
{
	if (bytes > shared->line_bytes)
		return false;
	if (shared->lines_written - shared->their_lines_taken >= LINES)
		shared->their_lines_taken = atomic_load_explicit(
			&ring_out(shared)->lines_taken, memory_order_acquire);
	return shared->lines_written - shared->their_lines_taken < LINES;
}

unsigned char *dist__shared_place(struct dist__shared *shared, size_t bytes)
{
	size_t at = (size_t)(shared->written % RING_BYTES);

	if (shared->full || room_out(shared, shared->written, bytes) < bytes)
		return NULL;
	shared->in_line = suits_line(shared, bytes);
	if (shared->in_line)
		return line_out(shared, 0)->bytes;
	return RING_BYTES - at < bytes ? NULL : ring_out(shared)->bytes + at;
}

/* Has a line come here from the other processor, to be written: who waits for
 * it when it writes waits with all that it writes then, for the processor hands
 * on what was written in its order. */
static void send_for(const unsigned char *line)
{
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*line));
#else
	__builtin_prefetch(line, 1);
#endif
}

void dist__shared_placed(struct dist__shared *shared, size_t bytes)
{
	if (shared->in_line) {
		struct line *line = line_out(shared, 0);
		const unsigned char *ahead =
			line_out(shared, LINES_AHEAD)->bytes;
		uint64_t stamp = shared->written << LINE_SHIFT | bytes;

		shared->written += bytes;
		shared->lines_written++;
		say(shared, &line->stamp, stamp);
		send_for(ahead);
		if (bytes > ONE_LINE)
			send_for(ahead + ONE_LINE);
		ring_bell(shared);
	} else
		publish(shared, shared->written + bytes);
}

/* Gives back to the peer what was taken, once that is a piece, or many lines.
 * One that waits for a piece of room finds less than two of them free or not
 * given back, so that there is more to take. */
static void release(struct dist__shared *shared)
{
	struct ring *ring = ring_in(shared);

	if (shared->lines_taken - shared->lines_told >= LINES / 4) {
		shared->lines_told = shared->lines_taken;
		atomic_store_explicit(&ring->lines_taken, shared->lines_taken,
				      memory_order_release);
	}
	if (shared->taken - shared->told < PIECE_BYTES)
		return;
	shared->told = shared->taken;
	atomic_store(&ring->taken, shared->taken);
	if (atomic_load(&ring->full))
		ring_bell(shared);
}

size_t dist__shared_peek(struct dist__shared *shared,
			 const unsigned char **bytes)
{
	uint64_t fill;

	shared->peeked = fill_line(shared);
	if (shared->peeked > 0) {
		*bytes = line_in(shared)->bytes +
			 stamp_in(shared) % (1 << LINE_SHIFT) - shared->peeked;
		return shared->peeked;
	}
	fill = fill_in(shared);
	*bytes = ring_in(shared)->bytes + shared->taken % RING_BYTES;
	return fill <= RING_BYTES ? piece(PIECE_BYTES, shared->taken, fill) : 0;
}

void dist__shared_skip(struct dist__shared *shared, size_t len)
{
	shared->lines_taken += shared->peeked > 0 && len >= shared->peeked;
	shared->taken += len;
	release(shared);
}

/* As put_part, the other way. */
static size_t take_part(struct dist__shared *shared, const struct iovec *part)
{
	const unsigned char *bytes;
	size_t done = 0, n = 1;

	while (n > 0 && done < part->iov_len) {
		n = dist__shared_peek(shared, &bytes);
		if (n > part->iov_len - done)
			n = part->iov_len - done;
		memcpy((char *)part->iov_base + done, bytes, n);
		dist__shared_skip(shared, n);
		done += n;
	}
	return done;
}

ssize_t dist__shared_take(struct dist__shared *shared,
			  const struct iovec *parts, size_t num)
{
	uint64_t before = shared->taken;

	for (size_t i = 0; i < num; i++)
		if (take_part(shared, &parts[i]) < parts[i].iov_len)
			break;
	if (shared->taken == before && fill_in(shared) > RING_BYTES)
		return -1;
	return (ssize_t)(shared->taken - before);
}
