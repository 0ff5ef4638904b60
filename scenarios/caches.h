/* caches.h - emptying of the caches of the processor and the rank's device. */
#ifndef LOCKSTEP_SCENARIOS_CACHES_H
#define LOCKSTEP_SCENARIOS_CACHES_H

#include "lockstep/dist.h"

/* Memory that fills the caches when it is copied. */
struct caches {
	struct dist_group *group;
	size_t bytes;
	void *host, *device;
};

/* caches_init allocates memory as large as the caches, on the host and on the
 * device. Errors: NO_MEMORY, IO. caches_release frees it, before the group is
 * destroyed; a zeroed struct is allowed. */
enum dist_error caches_init(struct caches *caches, struct dist_group *group);
void caches_release(struct caches *caches);

/* caches_empty replaces the contents of the caches by that memory. Errors: IO.
 */
enum dist_error caches_empty(const struct caches *caches);

#endif
