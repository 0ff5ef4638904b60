/*
 * own_transfer.h - transfers of the own engine: their routes, and who waits for
 * their ends. Private to sim/engine/.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_TRANSFER_H
#define LOCKSTEP_SIM_ENGINE_OWN_TRANSFER_H

#include "sim/engine/own_actor.h"

/* dist__own_transfers_begin sets up the links of the platform. graph and hosts
 * must stay until the process ends. false: no memory. */
bool dist__own_transfers_begin(struct dist__graph *graph,
			       const uint32_t *hosts);

/* The engine's functions of these names (engine.h). */
void dist__own_open_path(struct dist__engine_path *path);
void dist__own_post(struct dist__engine_path *path, bool sends, uint64_t bytes,
		    struct dist__engine_end *end,
		    struct dist__engine_end *other);
void dist__own_start(const struct dist__engine_transfer *load,
		     struct dist__engine_end *end);
void dist__own_carry(const struct dist__engine_transfer *load,
		     void (*over)(void *arg, bool well), void *arg);
void dist__own_pass(struct dist__engine_path *path, uint64_t bytes,
		    struct dist__engine_end *end,
		    void (*over)(void *arg, bool well), void *arg);
void dist__own_fail(struct dist__engine_path *path, bool sends,
		    struct dist__engine_end *ends);
enum dist__engine_outcome dist__own_wait_for(struct dist__engine_end *end,
					     double seconds);
bool dist__own_cancel(struct dist__engine_end *end);
bool dist__own_has_ended(const struct dist__engine_end *end);
double dist__own_bytes_left(const struct dist__engine_end *end);
struct dist__graph_link dist__own_link(uint32_t link);

#endif
