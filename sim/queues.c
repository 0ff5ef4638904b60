/*
 * queues.c - links that let pass what comes to them in the order it comes.
 *
 * SimGrid divides a link among all that is under way on it, so that of two
 * messages that meet there the first is held up by the second. The queue of a
 * port does not know messages: what came first goes first. Where the platform's
 * property "queues" is "fifo", messages go in packets, and a packet leaves a
 * port at
 *
 *	end = max(begin + bytes / rate, end of its coming in)
 *	begin = max(head comes in, end of the packet before)
 *
 * the recurrence of Lindley, "The theory of queues with a single server",
 * Proc. Cambridge Phil. Soc. 48, 1952. It is on the next link as soon as its
 * head is there (Kermani and Kleinrock, "Virtual cut-through", Computer
 * Networks 3, 1979), so that a message alone takes latency + bytes / rate of
 * the narrowest link, as without queues.
 *
 * Those that leave a host take turns by connection, as many bytes each as Linux
 * hands to a card at once; what one host sends to another goes over one
 * connection, in order, which has no more on its way than the window that TCP's
 * BBR begins with. So short messages that meet are served one by one, and long
 * ones share.
 */
#include "sim/queues.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "sim/platform/state.h"
#include "sim/progress.h"

#define MOST_LINKS 256  /* of a way */
#define LINES      4096 /* lists of the table */

/* A packet carries what a frame of 9000 bytes does; so many on end are a turn:
 * whole segments of 64 KiB at most, less headers (net/ipv4/tcp_output.c of
 * Linux, tcp_tso_autosize()). */
#define PACKET_BYTES 8948
#define TURN_PACKETS 7

/*
 * A window has room for so many times what a route holds there and back, and
 * for so many turns: 2 / ln 2 (Cardwell and others, "BBR: congestion-based
 * congestion control", ACM Queue 14, 2016; a connection that has often nothing
 * to send never leaves startup) and bbr_quantization_budget() of
 * net/ipv4/tcp_bbr.c.
 */
#define WINDOW_ROUTES 2.885
#define WINDOW_TURNS  3

struct parcel;
struct line;

/* One direction of a link, by the engine's number. */
struct port {
	bool is_shared; /* else it carries anything at once */
	double free_s;  /* when all that it took on is through */
	/* Lines that begin here and may send, in turn; and whose turn it is. */
	struct line *first, *last, *current;
	bool is_busy; /* we are called when it is free */
	/* While a way is put in order; and that it is on the way looked at. */
	int weight;
	uint64_t looked_at;
};

/* From one rank's host to another's. */
struct line {
	struct line *next;      /* in the table */
	struct line *next_turn; /* at its first port */
	bool waits;             /* there; or it is its turn */
	int turn_left;          /* packets */
	int from, to;
	double back_s; /* until the sender knows what has come */
	double window_bytes;
	double out_bytes; /* not known to have come */
	struct parcel *first, *last;
	size_t count;
	struct port *ports[];
};

/* A message, in its line until all of it is sent. */
struct parcel {
	struct parcel *next;
	struct line *line;
	struct dist__request *message;
	double unsent_bytes;
	double load; /* on links, of each byte */
	bool sent, lost;
	int packets; /* not yet through */
};

/* Once it is through it is what the sender learns of that: no parcel. And a
 * port that is free again: no line either. */
struct packet {
	struct packet *next; /* free */
	struct parcel *parcel;
	struct line *line;
	struct port *port;
	double at_s;     /* when the next thing happens to it */
	uint64_t number; /* of two at one time the first goes first */
	double bytes, head_s, tail_s; /* at its next port */
	size_t hop;
};

struct dist__sim_queues {
	struct dist__sim_world *world;
	void (*come)(struct dist__request *message, bool well);
	struct port *ports;
	struct line *lines[LINES];
	struct packet **heap; /* the earliest first */
	size_t num, space;
	struct packet *unused;
	uint64_t numbers, looks;
	double woken_s; /* when we are called next; negative: never */
};

/* ---- opening --------------------------------------------------------------
 */

