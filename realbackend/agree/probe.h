/* probe.h - looking for a library without having it in the process. Private to
 * realbackend/. */
#ifndef LOCKSTEP_AGREE_PROBE_H
#define LOCKSTEP_AGREE_PROBE_H

#include <stddef.h>

/* dist__probe_apart has a child do probe(answer), since a library may not
 * survive the fork of a rank, and stores the child's answer, a plain struct of
 * so many bytes, in answer; it stays as it is if the child died of it. */
void dist__probe_apart(void (*probe)(void *answer), void *answer, size_t bytes);

#endif
