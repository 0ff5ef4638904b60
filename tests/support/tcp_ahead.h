/* tcp_ahead.h - what the TCP transport must do with a rank that is many
 * collectives ahead, as a case for the table of tcp_cases.h. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_AHEAD_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_AHEAD_H

#include "tests/support/tcp_cases.h"

void tcp_ahead(struct tcp_rank *r);
void tcp_short_ahead(struct tcp_rank *r);

#endif