struct dist__sim_queues *
dist__sim_queues_new(struct dist__sim_world *world,
		     void (*come)(struct dist__request *message, bool well))
{
	struct dist__sim_queues *q = calloc(1, sizeof *q);
	size_t count = dist__engine_num_links();

	if (q)
		q->ports = calloc(count + 1, sizeof q->ports[0]);
	if (!q || !q->ports) {
		free(q);
		return NULL;
	}
	q->world = world;
	q->come = come;
	q->woken_s = -1;
	for (size_t i = 0; i < count; i++)
		q->ports[i].is_shared =
			dist__engine->link((uint32_t)i).is_shared;
	return q;
}

void dist__sim_queues_free(struct dist__sim_queues *q)
{
	struct packet *packet;

	if (!q)
		return;
	for (size_t i = 0; i < q->num; i++) {
		struct parcel *parcel = q->heap[i]->parcel;

		if (parcel && --parcel->packets == 0 && parcel->sent)
			free(parcel);
		free(q->heap[i]);
	}
	while ((packet = q->unused) != NULL) {
		q->unused = packet->next;
		free(packet);
	}
	for (size_t i = 0; i < LINES; i++)
		while (q->lines[i]) {
			struct line *line = q->lines[i];
			struct parcel *parcel;

			while ((parcel = line->first) != NULL) {
				line->first = parcel->next;
				free(parcel);
			}
			q->lines[i] = line->next;
			free(line);
		}
	free(q->heap);
	free(q->ports);
	free(q);
}

/* ---- the order of links ---------------------------------------------------
 *
 * SimGrid tells which links a route has, but not in order: those of the last
 * zone may come first, and those of an edge backwards. The nearer a link is to
 * the sender, the more of the sender's other ways go over it, and the fewer of
 * other senders' ways to the same receiver.
 */

/* Adds to the weight of line's links that are also on the way of two others. */
static void weigh(struct dist__sim_queues *q, struct line *line, int from,
		  int to, int weight)
{
	const struct dist__platform *platform = q->world->platform;
	uint32_t links[MOST_LINKS];
	size_t count = dist__engine_way(dist__platform_seat(platform, from),
					dist__platform_seat(platform, to),
					links, MOST_LINKS, NULL);

	q->looks++;
	for (size_t i = 0; count <= MOST_LINKS && i < count; i++)
		q->ports[links[i]].looked_at = q->looks;
	for (size_t i = 0; i < line->count; i++)
		if (line->ports[i]->looked_at == q->looks)
			line->ports[i]->weight += weight;
}

/* As seen by ranks that are 1, 2, 4 and so on from rank. */
static void weigh_around(struct dist__sim_queues *q, struct line *line,
			 int rank)
{
	int size = q->world->world_size;

	for (int far = 1; far < size; far *= 2)
		for (int side = 0; side < 2; side++) {
			int other = (rank + (side ? size - far : far)) % size;

			if (other == line->from || other == line->to)
				continue;
			weigh(q, line, line->from, other, 1);
			weigh(q, line, other, line->to, -1);
		}
}

