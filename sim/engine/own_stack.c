#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/*
 * own_stack.c - stacks that take turns on one thread.
 *
 * A switch saves what the calling convention has a function keep, and the stack
 * pointer. Stacks of one size lie in slabs of one mapping each; a gap below
 * each takes two more, so that beyond MOST_GAPS there are none: a process may
 * have 65,530 (vm.max_map_count).
 */
#include "sim/engine/own_stack.h"

#include <stdlib.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#define PAGE      ((size_t)4096)
#define MOST_GAP  (256 * PAGE)
#define SLAB      64 /* stacks, or fewer */
#define MOST_GAPS 16384

struct slab {
	struct slab *next;
	void *memory;
	size_t bytes;
	struct own_context contexts[SLAB];
};

/* Those of one size. */
struct size {
	struct size *next;
	size_t bytes;
	struct own_context *free;
};

static struct slab *slabs;
static struct size *sizes;
static size_t num_stacks;

/* ---- switching ------------------------------------------------------------
 */

/* Saves the place of the caller at *from and goes on at to. */
void dist__own_switch(void **from, void *to);

/* What a new stack begins with: calls body(arg), which do not return. */
void dist__own_enter(void);

#if defined(__x86_64__)
__asm__(".text\n"
	".p2align 4\n"
	".globl dist__own_switch\n"
	".hidden dist__own_switch\n"
	".type dist__own_switch, %function\n"
	"dist__own_switch:\n"
	"pushq %rbp\n"
	"pushq %rbx\n"
	"pushq %r12\n"
	"pushq %r13\n"
	"pushq %r14\n"
	"pushq %r15\n"
	"movq %rsp, (%rdi)\n"
	"movq %rsi, %rsp\n"
	"popq %r15\n"
	"popq %r14\n"
	"popq %r13\n"
	"popq %r12\n"
	"popq %rbx\n"
	"popq %rbp\n"
	"ret\n"
	".size dist__own_switch, . - dist__own_switch\n"
	".globl dist__own_enter\n"
	".hidden dist__own_enter\n"
	".type dist__own_enter, %function\n"
	"dist__own_enter:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"movq %r12, %rdi\n"
	"callq *%rbx\n"
	"ud2\n"
	".cfi_endproc\n"
	".size dist__own_enter, . - dist__own_enter\n");

#define FRAME 9 /* words; so that the stack is aligned where body is called */

static void fill(void **frame, void (*body)(void *arg), void *arg)
{
	frame[3] = arg;                         /* r12 */
	*(void (**)(void *)) & frame[4] = body; /* rbx */
	frame[5] = NULL;                        /* rbp */
	*(void (**)(void)) & frame[6] = dist__own_enter;
}
#elif defined(__aarch64__)
__asm__(".text\n"
	".p2align 4\n"
	".globl dist__own_switch\n"
	".hidden dist__own_switch\n"
	".type dist__own_switch, %function\n"
	"dist__own_switch:\n"
	"stp x29, x30, [sp, #-160]!\n"
	"stp x19, x20, [sp, #16]\n"
	"stp x21, x22, [sp, #32]\n"
	"stp x23, x24, [sp, #48]\n"
	"stp x25, x26, [sp, #64]\n"
	"stp x27, x28, [sp, #80]\n"
	"stp d8, d9, [sp, #96]\n"
	"stp d10, d11, [sp, #112]\n"
	"stp d12, d13, [sp, #128]\n"
	"stp d14, d15, [sp, #144]\n"
	"mov x9, sp\n"
	"str x9, [x0]\n"
	"mov sp, x1\n"
	"ldp x19, x20, [sp, #16]\n"
	"ldp x21, x22, [sp, #32]\n"
	"ldp x23, x24, [sp, #48]\n"
	"ldp x25, x26, [sp, #64]\n"
	"ldp x27, x28, [sp, #80]\n"
	"ldp d8, d9, [sp, #96]\n"
	"ldp d10, d11, [sp, #112]\n"
	"ldp d12, d13, [sp, #128]\n"
	"ldp d14, d15, [sp, #144]\n"
	"ldp x29, x30, [sp], #160\n"
	"ret\n"
	".size dist__own_switch, . - dist__own_switch\n"
	".globl dist__own_enter\n"
	".hidden dist__own_enter\n"
	".type dist__own_enter, %function\n"
	"dist__own_enter:\n"
	".cfi_startproc\n"
	".cfi_undefined x30\n"
	"mov x0, x20\n"
	"blr x19\n"
	"brk #1\n"
	".cfi_endproc\n"
	".size dist__own_enter, . - dist__own_enter\n");

#define FRAME 20

static void fill(void **frame, void (*body)(void *arg), void *arg)
{
	frame[0] = NULL; /* x29 */
	*(void (**)(void)) & frame[1] = dist__own_enter;
	*(void (**)(void *)) & frame[2] = body; /* x19 */
	frame[3] = arg;                         /* x20 */
}
#else
#error "expected x86-64 or ARM64"
#endif

