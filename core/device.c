/* device.c - the device's memory: the world's, or the program's own. */
#include "lockstep/device.h"

#include <stdlib.h>
#include <string.h>

#include "core/state.h"

enum dist_error dist_device_alloc(struct dist_group *group, size_t bytes,
				  void **memory)
{
	const struct dist__memory *device;
	enum dist_error error = DIST_OK;
	void *fresh = NULL;

	if (!group || !memory)
		return DIST_ERR_INVALID_ARGUMENT;
	device = group->world->memory;
	if (device)
		error = device->alloc(bytes ? bytes : 1, &fresh);
	else
		fresh = malloc(bytes ? bytes : 1);
	if (!error && !fresh)
		error = DIST_ERR_NO_MEMORY;
	if (error)
		return dist__fail(group, error, "device_alloc: %zu bytes: %s",
				  bytes, dist_error_string(error));
	*memory = fresh;
	return DIST_OK;
}

void dist_device_free(struct dist_group *group, void *memory)
{
	if (!group || !memory)
		return;
	if (group->world->memory)
		group->world->memory->free(memory);
	else
		free(memory);
}

enum dist_error dist_device_copy(struct dist_group *group, void *to,
				 const void *from, size_t bytes)
{
	const struct dist__memory *device;
	enum dist_error error = DIST_OK;

	if (!group || (bytes && (!to || !from)))
		return DIST_ERR_INVALID_ARGUMENT;
	device = group->world->memory;
	if (device && bytes)
		error = device->copy(to, from, bytes);
	else if (bytes)
		memmove(to, from, bytes);
	return error ? dist__fail(group, error, "device_copy: %zu bytes: %s",
				  bytes, dist_error_string(error))
		     : DIST_OK;
}
