/* tcp_exchange.h - what the TCP transport must do with many messages in one
 * call, as a case for the table of tcp_cases.h. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_EXCHANGE_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_EXCHANGE_H

#include "tests/support/tcp_cases.h"

void tcp_exchange(struct tcp_rank *r);

#endif
