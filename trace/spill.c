/*
 * spill.c - a head, and after it records, each with its kind and length, in
 * pieces that are mapped one after the other: adding a record is no system
 * call. A piece is allocated on disk before, which shows a full disk.
 */
#include "trace/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file_limit.h"

#define MAGIC       UINT64_C(0x314c4c4950534c)
#define PIECE_BYTES ((size_t)256 << 10) /* whole pages, and any record */
#define ALIGN       ((size_t)8)

struct head {
	uint64_t magic;
	int32_t world_size, part;
	uint64_t padding[6];
};

enum kind { END, PAD, FACT, TRACK, STRING, EVENT };

/* In front of a record; kind is written last. */
struct label {
	_Atomic uint32_t kind;
	uint32_t bytes; /* that follow, rounded up to ALIGN */
};

/* An event: its strings by number, from 1 on; 0: NULL. */
struct spilled_event {
	struct dist__event event;
	uint32_t track, name, purpose, file;
};

struct string {
	struct string *next;
	uint32_t number;
	char text[];
};

struct dist__spill {
	int fd, error;
	unsigned char *piece; /* NULL: none is mapped */
	size_t used;          /* of it */
	off_t next;           /* piece */
	uint32_t num_tracks, num_strings;
	struct string *strings[64];
};

void dist__spill_name(const char *path, int rank, char *text, size_t size)
{
	snprintf(text, size, "%s.rank%d.live", path, rank);
}

/* ---- writing ------------------------------------------------------------ */

static bool next_piece(struct dist__spill *spill)
{
	if (spill->piece)
		munmap(spill->piece, PIECE_BYTES);
	spill->piece = NULL;
	spill->error = dist__file_fits((uint64_t)spill->next + PIECE_BYTES)
			       ? posix_fallocate(spill->fd, spill->next,
						 (off_t)PIECE_BYTES)
			       : errno;
	if (spill->error)
		return false;
	spill->piece = mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED, spill->fd, spill->next);
	if (spill->piece == MAP_FAILED) {
		spill->piece = NULL;
		spill->error = errno;
		return false;
	}
	spill->next += (off_t)PIECE_BYTES;
	spill->used = 0;
	return true;
}

/* Adds a record of two parts. */
static void add(struct dist__spill *spill, enum kind kind, const void *a,
		size_t a_len, const void *b, size_t b_len)
{
	size_t len = (a_len + b_len + ALIGN - 1) / ALIGN * ALIGN;
	struct label *label;

	if (!spill->piece || spill->error || len > PIECE_BYTES - sizeof *label)
		return;
	if (spill->used + sizeof *label + len > PIECE_BYTES) {
		label = (void *)(spill->piece + spill->used);
		if (spill->used < PIECE_BYTES) {
			label->bytes = (uint32_t)(PIECE_BYTES - spill->used -
						  sizeof *label);
			atomic_store(&label->kind, PAD);
		}
		if (!next_piece(spill))
			return;
	}
	label = (void *)(spill->piece + spill->used);
	memcpy(label + 1, a, a_len);
	if (b_len)
		memcpy((unsigned char *)(label + 1) + a_len, b, b_len);
	label->bytes = (uint32_t)len;
	/* Whoever dies before this has not added it. */
	atomic_store(&label->kind, kind);
	spill->used += sizeof *label + len;
}

struct dist__spill *dist__spill_new(const char *path, int world_size, int part)
{
	struct dist__spill *spill = calloc(1, sizeof *spill);
	struct head head = {MAGIC, world_size, part, {0}};

	if (!spill)
		return NULL;
	spill->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (spill->fd < 0 || !next_piece(spill)) {
		int error = spill->fd < 0 ? errno : spill->error;

		if (spill->fd >= 0) {
			close(spill->fd);
			unlink(path);
		}
		free(spill);
		errno = error;
		return NULL;
	}
	memcpy(spill->piece, &head, sizeof head);
	spill->used = sizeof head;
	return spill;
}

