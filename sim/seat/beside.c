/*
 * beside.c - messages and events of a rank that is a process. What a message
 * sends is copied when it is posted, what it receives when it is waited for.
 */
#include "sim/seat/beside.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/seat/op.h"

struct dist__seat_message {
	struct dist__request *request;
	struct dist__members members; /* whom it may come from */
	int *ranks;
	void *ours, *theirs;
	size_t bytes;
	bool comes_back;
	int source;
};

void **dist__seat_place(void ***table, uint32_t *num)
{
	void **more;
	uint32_t i = 0, space;

	while (i < *num && (*table)[i])
		i++;
	if (i == *num) {
		space = i ? 2 * i : 8;
		more = realloc(*table, space * sizeof *more);
		if (!more)
			return NULL;
		memset(more + i, 0, (space - i) * sizeof *more);
		*table = more;
		*num = space;
	}
	return *table + i;
}

/* ---- messages --------------------------------------------------------- */

static void message_free(struct dist__seat_message *message)
{
	free(message->ranks);
	free(message->ours);
	free(message);
}

/* Copies what message reads of process pid's memory. */
static enum dist_error take(struct dist__seat_message *message, int pid,
			    const struct dist__seat_slot *seat, bool sends)
{
	const struct dist__message *m = &seat->message;
	size_t list = (size_t)seat->members.world_size * sizeof(int);
	enum dist_error error = DIST_OK;

	message->theirs = m->data;
	message->bytes = m->bytes;
	message->comes_back = !sends && m->data && m->bytes > 0;
	if (m->data && m->bytes > 0) {
		message->ours = malloc(m->bytes);
		if (!message->ours)
			return DIST_ERR_NO_MEMORY;
	}
	if (sends && message->ours)
		error = dist__seat_read(pid, message->ours, m->data, m->bytes);
	if (error || m->peer != DIST_ANY_SOURCE)
		return error;
	message->members = seat->members;
	if (!seat->members.ranks)
		return DIST_OK;
	message->ranks = malloc(list);
	if (!message->ranks)
		return DIST_ERR_NO_MEMORY;
	message->members.ranks = message->ranks;
	return dist__seat_read(pid, message->ranks, seat->members.ranks, list);
}

static enum dist_error post(struct dist__seat_beside *beside,
			    struct dist__transport *t, int pid,
			    struct dist__seat_slot *seat)
{
	bool sends = seat->code == DIST__SEAT_SEND;
	struct dist__seat_message *fresh = calloc(1, sizeof *fresh);
	struct dist__message m = seat->message;
	void **place;
	enum dist_error error =
		fresh ? take(fresh, pid, seat, sends) : DIST_ERR_NO_MEMORY;

	if (!error) {
		m.data = fresh->ours;
		m.mine = NULL;
		m.op = NULL;
		m.members = &fresh->members;
		m.source = &fresh->source;
		error = (sends ? t->ops->isend
			       : t->ops->irecv)(t, &m, &fresh->request);
	}
	/* Others of its threads may have posted meanwhile. */
	place = error ? NULL
		      : dist__seat_place((void ***)&beside->messages,
					 &beside->num_messages);
	if (!error && !place) {
		(void)t->ops->wait(t, fresh->request, 0);
		error = DIST_ERR_NO_MEMORY;
	}
	if (error) {
		if (fresh)
			message_free(fresh);
		return error;
	}
	*place = fresh;
	seat->work = (uint32_t)(place - (void **)beside->messages) + 1;
	return DIST_OK;
}

static enum dist_error receive(struct dist__seat_beside *beside,
			       struct dist__transport *t, int pid,
			       struct dist__seat_slot *seat)
{
	uint32_t number = seat->work - 1;
	struct dist__seat_message *message =
		number < beside->num_messages ? beside->messages[number] : NULL;
	enum dist_error error;

	if (!message)
		return DIST_ERR_INVALID_ARGUMENT;
	error = t->ops->wait(t, message->request, seat->time_ns);
	seat->number = message->source;
	if (!error && message->comes_back)
		error = dist__seat_write(pid, message->theirs, message->ours,
					 message->bytes);
	message_free(message);
	beside->messages[number] = NULL;
	return error;
}

/* ---- events ----------------------------------------------------------- */

static enum dist_error event_new(struct dist__seat_beside *beside,
				 struct dist__transport *t,
				 struct dist__seat_slot *seat)
{
	void **place = dist__seat_place((void ***)&beside->events,
					&beside->num_events);

	if (!place)
		return DIST_ERR_NO_MEMORY;
	seat->object = (uint32_t)(place - (void **)beside->events) + 1;
	return t->ops->events->create(t, (struct dist__event **)place);
}

static enum dist_error serve_event(struct dist__seat_beside *beside,
				   const struct dist__event_ops *ops,
				   const struct dist__seat_slot *seat)
{
	uint32_t number = seat->object - 1;
	struct dist__event *event =
		number < beside->num_events ? beside->events[number] : NULL;

	if (!event)
		return DIST_ERR_INVALID_ARGUMENT;
	if (seat->code == DIST__SEAT_EVENT_WAIT)
		return ops->wait(event, seat->time_ns, seat->done);
	if (seat->code == DIST__SEAT_EVENT_SET) {
		ops->set(event);
		return DIST_OK;
	}
	ops->free(event);
	beside->events[number] = NULL;
	return DIST_OK;
}

/* ---- all --------------------------------------------------------------- */

enum dist_error dist__seat_beside_serve(struct dist__seat_beside *beside,
					struct dist__transport *transport,
					int pid, struct dist__seat_slot *seat)
{
	if (!transport)
		return DIST_ERR_INVALID_ARGUMENT;
	switch (seat->code) {
	case DIST__SEAT_SEND:
	case DIST__SEAT_RECV:
		return post(beside, transport, pid, seat);
	case DIST__SEAT_RECEIVED:
		return receive(beside, transport, pid, seat);
	case DIST__SEAT_LOOK:
		(void)transport->ops->test(transport, NULL);
		return DIST_OK;
	case DIST__SEAT_BUSY:
		return transport->ops->compute(transport, seat->time_ns);
	case DIST__SEAT_QUIT:
		transport->ops->abort(transport, (uint32_t)seat->number);
		return DIST_OK;
	case DIST__SEAT_EVENT_NEW:
		return event_new(beside, transport, seat);
	default:
		return serve_event(beside, transport->ops->events, seat);
	}
}

void dist__seat_beside_free(struct dist__seat_beside *beside)
{
	free(beside->messages);
	free(beside->events);
}

bool dist__seat_is_asleep(int pid)
{
	char path[300], line[512], *state;
	struct dirent *entry;
	bool asleep = true;
	FILE *file;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && asleep && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid,
			 entry->d_name);
		file = fopen(path, "re");
		/* The state is behind the name, which may hold anything. */
		state = file && fgets(line, sizeof line, file)
				? strrchr(line, ')')
				: NULL;
		asleep = !state || state[1] != ' ' || state[2] == 'S';
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return tasks && asleep;
}
