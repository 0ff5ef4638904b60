/*
 * port_holder.h - which process has a port of this machine, for errors.
 */
#ifndef LOCKSTEP_WIRE_PORT_HOLDER_H
#define LOCKSTEP_WIRE_PORT_HOLDER_H

#include <stddef.h>

/* dist__port_holder writes who listens at port, "process 123 (python3)", and
 * "another process" where this process may not know. Leaves errno undefined. */
void dist__port_holder(int port, char *text, size_t size);

#endif
