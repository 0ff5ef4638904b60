/* value.h - values that this worker holds for references. Private to core/rpc/.
 * Called with the rpc's mutex held. */
#ifndef LOCKSTEP_CORE_RPC_VALUE_H
#define LOCKSTEP_CORE_RPC_VALUE_H

#include "core/rpc/rpc.h"

struct dist__rpc_fork;

struct dist__rpc_value {
	struct dist__rpc_value *next;
	struct dist__rpc_id id;
	bool ready; /* what follows stands */
	enum dist_error error;
	char words[256];
	struct dist_rpc_bytes bytes;
	struct dist__event *event; /* ready */
	unsigned local;            /* references of this worker */
	struct dist__rpc_fork *forks;
	bool held; /* there are some; place in the records: */
	uint32_t place;
	struct dist_rpc_call *waiting; /* FETCH, until it is ready */
};

/* dist__rpc_value_find returns the value, or a place for it; NULL: no memory.
 */
struct dist__rpc_value *dist__rpc_value_find(struct dist_rpc *rpc,
					     struct dist__rpc_id id);

/* dist__rpc_value_note notes what happened to a fork. Errors: NO_MEMORY;
 * INVALID_ARGUMENT (it had happened before). */
enum dist_error dist__rpc_value_note(struct dist_rpc *rpc,
				     struct dist__rpc_value *value,
				     struct dist__rpc_id id, bool made,
				     bool taken, bool dropped);

/* dist__rpc_value_release frees value if nothing refers to it. */
void dist__rpc_value_release(struct dist_rpc *rpc,
			     struct dist__rpc_value *value);

#endif
