/*
 * engine.c - which engine runs.
 */
#include "sim/engine/engine.h"

#include "sim/engine/own_engine.h"

const struct dist__engine *dist__engine;

bool dist__engine_start(bool own, const sg_host_t *hosts, size_t num)
{
	dist__engine = own ? dist__own_engine(hosts, num)
			   : dist__engine_simgrid(hosts, num);
	return dist__engine != NULL;
}
