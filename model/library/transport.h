/*
 * transport.h - the words for what carries messages between nodes, in machines,
 * platforms and tables. Behind a word and a dash anything may stand, as in
 * "tcp-10gbe", which tells two networks of one kind apart.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_TRANSPORT_H
#define LOCKSTEP_MODEL_LIBRARY_TRANSPORT_H

#include <stdbool.h>
#include <string.h>

/* For messages that refuse a word. */
#define TRANSPORT_WORDS                                                        \
	"ib, roce, rdma, opa, efa, slingshot, tcp, tcpx, tcpxo or nvlink, or " \
	"one of these, a dash and a name"

/* transport_is returns whether both are of one kind; NULL is of none. */
static inline bool transport_is(const char *transport, const char *kind)
{
	size_t length = strcspn(kind, "-");

	return transport && strcspn(transport, "-") == length &&
	       strncmp(transport, kind, length) == 0;
}

/* transport_is_known returns whether it is one of these words. */
static inline bool transport_is_known(const char *transport)
{
	static const char *const kinds[] = {
		"ib",        "roce", "rdma", "opa",   "efa",
		"slingshot", "tcp",  "tcpx", "tcpxo", "nvlink"};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (transport_is(transport, kinds[i]))
			return true;
	return false;
}

#endif
