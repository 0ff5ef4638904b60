/* stranger.h - somebody who comes to the store of a job from outside, and knows
 * how its clients speak. */
#ifndef LOCKSTEP_TESTS_SUPPORT_STRANGER_H
#define LOCKSTEP_TESTS_SUPPORT_STRANGER_H

#include <stdint.h>

/*
 * stranger_talk connects to 127.0.0.1:port and makes some requests drawn from
 * *state, about keys that launchers use, and others; some are mutated, some cut
 * short. It never asks to join as a rank. Where the store takes it for an agent
 * of the job called run (NULL: it does not try), it says things about itself
 * that no agent says. Returns how many requests were answered.
 */
int stranger_talk(uint64_t *state, int port, const char *run);

#endif
