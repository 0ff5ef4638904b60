/* death.h - how a signal ended a process, in words. */
#ifndef LOCKSTEP_CHECK_DEATH_H
#define LOCKSTEP_CHECK_DEATH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* check_kills_for_memory returns how many processes the system has killed for
 * want of memory: in the control group of this process where there is a count,
 * else all; 0: not known. */
uint64_t check_kills_for_memory(void);

/* check_describe_death writes "was killed by signal 9 (Killed)" and, where the
 * system sent it for a limit, which. The process may be gone: its limits are
 * then taken to be the caller's. kills is check_kills_for_memory() from before
 * it began. */
void check_describe_death(char *text, size_t size, int number, pid_t process,
			  uint64_t kills);

#endif
