/* probe.h - looks for a library without loading it into this process. Private
 * to realbackend/. */
#ifndef LOCKSTEP_AGREE_PROBE_H
#define LOCKSTEP_AGREE_PROBE_H

#include <stddef.h>

/* dist__probe_apart runs probe(answer) in a child, because a loaded library may
 * not survive the fork of a rank, and stores the child's answer, a plain struct
 * of that size. answer is unchanged if the child died. */
void dist__probe_apart(void (*probe)(void *answer), void *answer, size_t bytes);

#endif
