#include "realbackend/nccl/device.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/refuse.h"
#include "realbackend/agree/backoff.h"

/* A process is one rank, so this is the rank's. */
static struct dist__device the_device;
static bool is_open;

/* The others, by index, once they are used. */
static struct dist__device *others;
static pthread_mutex_t others_mutex = PTHREAD_MUTEX_INITIALIZER;

/*
 * dist_spin(length): reads the device's clock, in nanoseconds, until length
 * have passed. PTX, which the driver compiles for the device that it finds.
 */
static const char spin_ptx[] = ".version 6.0\n"
			       ".target sm_60\n"
			       ".address_size 64\n"
			       ".visible .entry dist_spin(.param .u64 length)\n"
			       "{\n"
			       "	.reg .pred %again;\n"
			       "	.reg .u64 %length, %start, %now;\n"
			       "	ld.param.u64 %length, [length];\n"
			       "	mov.u64 %start, %globaltimer;\n"
			       "more:\n"
			       "	mov.u64 %now, %globaltimer;\n"
			       "	sub.u64 %now, %now, %start;\n"
			       "	setp.lt.u64 %again, %now, %length;\n"
			       "	@%again bra more;\n"
			       "	ret;\n"
			       "}\n";

enum dist_error dist__cuda_error(unsigned status)
{
	if (status == DIST__CUDA_SUCCESS)
		return DIST_OK;
	return status == DIST__CUDA_ERROR_MEMORY ? DIST_ERR_NO_MEMORY
						 : DIST_ERR_IO;
}

/* ---- which one --------------------------------------------------------- */

enum dist_error dist__device_probe(struct dist__libraries *l, int *count,
				   struct dist_message *why)
{
	enum dist_error error = dist__libraries_load(l, why);
	int driver = 0;
	unsigned status;

	if (error)
		return error;
	status = l->cuda.GetDeviceCount(count);
	if (status == DIST__CUDA_SUCCESS && *count > 0)
		return DIST_OK;
	(void)l->cuda.DriverGetVersion(&driver);
	return dist__refuse_as(
		why, DIST_ERR_UNAVAILABLE,
		"found %s and %s, but no GPU: cudaGetDeviceCount: %s%s",
		l->nccl_text, l->cuda_text,
		status ? l->cuda.GetErrorString(status) : "0 devices",
		driver ? "" : " (no NVIDIA driver is loaded)");
}

/* Makes it the current device. */
static bool open_streams(struct dist__device *device, struct dist_message *why)
{
	const struct dist__libraries *l = &device->libraries;
	unsigned status;

	status = l->cuda.SetDevice(device->index);
	if (!status)
		status = l->cuda.StreamCreateWithFlags(
			&device->copies, DIST__CUDA_STREAM_NON_BLOCKING);
	if (!status)
		status = l->cuda.StreamCreateWithFlags(
			&device->work, DIST__CUDA_STREAM_NON_BLOCKING);
	if (!status)
		return true;
	snprintf(why->text, sizeof why->text,
		 "device %d of %d cannot be used: %s", device->index,
		 device->count, l->cuda.GetErrorString(status));
	return false;
}

/* Without the kernel a rank sleeps instead. */
static void load_kernel(struct dist__device *device)
{
	const struct dist__libraries *l = &device->libraries;
	struct CUlib_st *library;

	if (l->kernel.LaunchKernel &&
	    !l->kernel.LibraryLoadData(&library, spin_ptx, NULL, NULL, 0, NULL,
				       NULL, 0) &&
	    !l->kernel.LibraryGetKernel(&device->spin, library, "dist_spin"))
		return;
	device->spin = NULL;
	(void)l->cuda.GetLastError();
}

const struct dist__device *dist__device_open(int local_rank,
					     struct dist_message *why)
{
	struct dist__device *device = &the_device;
	const struct dist__libraries *l = &device->libraries;
	struct dist__cuda_properties properties;

	assert(local_rank >= 0);
	if (is_open) {
		dist__device_use(device);
		return device;
	}
	if (dist__device_probe(&device->libraries, &device->count, why))
		return NULL;
	device->local_rank = local_rank;
	device->index = local_rank % device->count;
	if (!open_streams(device, why))
		return NULL;
	load_kernel(device);
	if (!l->cuda.GetDeviceProperties(&properties, device->index))
		device->gpu = properties.uuid;
	is_open = true;
	return device;
}

