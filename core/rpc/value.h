/* value.h - values that this worker holds for references. Private to core/rpc/.
 * Called with the rpc's mutex held. */
#ifndef LOCKSTEP_CORE_RPC_VALUE_H
#define LOCKSTEP_CORE_RPC_VALUE_H

#include "core/rpc/rpc.h"

struct dist__rpc_fork;

struct dist__rpc_value {
	struct dist__rpc_value *next;
	struct dist__rpc_id id;
	bool ready; /* the fields up to bytes are valid */
	enum dist_error error;
	char words[256]; /* the message of error */
	struct dist_rpc_bytes bytes;
	struct dist__event *event; /* set when ready */
	unsigned local;            /* references of this worker */
	struct dist__rpc_fork *forks;
	bool held;                     /* by forks of other workers */
	uint32_t place;                /* held: index in the records */
	struct dist_rpc_call *waiting; /* FETCHes, until it is ready */
};

/* dist__rpc_value_find returns the value of id, or a new one; NULL: no memory.
 */
struct dist__rpc_value *dist__rpc_value_find(struct dist_rpc *rpc,
					     struct dist__rpc_id id);

/* dist__rpc_value_note records that a fork was made, taken or dropped. Errors:
 * NO_MEMORY; INVALID_ARGUMENT (it was recorded before). */
enum dist_error dist__rpc_value_note(struct dist_rpc *rpc,
				     struct dist__rpc_value *value,
				     struct dist__rpc_id id, bool made,
				     bool taken, bool dropped);

/* dist__rpc_value_release frees value if no reference to it is left. */
void dist__rpc_value_release(struct dist_rpc *rpc,
			     struct dist__rpc_value *value);

#endif
