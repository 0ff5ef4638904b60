/* tcp_trickle.h - a rank that waits while little by little comes. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_TRICKLE_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_TRICKLE_H

#include "tests/support/tcp_cases.h"

/* Two ranks: who waits for the last of many messages looks on as long as others
 * come, and does not fall asleep between them. */
void tcp_trickle(struct tcp_rank *r);

#endif
