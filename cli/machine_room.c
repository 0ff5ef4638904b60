#include "cli/machine_room.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/data.h"
#include "platform/machine.h"

#define PATH_SIZE 4096

static enum dist_error complain(struct dist_message *message, const char *what)
{
	snprintf(message->text, sizeof(message->text), "%s: %s", what,
		 strerror(errno));
	return DIST_ERR_IO;
}

/* ---- the machine -------------------------------------------------------- */

static enum dist_error split(struct machine_room *room, const char *words,
			     struct dist_message *message)
{
	size_t len = strcspn(words, ":");
	const char *transport = words[len] ? words + len + 1 : "";

	if (len == 0 || len >= sizeof(room->name) ||
	    (words[len] && !*transport) ||
	    strlen(transport) >= sizeof(room->transport)) {
		snprintf(message->text, sizeof(message->text),
			 "--machine: expected NAME[:TRANSPORT], not \"%.80s\"",
			 words);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	memcpy(room->name, words, len);
	strcpy(room->transport, transport);
	return DIST_OK;
}

static const char *transport_of(const struct machine_room *room)
{
	return room->transport[0] ? room->transport : NULL;
}

enum dist_error machine_room_open(struct machine_room *room, const char *words,
				  struct dist_message *message)
{
	struct platform_nodes node = {.count = 1};
	char path[PATH_SIZE];
	enum dist_error error;

	memset(room, 0, sizeof(*room));
	error = split(room, words, message);
	if (!error)
		error = dist__data_find("machines", room->name, ".yaml", path,
					sizeof(path), message);
	if (!error)
		error = machine_load(&room->machine, path, message);
	if (!error)
		error = platform_of_machine(&room->machine, transport_of(room),
					    0, &node, message);
	return error;
}

void machine_room_title(const struct machine_room *room, char *text,
			size_t size)
{
	const struct machine_network *network;
	struct dist_message message;

	/* The transport is one of the machine's, since the room is open. */
	if (machine_network_choose(&room->machine, transport_of(room), &network,
				   &message))
		network = NULL;
	snprintf(text, size, "%s%s%s", room->name, network ? ":" : "",
		 network ? network->transport : "");
}

int machine_room_node_ranks(const struct machine_room *room, int ranks)
{
	int gpus = room->machine.gpus_per_node > 0
			   ? (int)room->machine.gpus_per_node
			   : 1;

	return ranks < gpus ? ranks : gpus;
}

static int count_nodes(const struct machine_room *room, int ranks)
{
	int node_ranks = machine_room_node_ranks(room, ranks);

	return (ranks + node_ranks - 1) / node_ranks;
}

enum dist_error machine_room_check(const struct machine_room *room, int ranks,
				   struct dist_message *message)
{
	struct fabric fabric;

	return machine_fabric(
		&room->machine, transport_of(room), count_nodes(room, ranks),
		machine_room_node_ranks(room, ranks), &fabric, message);
}

/* ---- files -------------------------------------------------------------- */

static enum dist_error describe(const struct machine_room *room, int ranks,
				bool any, struct platform_description *d,
				struct dist_message *message)
{
	int nodes = count_nodes(room, ranks);
	enum dist_error error =
		platform_read_topology("star", &d->fabric, message);

	d->kinds = 1;
	d->any_nodes = any;
	d->nodes[0].count = any && nodes > 2 ? 2 : nodes;
	if (!error)
		error = platform_of_machine(
			&room->machine, transport_of(room),
			machine_room_node_ranks(room, ranks), &d->nodes[0],
			message);
	return error ? error : platform_check(d, message);
}

/* Opens the file, or empties it for the next platform. */
static enum dist_error make_room(struct machine_room *room,
				 struct dist_message *message)
{
	if (!room->file)
		room->file = tmpfile();
	if (!room->file || ftruncate(fileno(room->file), 0))
		return complain(message, "temporary file");
	rewind(room->file);
	snprintf(room->path, sizeof(room->path), "/proc/self/fd/%d",
		 fileno(room->file));
	return DIST_OK;
}

static enum dist_error save(const struct machine_room *room,
			    const struct platform_description *d,
			    struct dist_message *message)
{
	enum dist_error error;
	char command[128];

	snprintf(command, sizeof(command), "lockstep predict --machine %s%s%s",
		 room->name, room->transport[0] ? ":" : "", room->transport);
	error = platform_write(d, NULL, command, room->file, message);
	if (fflush(room->file) && !error)
		error = complain(message, "temporary file");
	return error;
}

enum dist_error machine_room_write(struct machine_room *room, int ranks,
				   bool any, struct dist_message *message)
{
	struct platform_description *d = calloc(1, sizeof(*d));
	enum dist_error error = d ? DIST_OK : DIST_ERR_NO_MEMORY;

	if (!error)
		error = make_room(room, message);
	if (!error)
		error = describe(room, ranks, any, d, message);
	if (!error)
		error = save(room, d, message);
	free(d);
	return error;
}

void machine_room_close(struct machine_room *room)
{
	if (room->file)
		fclose(room->file);
	room->file = NULL;
}