static int by_weight(const void *a, const void *b)
{
	const struct port *x = *(struct port *const *)a;
	const struct port *y = *(struct port *const *)b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* ---- lines -------------------------------------------------------------- */

static struct line *look_up(struct dist__sim_queues *q, int from, int to)
{
	const struct dist__platform *platform = q->world->platform;
	uint32_t src = dist__platform_seat(platform, from);
	uint32_t dst = dist__platform_seat(platform, to);
	uint32_t links[MOST_LINKS];
	double there_s = 0, back_s, rate_Bps = INFINITY;
	size_t count = dist__engine_way(src, dst, links, MOST_LINKS, &there_s);
	struct line *line;

	if (count == 0 || count > MOST_LINKS)
		return NULL;
	for (size_t i = 0; i < count; i++)
		rate_Bps = fmin(rate_Bps,
				dist__engine->link(links[i]).bandwidth_Bps);
	back_s = there_s;
	(void)dist__engine_way(dst, src, NULL, 0, &back_s);
	line = malloc(sizeof *line + count * sizeof line->ports[0]);
	if (!line)
		return NULL;
	*line = (struct line){
		.from = from,
		.to = to,
		.back_s = back_s,
		.window_bytes = WINDOW_ROUTES * rate_Bps * (there_s + back_s) +
				WINDOW_TURNS * TURN_PACKETS * PACKET_BYTES,
		.count = count,
	};
	for (size_t i = 0; i < count; i++)
		line->ports[i] = &q->ports[links[i]];
	for (size_t i = 0; i < line->count; i++)
		line->ports[i]->weight = 0;
	weigh_around(q, line, line->from);
	weigh_around(q, line, line->to);
	qsort(line->ports, line->count, sizeof line->ports[0], by_weight);
	return line;
}

static struct line *line_of(struct dist__sim_queues *q, int from, int to)
{
	size_t place = ((size_t)from * 31 + (size_t)to) % LINES;
	struct line *line = q->lines[place];

	while (line && (line->from != from || line->to != to))
		line = line->next;
	if (line)
		return line;
	line = look_up(q, from, to);
	if (line) {
		line->next = q->lines[place];
		q->lines[place] = line;
	}
	return line;
}

/* ---- packets that wait ----------------------------------------------------
 */

#define IS_BEFORE(a, b)                                                        \
	((a)->at_s < (b)->at_s ||                                              \
	 ((a)->at_s == (b)->at_s && (a)->number < (b)->number))

DIST__HEAP(packets, struct packet *, 2, IS_BEFORE, DIST__HEAP_PUT)

static void turn(void *arg);

/* Has turn() called at at_s, unless it will be before. */
static void wake(struct dist__sim_queues *q, double at_s)
{
	if (q->woken_s >= 0 && q->woken_s <= at_s)
		return;
	q->woken_s = at_s;
	dist__engine->at(at_s, turn, q);
}

/* There is room for as many packets as there are. */
static void push(struct dist__sim_queues *q, struct packet *packet)
{
	packet->number = q->numbers++;
	packets_rise(q->heap, q->num++, packet);
}

static struct packet *packet_new(struct dist__sim_queues *q)
{
	struct packet *packet = q->unused;

	if (!dist__array_room(&q->heap, &q->space, q->num + 1,
			      sizeof(struct packet *)))
		return NULL;
	if (!packet)
		return malloc(sizeof *packet);
	q->unused = packet->next;
	return packet;
}

/* ---- what happens to a packet ---------------------------------------------
 */

/* Its next port takes it on. */
static void take(const struct dist__sim_queues *q, struct packet *packet)
{
	struct port *port = packet->line->ports[packet->hop++];
	struct dist__graph_link link =
		dist__engine->link((uint32_t)(port - q->ports));
	double latency_s = link.latency_s;
	double took_s =
		packet->bytes * packet->parcel->load / link.bandwidth_Bps;
	double begin_s = packet->head_s;

	if (!link.is_on)
		packet->parcel->lost = true;
	/* Not so early that the port would wait for the rest of it. */
	if (begin_s < packet->tail_s - took_s)
		begin_s = packet->tail_s - took_s;
	if (port->is_shared && begin_s < port->free_s)
		begin_s = port->free_s;
	if (port->is_shared)
		port->free_s = begin_s + took_s;
	packet->head_s = begin_s + latency_s;
	packet->tail_s = begin_s + took_s + latency_s;
	packet->at_s = packet->hop < packet->line->count ? packet->head_s
							 : packet->tail_s;
}

/* ---- sending --------------------------------------------------------------
 */

static bool may_send(const struct line *line)
{
	return line->first && line->out_bytes < line->window_bytes;
}

/* Has line wait for its turn, if it has something to send. */
static void queue_up(struct line *line)
{
	struct port *port = line->ports[0];

	if (line->waits || !may_send(line))
		return;
	line->waits = true;
	line->next_turn = NULL;
	if (port->first)
		port->last->next_turn = line;
	else
		port->first = line;
	port->last = line;
}

/* Sends the next packet of line: what its window has room for, or the rest. */
static bool send_one(struct dist__sim_queues *q, struct line *line)
{
	double now_s = dist__engine->now_s();
	struct parcel *parcel = line->first;
	struct packet *packet = packet_new(q);

	if (!packet)
		return false;
	*packet = (struct packet){
		.parcel = parcel,
		.line = line,
		.bytes = parcel->unsent_bytes < PACKET_BYTES
				 ? parcel->unsent_bytes
				 : PACKET_BYTES,
		.head_s = now_s,
		.tail_s = now_s,
	};
	parcel->packets++;
	parcel->unsent_bytes -= packet->bytes;
	line->out_bytes += packet->bytes;
	if (parcel->unsent_bytes <= 0) {
		parcel->sent = true;
		line->first = parcel->next;
	}
	take(q, packet);
	push(q, packet);
	return true;
}

/* Has us called when port is free. */
static bool await(struct dist__sim_queues *q, struct port *port)
{
	struct packet *packet = packet_new(q);

	if (!packet)
		return false;
	*packet = (struct packet){.port = port, .at_s = port->free_s};
	port->is_busy = true;
	push(q, packet);
	return true;
}

/* Returns whose packet is next at port; NULL: nobody's. */
static struct line *next_line(struct port *port)
{
	struct line *line = port->current;

	if (line && line->turn_left > 0 && may_send(line))
		return line;
	if (line) {
		line->waits = false;
		queue_up(line);
	}
	line = port->current = port->first;
	if (line) {
		port->first = line->next_turn;
		line->turn_left = TURN_PACKETS;
	}
	return line;
}

/* Lets those who begin at port send in turn, as long as it is free. */
static void serve(struct dist__sim_queues *q, struct port *port)
{
	struct line *line;
	bool well = true;

	while (well && !port->is_busy && (line = next_line(port)) != NULL) {
		line->turn_left--;
		well = send_one(q, line);
		if (well && port->free_s > dist__engine->now_s())
			well = await(q, port);
	}
	if (!well)
		dist__sim_break(q->world, "no memory for packets");
}

bool dist__sim_queues_send(struct dist__sim_queues *q,
			   struct dist__request *message)
{
	struct line *line = line_of(q, message->rank->rank, message->peer);
	struct parcel *parcel = line ? calloc(1, sizeof *parcel) : NULL;

	if (!parcel)
		return false;
	parcel->line = line;
	parcel->message = message;
	parcel->unsent_bytes = (double)message->bytes;
	if (message->bytes > 0)
		parcel->load = message->load_bytes / (double)message->bytes;
	if (line->first)
		line->last->next = parcel;
	else
		line->first = parcel;
	line->last = parcel;
	queue_up(line);
	serve(q, line->ports[0]);
	if (q->num > 0)
		wake(q, q->heap[0]->at_s);
	return true;
}

/* ---- the turn of things ----------------------------------------------------
 */

/* It has come whole. */
static void end(struct packet *packet)
{
	struct parcel *parcel = packet->parcel;

	packet->parcel = NULL;
	packet->at_s += packet->line->back_s;
	if (--parcel->packets > 0 || !parcel->sent)
		return;
	parcel->message->rank->world->queues->come(parcel->message,
						   !parcel->lost);
	free(parcel);
}

/* The sender knows, or the port is free: goes on there. */
static void release(struct dist__sim_queues *q, struct packet *packet)
{
	struct line *line = packet->line;
	struct port *port = line ? line->ports[0] : packet->port;

	if (line) {
		line->out_bytes -= packet->bytes;
		queue_up(line);
	} else {
		port->is_busy = false;
	}
	packet->next = q->unused;
	q->unused = packet;
	serve(q, port);
}

/* All that happens until now. */
static void turn(void *arg)
{
	struct dist__sim_queues *q = arg;
	double now_s = dist__engine->now_s();

	if (q->woken_s < 0 || q->woken_s > now_s)
		return; /* an earlier call was asked for meanwhile */
	q->woken_s = -1;
	while (q->num > 0 && q->heap[0]->at_s <= now_s) {
		struct packet *packet = packets_pop(q->heap, q->num--);

		if (!packet->parcel) {
			release(q, packet);
			continue;
		}
		if (packet->hop < packet->line->count)
			take(q, packet);
		else
			end(packet);
		push(q, packet);
	}
	if (q->num > 0)
		wake(q, q->heap[0]->at_s);
}
