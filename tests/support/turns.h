/* turns.h - ranks that share processors, on one of them. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TURNS_H
#define LOCKSTEP_TESTS_SUPPORT_TURNS_H

/* turns_take has what this process starts take turns on one processor, if
 * world_size ranks have less than one each: that they wake one another on
 * another one, as each call does, costs a fourth of all their time. */
void turns_take(int world_size);

#endif
