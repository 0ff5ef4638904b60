/* cores.h - the processors of this rank's machine. */
#ifndef LOCKSTEP_LAUNCH_CORES_H
#define LOCKSTEP_LAUNCH_CORES_H

/* dist__cores returns the number of processors that this process may run on, at
 * least 1: fewer than the machine's if others have bound it. A binding by
 * dist__cores_bind is ignored. */
int dist__cores(void);

/* dist__cores_bind binds the calling thread, and those that it starts, to one
 * of those processors: number `place` modulo their number. To all of them if
 * the system refuses. One thread of a process at a time. */
void dist__cores_bind(int place);

#endif
