/* cores.h - the processors of this rank's machine. */
#ifndef LOCKSTEP_LAUNCH_CORES_H
#define LOCKSTEP_LAUNCH_CORES_H

/* dist__cores returns how many processors this process may run on, at least 1:
 * fewer than the machine has, where others bound it to some of them. That
 * dist__cores_bind did so does not count. */
int dist__cores(void);

/* dist__cores_bind leaves the calling thread, and those that it starts, one of
 * those processors: by place, modulo their number. Where the system refuses,
 * all of them. One thread of a process at a time. */
void dist__cores_bind(int place);

#endif
