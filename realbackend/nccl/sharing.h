/*
 * sharing.h - several ranks on one GPU: finds them, and explains NCCL's errors
 * about it: NCCL refuses it, or can be set to allow it (libraries.h). Private
 * to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_SHARING_H
#define LOCKSTEP_NCCL_SHARING_H

#include "realbackend/nccl/libraries.h"

/* Two ranks of a group with the same GPU, first < second; -1: none are
 * known. */
struct dist__sharers {
	int first, second;
};

/* dist__sharers_find returns the first two of num ranks with the same GPU, as
 * far as the GPUs are known. */
struct dist__sharers dist__sharers_find(const struct dist__cuda_uuid *gpus,
					int num);

/* dist__sharing_is_refused returns whether text, a message of NCCL, says that
 * two ranks have the same GPU. */
bool dist__sharing_is_refused(const char *text);

/* Size of the text of dist__sharing_advise. */
#define DIST__ADVICE_TEXT 128

/* dist__sharing_advise writes what that version does with two ranks on one GPU,
 * and what would allow it. */
void dist__sharing_advise(int version, char *text, size_t size);

#endif
