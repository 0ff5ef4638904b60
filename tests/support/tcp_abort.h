/* tcp_abort.h - what the TCP transport must do when a group is given up that a
 * lane waits for, as a case for the table of tcp_cases.h. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_ABORT_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_ABORT_H

#include "tests/support/tcp_cases.h"

void tcp_abort_wakes(struct tcp_rank *r);

#endif
