/* init_method.h - reads an init method, a URL. */
#ifndef LOCKSTEP_CORE_INIT_METHOD_H
#define LOCKSTEP_CORE_INIT_METHOD_H

#include "lockstep/dist.h"

enum dist__init_kind {
	DIST__INIT_ENV,  /* the environment: MASTER_ADDR and MASTER_PORT */
	DIST__INIT_TCP,  /* host and port of rank 0 */
	DIST__INIT_FILE, /* path of a file store */
	DIST__INIT_STORE /* options->store */
};

struct dist__init_method {
	enum dist__init_kind kind;
	char host[256];
	int port;
	char path[4096];
	int rank, world_size; /* both -1: neither options nor URL set them */
};

/*
 * dist__init_method_read fills *method from options. URLs: "env://" or NULL,
 * "tcp://host:port", "tcp://[ipv6]:port", "file:///path", each optionally with
 * "?rank=R&world_size=W", which the fields of options override. Errors:
 * INVALID_ARGUMENT (message says what was expected).
 */
enum dist_error dist__init_method_read(const struct dist_init_options *options,
				       struct dist__init_method *method,
				       struct dist_message *message);

#endif
