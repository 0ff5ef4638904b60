/*
 * message.h - messages of the program. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_MESSAGE_H
#define LOCKSTEP_SIM_MESSAGE_H

#include "sim/world.h"

/* dist__sim_message_post sends or receives. request is filled in but for what
 * is the program's only; it is the message office's until done. */
void dist__sim_message_post(struct dist__request *request,
			    const struct dist__message *m);

/* dist__sim_message_turn makes a message, or the receive of one, of a request
 * of channel that nobody has answered. A send does not wait any more. */
void dist__sim_message_turn(struct dist__request *request,
			    const struct dist__sim_channel *channel);

/* dist__sim_message_wait is wait() of the transport, for a message or receive.
 */
enum dist_error dist__sim_message_wait(struct dist__sim_actor *actor,
				       struct dist__request *request,
				       int64_t deadline_ns);

/* dist__sim_message_come notes that what carried message is done with it, well
 * or not. */
void dist__sim_message_come(struct dist__request *message, bool well);

/* dist__sim_message_receive returns the receive that message, which has
 * arrived, is for: the first that it fits; NULL: none. */
struct dist__request *
dist__sim_message_receive(const struct dist__request *message);

/* dist__sim_message_take lets receive take message, which has arrived, and the
 * messages behind it go to those that they are for now. */
void dist__sim_message_take(struct dist__request *message,
			    struct dist__request *receive);

/* dist__sim_messages_abort fails what belongs to rank and group, on its side
 * and on that of its peers. */
void dist__sim_messages_abort(struct dist__sim_rank *rank, uint32_t group);

/* dist__sim_messages_close fails what rank left behind; buffered messages go
 * their way. */
void dist__sim_messages_close(struct dist__sim_rank *rank);

/* dist__sim_messages_end fails everything, with error. */
void dist__sim_messages_end(struct dist__sim_world *world,
			    enum dist_error error);

#endif
