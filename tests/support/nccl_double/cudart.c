/* cudart.c - a CUDA runtime without a GPU: memory of its own, streams that are
 * threads, events. See cudart.h. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/support/nccl_double/cudart.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	INITIALIZATION = 3,
	INVALID_DEVICE = 101,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	NOT_READY = 600,
	ILLEGAL_ADDRESS = 700
};

/* Memory of the device, mapped twice. */
struct block {
	struct block *next;
	char *device; /* what the program sees; not to be touched */
	char *real;
	int owner;     /* the device */
	size_t bytes;  /* that the program may use: pages */
	size_t mapped; /* at least as many */
};

/* Shorter blocks are that long, and kept when they are given back: to map
 * memory takes longer than a collective of the tests. */
#define SPARE_BYTES ((size_t)1 << 16)

struct job {
	struct job *next;
	void (*run)(void *arg);
	void *arg;
};

struct CUstream_st {
	pthread_t thread;
	pthread_cond_t news;
	struct job *first, **last;
	bool busy, stopping;
	bool running; /* a job, on some thread */
	int waiting;  /* threads that wait until it is not busy */
	int device;
};

struct CUevent_st {
	int device;
	unsigned ahead; /* records that the stream has not reached */
	bool destroyed;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static struct block *spare;    /* given back, of SPARE_BYTES each */
static _Atomic unsigned fault; /* sticky, as on a GPU */
static pid_t owner;            /* process that initialised the driver */
static __thread int current;

static int number_of(const char *variable, int otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? atoi(text) : otherwise;
}

/* A child of a process that has used the driver cannot use it. */
static unsigned initialise(void)
{
	unsigned status = SUCCESS;

	pthread_mutex_lock(&mutex);
	if (owner == 0)
		owner = getpid();
	if (owner != getpid())
		status = INITIALIZATION;
	pthread_mutex_unlock(&mutex);
	return status ? status : (unsigned)number_of("DOUBLE_CUDA_ERROR", 0);
}

/* ---- devices ----------------------------------------------------------- */

EXPORT const char *cudaGetErrorString(unsigned error)
{
	switch (error) {
	case INITIALIZATION:
		return "initialization error";
	case 35:
		return "CUDA driver version is insufficient for CUDA runtime "
		       "version";
	case ILLEGAL_ADDRESS:
		return "an illegal memory access was encountered";
	default:
		return "some error";
	}
}

EXPORT unsigned cudaGetLastError(void)
{
	return fault;
}

EXPORT unsigned cudaRuntimeGetVersion(int *version)
{
	*version = 13000;
	return SUCCESS;
}

EXPORT unsigned cudaDriverGetVersion(int *version)
{
	*version = number_of("DOUBLE_CUDA_ERROR", 0) ? 0 : 13000;
	return SUCCESS;
}

EXPORT unsigned cudaGetDeviceCount(int *count)
{
	*count = number_of("DOUBLE_DEVICES", 8);
	return initialise();
}

EXPORT unsigned cudaSetDevice(int device)
{
	if (device < 0 || device >= number_of("DOUBLE_DEVICES", 8))
		return INVALID_DEVICE;
	current = device;
	return initialise();
}

struct properties {
	char name[256];
	unsigned char uuid[16];
	char reserved[728];
};

EXPORT unsigned cudaGetDeviceProperties(struct properties *properties,
					int device)
{
	if (device < 0 || device >= number_of("DOUBLE_DEVICES", 8))
		return INVALID_DEVICE;
	memset(properties, 0, sizeof *properties);
	strcpy(properties->name, "double");
	properties->uuid[0] = (unsigned char)(1 + device);
	return initialise();
}

EXPORT int double_device(void)
{
	return current;
}

/* ---- memory ------------------------------------------------------------ */

static struct block *block_map(size_t mapped)
{
	struct block *block = calloc(1, sizeof *block);
	int fd = memfd_create("device", MFD_CLOEXEC);

	block->mapped = mapped;
	if (fd < 0 || ftruncate(fd, (off_t)block->mapped) != 0)
		abort();
	block->device = mmap(NULL, block->mapped, PROT_NONE, MAP_SHARED, fd, 0);
	block->real = mmap(NULL, block->mapped, PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, 0);
	close(fd);
	if (block->device == MAP_FAILED || block->real == MAP_FAILED)
		abort();
	return block;
}

static struct block *block_new(size_t bytes, int device)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct block *block = NULL;

	bytes = (bytes + page - 1) / page * page;
	pthread_mutex_lock(&mutex);
	if (bytes <= SPARE_BYTES && spare) {
		block = spare;
		spare = block->next;
	}
	pthread_mutex_unlock(&mutex);
	if (!block)
		block = block_map(bytes < SPARE_BYTES ? SPARE_BYTES : bytes);
	block->bytes = bytes;
	block->owner = device;
	/* What nobody has written should not look like a result. */
	memset(block->real, 0xa5, bytes);
	return block;
}

/* The place in the list of the block with memory, NULL if none has. */
static struct block **block_find(const void *memory)
{
	struct block **link = &blocks;
	const char *byte = memory;

