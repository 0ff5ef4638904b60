/*
 * tcp_any.h - what the TCP transport must do with receives from any source, as
 * cases for the table of tcp_cases.h.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_ANY_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_ANY_H

#include "tests/support/tcp_cases.h"

#define TCP_ANY_RANKS 5 /* of tcp_from_all */

void tcp_from_all(struct tcp_rank *r);
void tcp_any_and_named(struct tcp_rank *r);
void tcp_some_have_left(struct tcp_rank *r);
void tcp_any_and_abort(struct tcp_rank *r);
void tcp_any_and_late(struct tcp_rank *r);

#endif
