#include "scenarios/caches.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/device.h"

/* More than the caches of most processors and devices: the L2 of an H100 holds
 * 50 MB (NVIDIA H100 Tensor Core GPU Architecture, 2022). Also for machines
 * that do not tell how large their last level is. */
#define AT_LEAST ((size_t)64 << 20)

static size_t bytes_to_fill(void)
{
	long last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (last_level > 0 && (size_t)last_level * 2 > AT_LEAST)
		return (size_t)last_level * 2;
	return AT_LEAST;
}

enum dist_error caches_init(struct caches *caches, struct dist_group *group)
{
	*caches = (struct caches){.group = group, .bytes = bytes_to_fill()};
	caches->host = malloc(caches->bytes);
	if (!caches->host)
		return DIST_ERR_NO_MEMORY;
	/* Pages that nothing was written to would all be one page of zeros. */
	memset(caches->host, 1, caches->bytes);
	return dist_device_alloc(group, caches->bytes, &caches->device);
}

void caches_release(struct caches *caches)
{
	if (caches->device)
		dist_device_free(caches->group, caches->device);
	free(caches->host);
}

enum dist_error caches_empty(const struct caches *caches)
{
	return dist_device_copy(caches->group, caches->device, caches->host,
				caches->bytes);
}