static const struct dist__device *
open_other(const struct dist__device *own, int index, struct dist_message *why)
{
	struct dist__device *other;

	if (!others)
		others = calloc((size_t)own->count, sizeof *others);
	if (!others) {
		snprintf(why->text, sizeof why->text, "no memory");
		return NULL;
	}
	other = &others[index];
	if (other->count > 0)
		return other;
	*other = (struct dist__device){.libraries = own->libraries,
				       .index = index,
				       .count = own->count,
				       .local_rank = own->local_rank};
	if (open_streams(other, why))
		return other;
	other->count = 0;
	return NULL;
}

const struct dist__device *dist__device_of(const struct dist__device *own,
					   int num, int i,
					   struct dist_message *why)
{
	int64_t number = (int64_t)own->local_rank * num + i;
	int index = (int)(number % own->count);
	const struct dist__device *device = own;

	if (index == own->index)
		return own;
	pthread_mutex_lock(&others_mutex);
	device = open_other(own, index, why);
	pthread_mutex_unlock(&others_mutex);
	return device;
}

void dist__device_use(const struct dist__device *device)
{
	(void)device->libraries.cuda.SetDevice(device->index);
}

/* ---- memory ------------------------------------------------------------ */

bool dist__device_holds(const struct dist__device *device, const void *memory)
{
	const struct dist__libraries *l = &device->libraries;
	struct dist__cuda_attributes attributes;

	if (l->cuda.PointerGetAttributes(&attributes, memory)) {
		(void)l->cuda.GetLastError();
		return false;
	}
	return (attributes.type == DIST__CUDA_TYPE_DEVICE &&
		attributes.device == device->index) ||
	       attributes.type == DIST__CUDA_TYPE_MANAGED;
}

enum dist_error dist__device_copy(const struct dist__device *device, void *to,
				  const void *from, size_t bytes)
{
	const struct dist__libraries *l = &device->libraries;
	unsigned status;

	status = l->cuda.MemcpyAsync(to, from, bytes, DIST__CUDA_COPY_DEFAULT,
				     device->copies);
	if (!status)
		status = l->cuda.StreamSynchronize(device->copies);
	return dist__cuda_error(status);
}

enum dist_error dist__device_borrow(const struct dist__device *device,
				    size_t bytes, void **memory)
{
	const struct dist__libraries *l = &device->libraries;
	unsigned status;

	status = l->cuda.MallocAsync(memory, bytes, device->copies);
	if (!status)
		status = l->cuda.StreamSynchronize(device->copies);
	return dist__cuda_error(status);
}

void dist__device_return(const struct dist__device *device, void *memory)
{
	if (memory)
		(void)device->libraries.cuda.FreeAsync(memory, device->copies);
}

/* The public functions: a group exists, so the device is open. */
static enum dist_error memory_alloc(size_t bytes, void **memory)
{
	return dist__cuda_error(
		the_device.libraries.cuda.Malloc(memory, bytes));
}

static void memory_free(void *memory)
{
	(void)the_device.libraries.cuda.Free(memory);
}

static enum dist_error memory_copy(void *to, const void *from, size_t bytes)
{
	return dist__device_copy(&the_device, to, from, bytes);
}

const struct dist__memory dist__device_memory = {
	.alloc = memory_alloc,
	.free = memory_free,
	.copy = memory_copy,
};

/* ---- keeping busy ------------------------------------------------------ */

static unsigned spin(const struct dist__device *device, uint64_t length,
		     struct CUevent_st *event)
{
	const struct dist__libraries *l = &device->libraries;
	const struct dist__cuda_grid one = {1, 1, 1};
	struct dist__backoff backoff = {0};
	void *arguments[] = {&length};
	unsigned status;

	status = l->kernel.LaunchKernel(device->spin, one, one, arguments, 0,
					device->work);
	if (!status)
		status = l->cuda.EventRecord(event, device->work);
	while (!status &&
	       (status = l->cuda.EventQuery(event)) == DIST__CUDA_NOT_READY) {
		status = DIST__CUDA_SUCCESS;
		dist__backoff_wait(&backoff);
	}
	return status;
}

bool dist__device_spin(const struct dist__device *device, int64_t duration_ns,
		       enum dist_error *error)
{
	const struct dist__libraries *l = &device->libraries;
	struct CUevent_st *event;
	unsigned status;

	if (!device->spin)
		return false;
	status = l->cuda.EventCreateWithFlags(&event,
					      DIST__CUDA_EVENT_NO_TIMING);
	if (!status) {
		status = spin(device, (uint64_t)duration_ns, event);
		(void)l->cuda.EventDestroy(event);
	}
	*error = dist__cuda_error(status);
	return true;
}