	while (*link && (byte < (*link)->device ||
			 byte >= (*link)->device + (*link)->bytes))
		link = &(*link)->next;
	return *link ? link : NULL;
}

EXPORT void *double_reach(int device, const void *memory, size_t bytes)
{
	struct block **found;
	char *real = NULL;

	pthread_mutex_lock(&mutex);
	found = block_find(memory);
	if (found && (*found)->owner == device &&
	    (const char *)memory + bytes <= (*found)->device + (*found)->bytes)
		real = (*found)->real +
		       ((const char *)memory - (*found)->device);
	else
		fault = ILLEGAL_ADDRESS;
	pthread_mutex_unlock(&mutex);
	return real;
}

static unsigned give(void **memory, size_t bytes, int device)
{
	struct block *block;

	if (bytes > (size_t)1 << 32)
		return OUT_OF_MEMORY;
	block = block_new(bytes, device);
	pthread_mutex_lock(&mutex);
	block->next = blocks;
	blocks = block;
	pthread_mutex_unlock(&mutex);
	*memory = block->device;
	return fault;
}

EXPORT unsigned cudaMalloc(void **memory, size_t bytes)
{
	return give(memory, bytes, current);
}

EXPORT unsigned cudaFree(void *memory)
{
	struct block **found, *block = NULL;

	if (!memory)
		return SUCCESS;
	pthread_mutex_lock(&mutex);
	found = block_find(memory);
	if (found) {
		block = *found;
		*found = block->next;
	}
	if (block && block->mapped == SPARE_BYTES) {
		block->next = spare;
		spare = block;
	}
	pthread_mutex_unlock(&mutex);
	if (!block)
		return INVALID_VALUE;
	if (block->mapped == SPARE_BYTES)
		return SUCCESS;
	munmap(block->device, block->mapped);
	munmap(block->real, block->mapped);
	free(block);
	return SUCCESS;
}

struct attributes {
	unsigned type;
	int device;
	void *device_pointer;
	void *host_pointer;
	long reserved[8];
};

EXPORT unsigned cudaPointerGetAttributes(struct attributes *attributes,
					 const void *memory)
{
	struct block **found;

	memset(attributes, 0, sizeof *attributes);
	pthread_mutex_lock(&mutex);
	found = block_find(memory);
	attributes->type = found ? 2 : 0;
	attributes->device = found ? (*found)->owner : 0;
	pthread_mutex_unlock(&mutex);
	return SUCCESS;
}

/* ---- streams ----------------------------------------------------------- */

/* Runs what was started, with the mutex held but in the jobs. */
static void run_jobs(struct CUstream_st *stream)
{
	struct job *job;

	while ((job = stream->first) != NULL) {
		stream->first = job->next;
		if (!stream->first)
			stream->last = &stream->first;
		stream->running = true;
		pthread_mutex_unlock(&mutex);
		job->run(job->arg);
		free(job);
		pthread_mutex_lock(&mutex);
		stream->running = false;
	}
	stream->busy = false;
	if (stream->waiting > 0 || stream->stopping)
		pthread_cond_broadcast(&stream->news);
}