void dist__spill_fact(struct dist__spill *spill, const struct dist__fact *fact)
{
	add(spill, FACT, fact->key, strlen(fact->key) + 1, fact->value,
	    strlen(fact->value) + 1);
}

uint32_t dist__spill_track(struct dist__spill *spill,
			   const struct dist__track *track)
{
	add(spill, TRACK, track, sizeof *track, NULL, 0);
	return spill->num_tracks++;
}

/* The number of a text, which the file has from then on; 0: none. */
static uint32_t number_of(struct dist__spill *spill, const char *text)
{
	struct string **link, *string;
	size_t len;
	uint32_t hash = 0;

	if (!text)
		return 0;
	for (const char *c = text; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	link = &spill->strings[hash % 64];
	while (*link && strcmp((*link)->text, text) != 0)
		link = &(*link)->next;
	if (*link)
		return (*link)->number;
	len = strlen(text) + 1;
	string = malloc(sizeof *string + len);
	if (!string) {
		spill->error = ENOMEM;
		return 0;
	}
	memcpy(string->text, text, len);
	string->next = NULL;
	string->number = ++spill->num_strings;
	*link = string;
	add(spill, STRING, text, len, NULL, 0);
	return string->number;
}

void dist__spill_event(struct dist__spill *spill, uint32_t track,
		       const struct dist__event *event)
{
	struct spilled_event spilled;

	memset(&spilled, 0, sizeof spilled);
	spilled.event = *event;
	spilled.track = track;
	spilled.name = number_of(spill, event->name);
	spilled.purpose = number_of(spill, event->purpose);
	spilled.file = number_of(spill, event->file);
	add(spill, EVENT, &spilled, sizeof spilled, event->splits,
	    event->splits ? sizeof *event->splits : 0);
}

int dist__spill_close(struct dist__spill *spill)
{
	int error = spill->error;

	if (spill->piece)
		munmap(spill->piece, PIECE_BYTES);
	close(spill->fd);
	for (size_t i = 0; i < 64; i++)
		while (spill->strings[i]) {
			struct string *string = spill->strings[i];

			spill->strings[i] = string->next;
			free(string);
		}
	free(spill);
	return error;
}

/* ---- reading ------------------------------------------------------------ */

/* The text at bytes, if it ends within len. */
static const char *text_in(const unsigned char *bytes, size_t len)
{
	return memchr(bytes, 0, len) ? (const char *)bytes : NULL;
}

/* Whether key can be one: the others have no place in JSON. */
static bool is_key(const char *key)
{
	while (*key >= ' ' && *key < 0x7f)
		key++;
	return *key == '\0';
}

static bool take_fact(struct dist__spilled *s, const unsigned char *bytes,
		      size_t len)
{
	const char *key = text_in(bytes, len), *value;
	struct dist__fact fact;
	size_t used;

	used = key ? strlen(key) + 1 : 0;
	value = key ? text_in(bytes + used, len - used) : NULL;
	if (!value || !is_key(key))
		return true;
	fact = (struct dist__fact){key, value};
	if (!dist__array_add(&s->facts, &s->recording.num_facts, &fact,
			     sizeof fact))
		return false;
	s->recording.facts = s->facts;
	return true;
}

static bool take_track(struct dist__spilled *s, const unsigned char *bytes,
		       size_t len)
{
	struct dist__track *track;

	if (len < sizeof *track)
		return true;
	track = malloc(sizeof *track);
	if (!track || !dist__array_add(&s->tracks, &s->num_tracks, &track,
				       sizeof track)) {
		free(track);
		return false;
	}
	memcpy(track, bytes, sizeof *track);
	track->name[sizeof track->name - 1] = '\0';
	track->description[sizeof track->description - 1] = '\0';
	track->events = NULL;
	track->num_events = 0;
	track->next = s->recording.tracks;
	s->recording.tracks = track;
	return true;
}

static const char *string_of(const struct dist__spilled *s, uint32_t number)
{
	return number >= 1 && number <= s->num_strings ? s->strings[number - 1]
						       : NULL;
}

/* Whether event can be written down: a rank that lost its mind may have put
 * anything there. */
static bool makes_sense(const struct dist__event *event)
{
	if (dist__event_is_remote(event))
		return event->name && event->purpose &&
		       event->kind <= DIST__EVENT_SERVED;
	if (event->kind == DIST__EVENT_COMPUTE)
		return event->name != NULL;
	return event->dtype < DIST_NUM_DTYPES;
}

static bool take_event(struct dist__spilled *s, const unsigned char *bytes,
		       size_t len)
{
	struct spilled_event spilled;
	struct dist__splits *splits = NULL;
	struct dist__track *track;

	if (len < sizeof spilled)
		return true;
	memcpy(&spilled, bytes, sizeof spilled);
	spilled.event.name = string_of(s, spilled.name);
	spilled.event.purpose = string_of(s, spilled.purpose);
	spilled.event.file = string_of(s, spilled.file);
	spilled.event.link = NULL; /* no simulation was spilled */
	if (spilled.track >= s->num_tracks || !makes_sense(&spilled.event))
		return true;
	track = s->tracks[spilled.track];
	if (spilled.event.splits && len >= sizeof spilled + sizeof *splits) {
		splits = malloc(sizeof *splits);
		if (!splits)
			return false;
		memcpy(splits, bytes + sizeof spilled, sizeof *splits);
	}
	spilled.event.splits = splits;
	if (dist__array_add(&track->events, &track->num_events, &spilled.event,
			    sizeof spilled.event))
		return true;
	free(splits);
	return false;
}

static bool take(struct dist__spilled *s, uint32_t kind,
		 const unsigned char *bytes, size_t len)
{
	const char *text = text_in(bytes, len);

	switch (kind) {
	case FACT:
		return take_fact(s, bytes, len);
	case TRACK:
		return take_track(s, bytes, len);
	case STRING:
		return dist__array_add(&s->strings, &s->num_strings, &text,
				       sizeof text);
	case EVENT:
		return take_event(s, bytes, len);
	default:
		return true;
	}
}

static bool map(const char *path, struct dist__spilled *s)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0 &&
	    status.st_size >= (off_t)sizeof(struct head)) {
		s->len = (size_t)status.st_size;
		bytes = mmap(NULL, s->len, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	s->bytes = bytes == MAP_FAILED ? NULL : bytes;
	return s->bytes != NULL;
}

enum dist_error dist__spill_load(const char *path,
				 struct dist__spilled *spilled)
{
	struct dist__spilled *s = spilled;
	size_t at = sizeof(struct head);
	const struct label *label;
	const struct head *head;
	uint32_t kind;

	memset(s, 0, sizeof *s);
	if (!map(path, s))
		return DIST_ERR_UNAVAILABLE;
	head = (const void *)s->bytes;
	if (head->magic != MAGIC)
		return DIST_ERR_UNAVAILABLE;
	s->recording.world_size = head->world_size;
	s->recording.part = head->part;
	while (s->len - at >= sizeof *label) {
		label = (const void *)(s->bytes + at);
		kind = atomic_load(&label->kind);
		at += sizeof *label;
		if (kind == END || label->bytes > s->len - at ||
		    label->bytes % ALIGN != 0)
			break;
		if (!take(s, kind, s->bytes + at, label->bytes))
			return DIST_ERR_NO_MEMORY;
		at += label->bytes;
	}
	return DIST_OK;
}

void dist__spilled_release(struct dist__spilled *spilled)
{
	for (size_t i = 0; i < spilled->num_tracks; i++) {
		struct dist__track *track = spilled->tracks[i];

		for (size_t k = 0; k < track->num_events; k++)
			free(track->events[k].splits);
		free(track->events);
		free(track);
	}
	free(spilled->tracks);
	free(spilled->strings);
	free(spilled->facts);
	if (spilled->bytes)
		munmap(spilled->bytes, spilled->len);
	memset(spilled, 0, sizeof *spilled);
}
