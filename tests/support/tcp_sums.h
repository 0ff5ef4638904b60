/* tcp_sums.h - what the TCP transport must do with messages that it adds up, as
 * a case for the table of tcp_cases.h. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_SUMS_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_SUMS_H

#include "tests/support/tcp_cases.h"

void tcp_sums(struct tcp_rank *r);

#endif
