/* rendezvous.h - how the ranks of a job find each other. Private to
 * realbackend/store/. */
#ifndef LOCKSTEP_STORE_RENDEZVOUS_H
#define LOCKSTEP_STORE_RENDEZVOUS_H

#include "check/record.h"
#include "realbackend/store/environment.h"
#include "realbackend/wire/socket.h"

struct dist__store;
struct dist__store_server;

/* The store through which the ranks of a job meet. */
struct dist__rendezvous_place {
	struct dist__store *store;         /* NULL: none */
	struct dist__store_server *server; /* rank 0; NULL: none */
	struct dist_store *file;           /* file://; NULL: none */
};

/* The result of a rendezvous, on one rank. */
struct dist__rendezvous {
	uint64_t token;                  /* of the job */
	struct dist__address *addresses; /* by rank */
	int local_ranks;                 /* ranks on this machine */
	int hosts;                       /* machines */
	int *nodes;                      /* as in struct dist__place */
	bool all_share;                  /* every rank wants shared memory */
	int listener;                    /* for the peers; -1: none */
	struct dist__rendezvous_place place;
	struct check_rendezvous_failure
		failure; /* RENDEZVOUS: the ranks at fault */
};

/*
 * dist__rendezvous_meet serves the store (rank 0) or opens the store of the
 * init method, joins, and waits until all ranks have joined. The caller then
 * owns everything in *r; after an error there is only r->failure. Errors:
 * RENDEZVOUS (port in use, host unknown, a rank did not come in time, two
 * processes with one rank, different world sizes; see message), NO_MEMORY, IO.
 */
enum dist_error dist__rendezvous_meet(const struct dist__environment *e,
				      struct dist__rendezvous *r,
				      struct dist_message *message);

/* dist__rendezvous_leave closes and frees the contents of *place. */
void dist__rendezvous_leave(struct dist__rendezvous_place *place);

/* dist__rendezvous_explain returns RENDEZVOUS and explains it in message if an
 * IO error (errno) means that this rank may open no more files; else error. */
enum dist_error dist__rendezvous_explain(const struct dist__environment *e,
					 enum dist_error error,
					 struct dist_message *message);

#endif
