/*
 * target.h - what is fuzzed: one function for every reader of what others
 * wrote.
 *
 * tests/fuzz/main.c mutates and runs them. With clang's libFuzzer, by hand:
 * FUZZ_TARGET names the one that LLVMFuzzerTestOneInput runs.
 */
#ifndef LOCKSTEP_TESTS_FUZZ_TARGET_H
#define LOCKSTEP_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	/* Reads the input; aborts after a line on stderr if the reader did what
	 * it must not. Returns 0. */
	int (*run)(const uint8_t *data, size_t size);
	/* Files of the repository to begin with, by pattern; NULL: any bytes
	 * will do. Beside them there are those of tests/fuzz/corpus/NAME. */
	const char *corpus;
};

/* Ends with a name of NULL. */
extern const struct fuzz_target fuzz_targets[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
