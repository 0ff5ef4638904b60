/*
 * sharing.h - several ranks on one GPU: which of them have one, and what NCCL
 * makes of it, which refuses it or is told to allow it (libraries.h). Private
 * to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_SHARING_H
#define LOCKSTEP_NCCL_SHARING_H

#include "realbackend/nccl/libraries.h"

/* Two ranks of a group that have one GPU, the first below the second; -1: no
 * two are known to. */
struct dist__sharers {
	int first, second;
};

/* dist__sharers_find returns the first two of num ranks that have one GPU, as
 * far as their GPUs are known. */
struct dist__sharers dist__sharers_find(const struct dist__cuda_uuid *gpus,
					int num);

/* dist__sharing_is_refused returns whether text, NCCL's, is that two ranks have
 * one GPU. */
bool dist__sharing_is_refused(const char *text);

/* Room for what dist__sharing_advise writes. */
#define DIST__ADVICE_TEXT 128

/* dist__sharing_advise writes what that version says to two ranks on one GPU,
 * and what would allow it. */
void dist__sharing_advise(int version, char *text, size_t size);

#endif
