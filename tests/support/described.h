/* described.h - a platform file, written from a description of its nodes in the
 * words of lockstep platform new. */
#ifndef LOCKSTEP_TESTS_SUPPORT_DESCRIBED_H
#define LOCKSTEP_TESTS_SUPPORT_DESCRIBED_H

/* What there is; NULL or "": not said. */
struct described {
	int nodes, gpus;
	const char *gpu, *intra, *inter;
	const char *topology; /* else "star" */
	const char *degrade;
};

/* described_write writes it to a new file at path, a template of mkstemp(), or
 * fails the test. */
void described_write(const struct described *described, char *path);

#endif
