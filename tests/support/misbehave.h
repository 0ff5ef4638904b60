/* misbehave.h - ranks of which one does not do what is expected of a program.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_MISBEHAVE_H
#define LOCKSTEP_TESTS_SUPPORT_MISBEHAVE_H

/*
 * misbehave runs ranks, as the environment says, of which number rank does kind
 * at point, and returns the exit status of the job.
 *
 * Kinds: none, exit0, exit3, return, segv, abort, fpe, kill, overflow, endless,
 * thread (exits), quit0 and quit4 (by _exit()), handler (that aborts at exit,
 * which it calls), abort_late (only when the process ends), copy (by fork(),
 * which goes on), late (calls at exit), closes (its files), clears (its
 * environment), function (a remote call without end),
 * quit_inside and thread_inside (a remote call that calls _exit(0),
 * pthread_exit()), away (changes its folder). Points: init, before that; call,
 * before a collective; wait, between issue and wait; group, before a collective
 * of another group, or for segv in it; end, after the last call. The lines at
 * which they happen say "bad: KIND" in misbehave.c.
 */
int misbehave(const char *kind, const char *point, int rank);

#endif
