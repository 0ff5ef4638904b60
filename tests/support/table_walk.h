/* table_walk.h - the conformance table over a library that chooses its own
 * algorithms, for tests of such back ends. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TABLE_WALK_H
#define LOCKSTEP_TESTS_SUPPORT_TABLE_WALK_H

/* table_walk runs every case in a world of so many ranks over the back end, and
 * expects all to be right; library names it on stderr. */
void table_walk(const char *backend, int world_size, const char *library);

#endif
