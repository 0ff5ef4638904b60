/*
 * late.c - finds SimGrid when a simulation asks for it first, not when the
 * process starts: its libraries take longer to load than most commands run.
 *
 * What sim/ calls of SimGrid and of the shim is listed by the build in names.h.
 * Each name is defined here as a jump to where the shared object of the engine
 * has the function of that name, so callers and the stack are as without.
 * A library or program that links this needs neither the shim nor SimGrid.
 */
#include "sim/engine/shim.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "base/data.h"

#if defined(__x86_64__)
#define JUMP "jmp *dist__at_\\name(%rip)\n"
#elif defined(__aarch64__)
#define JUMP                                                                   \
	"adrp x16, dist__at_\\name\n"                                          \
	"ldr x16, [x16, #:lo12:dist__at_\\name]\n"                             \
	"br x16\n"
#else
#error "expected x86-64 or ARM64"
#endif

__asm__(".macro jump name\n"
	".pushsection .text\n"
	".p2align 4\n"
	".globl \\name\n"
	".hidden \\name\n"
	".type \\name, %function\n"
	"\\name:\n"
	".cfi_startproc\n" JUMP ".cfi_endproc\n"
	".size \\name, . - \\name\n"
	".popsection\n"
	".endm\n");

#define NAME(name)                                                             \
	__attribute__((visibility("hidden"))) void *dist__at_##name;           \
	__asm__("jump " #name);
#include "sim/engine/names.h"
#undef NAME

static const struct {
	const char *name;
	void **at;
} functions[] = {
#define NAME(name) {#name, &dist__at_##name},
#include "sim/engine/names.h"
};

bool dist__engine_open(char *text, size_t size)
{
	static const char *const places[] = {ENGINE, "lib/" ENGINE};
	static bool is_open;
	char path[PATH_MAX];
	void *engine;

	if (is_open)
		return true;
	engine = dlopen(dist__data_above(places, path) ? path : ENGINE,
			RTLD_LAZY);
	for (size_t i = 0; engine && i < sizeof functions / sizeof *functions;
	     i++) {
		*functions[i].at = dlsym(engine, functions[i].name);
		if (!*functions[i].at)
			engine = NULL;
	}
	is_open = engine != NULL;
	if (!is_open)
		snprintf(text, size, "no simulation engine: %s", dlerror());
	return is_open;
}
