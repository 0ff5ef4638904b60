#include "realbackend/nccl/communicator.h"

#include <stdio.h>

#include "base/refuse.h"

enum dist_error dist__communicator_check(struct dist__communicator *c,
					 const char *what, unsigned status)
{
	const struct dist__libraries *l = &c->device->libraries;
	const char *more;

	if (status == DIST__NCCL_IN_PROGRESS)
		c->busy = true;
	if (status == DIST__NCCL_SUCCESS || status == DIST__NCCL_IN_PROGRESS)
		return DIST_OK;
	more = l->nccl.GetLastError(c->handle);
	return dist__refuse_as(c->text, DIST_ERR_IO,
			       "%s on device %d of %d: %s%s%.200s", what,
			       c->device->index, c->device->count,
			       l->nccl.GetErrorString(status),
			       more && *more ? ": " : "", more ? more : "");
}

enum dist_error dist__communicator_start(struct dist__communicator *c,
					 const struct dist__nccl_id *id,
					 int size, int rank)
{
	const struct dist__libraries *l = &c->device->libraries;
	struct dist__nccl_config config = {
		.size = sizeof config,
		.magic = DIST__NCCL_CONFIG_MAGIC,
		.version = DIST__NCCL_CONFIG_VERSION,
		.blocking = 0,
	};
	unsigned status;

	status = l->cuda.StreamCreateWithFlags(&c->stream,
					       DIST__CUDA_STREAM_NON_BLOCKING);
	if (status) {
		c->stream = NULL;
		snprintf(c->text->text, sizeof c->text->text,
			 "cudaStreamCreateWithFlags: %s",
			 l->cuda.GetErrorString(status));
		return dist__cuda_error(status);
	}
	status = l->nccl.CommInitRankConfig(&c->handle, size, *id, rank,
					    &config);
	return dist__communicator_check(c, "ncclCommInitRankConfig", status);
}

enum dist_error dist__communicators_end(struct dist__communicator *c,
					size_t num)
{
	unsigned status = c->device->libraries.nccl.GroupEnd();
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < num && !error; i++)
		error = dist__communicator_check(&c[i], "ncclGroupEnd", status);
	return error;
}

enum dist_error dist__communicator_poll(struct dist__communicator *c)
{
	unsigned behind = DIST__NCCL_SUCCESS;
	unsigned status;

	status =
		c->device->libraries.nccl.CommGetAsyncError(c->handle, &behind);
	c->busy = false;
	return dist__communicator_check(c, "NCCL", status ? status : behind);
}

enum dist_error dist__communicator_finish(struct dist__communicator *c)
{
	return dist__communicator_check(
		c, "ncclCommFinalize",
		c->device->libraries.nccl.CommFinalize(c->handle));
}

static void release(struct dist__communicator *c)
{
	c->handle = NULL;
	if (c->stream)
		(void)c->device->libraries.cuda.StreamDestroy(c->stream);
	c->stream = NULL;
}

void dist__communicator_close(struct dist__communicator *c)
{
	if (c->handle)
		(void)c->device->libraries.nccl.CommDestroy(c->handle);
	release(c);
}

void dist__communicator_abort(struct dist__communicator *c)
{
	if (c->handle)
		(void)c->device->libraries.nccl.CommAbort(c->handle);
	release(c);
}