static void *work(void *arg)
{
	struct CUstream_st *stream = arg;

	pthread_mutex_lock(&mutex);
	while (!stream->stopping || stream->busy)
		if (stream->first && !stream->running)
			run_jobs(stream);
		else
			pthread_cond_wait(&stream->news, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

EXPORT unsigned cudaStreamCreateWithFlags(struct CUstream_st **stream,
					  unsigned flags)
{
	struct CUstream_st *fresh = calloc(1, sizeof *fresh);

	(void)flags;
	fresh->last = &fresh->first;
	fresh->device = current;
	pthread_cond_init(&fresh->news, NULL);
	if (pthread_create(&fresh->thread, NULL, work, fresh) != 0)
		abort();
	*stream = fresh;
	return fault;
}

EXPORT int double_stream_device(const struct CUstream_st *stream)
{
	return stream->device;
}

/* With `now` false it may happen as late as CUDA lets it: when the stream is
 * given something else, or waited for. */
static unsigned start(struct CUstream_st *stream, void (*run)(void *arg),
		      void *arg, bool now)
{
	struct job *job = malloc(sizeof *job);

	*job = (struct job){.run = run, .arg = arg};
	pthread_mutex_lock(&mutex);
	*stream->last = job;
	stream->last = &job->next;
	stream->busy = true;
	pthread_mutex_unlock(&mutex);
	/* Who is woken finds the mutex free. */
	if (now)
		pthread_cond_broadcast(&stream->news);
	return fault;
}

EXPORT unsigned cudaLaunchHostFunc(struct CUstream_st *stream,
				   void (*run)(void *arg), void *arg)
{
	return start(stream, run, arg, true);
}

/* Runs itself what no thread does. */
EXPORT unsigned cudaStreamSynchronize(struct CUstream_st *stream)
{
	pthread_mutex_lock(&mutex);
	while (stream->busy) {
		if (!stream->running) {
			run_jobs(stream);
			continue;
		}
		stream->waiting++;
		pthread_cond_wait(&stream->news, &mutex);
		stream->waiting--;
	}
	pthread_mutex_unlock(&mutex);
	return fault;
}

EXPORT unsigned cudaStreamDestroy(struct CUstream_st *stream)
{
	pthread_mutex_lock(&mutex);
	stream->stopping = true;
	pthread_cond_broadcast(&stream->news);
	pthread_mutex_unlock(&mutex);
	pthread_join(stream->thread, NULL);
	pthread_cond_destroy(&stream->news);
	free(stream);
	return fault;
}

/* ---- what streams do --------------------------------------------------- */

struct copy {
	void *to;
	const void *from;
	size_t bytes;
};

/* Memory that is the device's or else the program's. */
static void *touchable(const void *memory)
{
	struct block **found;
	void *real;

	pthread_mutex_lock(&mutex);
	found = block_find(memory);
	real = found ? (*found)->real +
			       ((const char *)memory - (*found)->device)
		     : (char *)memory;
	pthread_mutex_unlock(&mutex);
	return real;
}

static void run_copy(void *arg)
{
	struct copy *copy = arg;

	memmove(touchable(copy->to), touchable(copy->from), copy->bytes);
	free(copy);
}

EXPORT unsigned cudaMemcpyAsync(void *to, const void *from, size_t bytes,
				unsigned kind, struct CUstream_st *stream)
{
	struct copy *copy = malloc(sizeof *copy);

	(void)kind;
	*copy = (struct copy){to, from, bytes};
	return start(stream, run_copy, copy, false);
}

EXPORT unsigned cudaMallocAsync(void **memory, size_t bytes,
				struct CUstream_st *stream)
{
	return give(memory, bytes, stream->device);
}

static void run_free(void *arg)
{
	(void)cudaFree(arg);
}

EXPORT unsigned cudaFreeAsync(void *memory, struct CUstream_st *stream)
{
	return start(stream, run_free, memory, false);
}

/* ---- events ------------------------------------------------------------ */

EXPORT unsigned cudaEventCreateWithFlags(struct CUevent_st **event,
					 unsigned flags)
{
	(void)flags;
	*event = calloc(1, sizeof **event);
	(*event)->device = current;
	return fault;
}

static void reach_event(void *arg)
{
	struct CUevent_st *event = arg;
	bool last;

	pthread_mutex_lock(&mutex);
	last = --event->ahead == 0 && event->destroyed;
	pthread_mutex_unlock(&mutex);
	if (last)
		free(event);
}

EXPORT unsigned cudaEventRecord(struct CUevent_st *event,
				struct CUstream_st *stream)
{
	bool idle;

	if (event->device != stream->device)
		return INVALID_HANDLE;
	pthread_mutex_lock(&mutex);
	idle = !stream->busy;
	event->ahead += !idle;
	pthread_mutex_unlock(&mutex);
	return idle ? fault : cudaLaunchHostFunc(stream, reach_event, event);
}

EXPORT unsigned cudaEventQuery(struct CUevent_st *event)
{
	bool reached;

	pthread_mutex_lock(&mutex);
	reached = event->ahead == 0;
	pthread_mutex_unlock(&mutex);
	if (fault)
		return fault;
	return reached ? SUCCESS : NOT_READY;
}

EXPORT unsigned cudaEventDestroy(struct CUevent_st *event)
{
	bool last;

	pthread_mutex_lock(&mutex);
	event->destroyed = true;
	last = event->ahead == 0;
	pthread_mutex_unlock(&mutex);
	if (last)
		free(event);
	return fault;
}

/* ---- kernels: there is one, which lets time pass ----------------------- */

/* NOLINTNEXTLINE(readability-function-size): as many as the real one */
EXPORT unsigned cudaLibraryLoadData(void **library, const void *code,
				    unsigned *options, void **option_values,
				    unsigned num_options,
				    unsigned *library_options,
				    void **library_option_values,
				    unsigned num_library_options)
{
	(void)options, (void)option_values, (void)num_options;
	(void)library_options, (void)library_option_values;
	(void)num_library_options;
	*library = (void *)code;
	return strncmp(code, ".version ", 9) == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT unsigned cudaLibraryGetKernel(void **kernel, void *library,
				     const char *name)
{
	*kernel = strstr(library, name);
	return *kernel ? SUCCESS : NOT_FOUND;
}

static void run_spin(void *arg)
{
	uint64_t *length = arg;
	struct timespec time = {.tv_sec = (time_t)(*length / 1000000000),
				.tv_nsec = (long)(*length % 1000000000)};

	nanosleep(&time, NULL);
	free(length);
}

struct grid {
	unsigned x, y, z;
};

EXPORT unsigned cudaLaunchKernel(const void *kernel, struct grid grid,
				 struct grid block, void **arguments,
				 size_t shared, struct CUstream_st *stream)
{
	uint64_t *length = malloc(sizeof *length);

	(void)kernel, (void)grid, (void)block, (void)shared;
	memcpy(length, arguments[0], sizeof *length);
	return cudaLaunchHostFunc(stream, run_spin, length);
}