/* ---- stacks ---------------------------------------------------------------
 */

/* Of address space before a stack: a quarter of it, for where that is short;
 * nothing where no guard lies there. */
static size_t gap_of(const struct size *size)
{
	size_t gap = size->bytes / 4 / PAGE * PAGE;

	if (num_stacks >= MOST_GAPS)
		return 0;
	if (gap < PAGE)
		return PAGE;
	return gap < MOST_GAP ? gap : MOST_GAP;
}

/* Maps SLAB stacks that take each so many bytes, or fewer where there is no
 * room (ulimit -v). Returns how many. */
static size_t map_stacks(struct slab *slab, size_t each)
{
	size_t num = SLAB;

	do {
		slab->bytes = num * each;
		slab->memory = mmap(NULL, slab->bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				    -1, 0);
	} while (slab->memory == MAP_FAILED && (num /= 2) > 0);
	return num;
}

/* Adds a slab of stacks. */
static bool add_slab(struct size *size)
{
	size_t gap = gap_of(size), each = size->bytes + gap, num;
	struct slab *slab = calloc(1, sizeof *slab);

	if (!slab)
		return false;
	num = map_stacks(slab, each);
	if (num == 0) {
		free(slab);
		return false;
	}
	slab->next = slabs;
	slabs = slab;
	for (size_t i = num; i-- > 0;) {
		struct own_context *context = &slab->contexts[i];
		char *low = (char *)slab->memory + i * each;

		if (gap > 0)
			(void)mprotect(low, gap, PROT_NONE);
		context->stack = low + gap;
		context->bytes = size->bytes;
		context->next = size->free;
		size->free = context;
	}
	num_stacks += num;
	return true;
}

static struct size *size_of(size_t bytes)
{
	struct size *size = sizes;

	while (size && size->bytes != bytes)
		size = size->next;
	if (size)
		return size;
	size = calloc(1, sizeof *size);
	if (!size)
		return NULL;
	size->bytes = bytes;
	size->next = sizes;
	sizes = size;
	return size;
}

struct own_context *dist__own_context_new(size_t bytes)
{
	struct size *size = size_of((bytes + PAGE - 1) / PAGE * PAGE);
	struct own_context *context;

	if (!size || (!size->free && !add_slab(size)))
		return NULL;
	context = size->free;
	size->free = context->next;
#if defined(__SANITIZE_THREAD__)
	context->fiber = __tsan_create_fiber(0);
#endif
	return context;
}

void dist__own_context_free(struct own_context *context)
{
	struct size *size = size_of(context->bytes);

#if defined(__SANITIZE_THREAD__)
	__tsan_destroy_fiber(context->fiber);
#elif defined(__SANITIZE_ADDRESS__)
	__asan_unpoison_memory_region(context->stack, context->bytes);
#endif
	context->next = size->free;
	size->free = context;
}

void dist__own_contexts_free(void)
{
	struct slab *slab;
	struct size *size;

	while ((slab = slabs)) {
		slabs = slab->next;
		(void)munmap(slab->memory, slab->bytes);
		free(slab);
	}
	while ((size = sizes)) {
		sizes = size->next;
		free(size);
	}
	num_stacks = 0;
}

/* ---- contexts -------------------------------------------------------------
 */

/* Who has left for the one that runs now; for the sanitizers. */
static struct own_context *left;

static void arrive(struct own_context *here)
{
#if defined(__SANITIZE_ADDRESS__)
	const void *stack;
	size_t bytes;

	__sanitizer_finish_switch_fiber(here->fake, &stack, &bytes);
	if (!left->stack) {
		/* The thread's own, of which only it knows. */
		left->stack = (void *)stack;
		left->bytes = bytes;
	}
#else
	(void)here;
#endif
}

struct start {
	struct own_context *context;
	void (*body)(void *arg);
	void *arg;
};

static void begin(void *at)
{
	struct start start = *(struct start *)at;

	start.context->fake = NULL;
	arrive(start.context);
	start.body(start.arg);
	abort();
}

/* Stacks lie at like addresses; that each begins a little lower than the one
 * before has them share the processor's cache. */
void dist__own_context_begin(struct own_context *context,
			     void (*body)(void *arg), void *arg)
{
	static unsigned turn;
	char *top = (char *)context->stack + context->bytes -
		    128 * (size_t)(turn++ % 16);
	struct start *start =
		(struct start *)(top - (sizeof *start + 15) / 16 * 16);
	void **frame = (void **)start - FRAME;

	*start = (struct start){context, body, arg};
	fill(frame, begin, start);
	context->sp = frame;
}

void dist__own_context_switch(struct own_context *from, struct own_context *to,
			      bool for_good)
{
	left = from;
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_start_switch_fiber(for_good ? NULL : &from->fake, to->stack,
				       to->bytes);
#elif defined(__SANITIZE_THREAD__)
	if (!from->fiber)
		from->fiber = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(to->fiber, 0);
#endif
	(void)for_good;
	dist__own_switch(&from->sp, to->sp);
	arrive(from);
}
