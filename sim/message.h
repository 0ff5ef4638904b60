/*
 * message.h - messages of the program. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_MESSAGE_H
#define LOCKSTEP_SIM_MESSAGE_H

#include "sim/world.h"

/* dist__sim_message_post posts the send or receive m. request is filled in,
 * except the fields for messages of the program; it is borrowed until done. */
void dist__sim_message_post(struct dist__request *request,
			    const struct dist__message *m);

/* dist__sim_message_turn turns an unmatched request of channel into a buffered
 * message, or the receive of one. A send no longer waits. */
void dist__sim_message_turn(struct dist__request *request,
			    const struct dist__sim_channel *channel);

/* dist__sim_message_wait is wait() of the transport, for a message or a
 * receive. */
enum dist_error dist__sim_message_wait(struct dist__sim_actor *actor,
				       struct dist__request *request,
				       int64_t deadline_ns);

/* dist__sim_message_come notes that message has arrived (well), or was lost. */
void dist__sim_message_come(struct dist__request *message, bool well);

/* dist__sim_message_receive returns the first posted receive that matches
 * message, which has arrived; NULL: none. */
struct dist__request *
dist__sim_message_receive(const struct dist__request *message);

/* dist__sim_message_take lets receive take message, which has arrived. Messages
 * behind it are then matched, too. */
void dist__sim_message_take(struct dist__request *message,
			    struct dist__request *receive);

/* dist__sim_messages_abort fails the messages and receives of rank in group,
 * also those of its peers with it. */
void dist__sim_messages_abort(struct dist__sim_rank *rank, uint32_t group);

/* dist__sim_messages_close fails what rank left posted; its buffered messages
 * are still delivered. */
void dist__sim_messages_close(struct dist__sim_rank *rank);

/* dist__sim_messages_end fails all messages and receives with error. */
void dist__sim_messages_end(struct dist__sim_world *world,
			    enum dist_error error);

#endif
