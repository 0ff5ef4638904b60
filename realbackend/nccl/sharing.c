/* sharing.c - several ranks on one GPU. */
#include "realbackend/nccl/sharing.h"

#include <stdio.h>
#include <string.h>

static bool is_known(const struct dist__cuda_uuid *gpu)
{
	static const struct dist__cuda_uuid unknown;

	return memcmp(gpu, &unknown, sizeof unknown) != 0;
}

struct dist__sharers dist__sharers_find(const struct dist__cuda_uuid *gpus,
					int num)
{
	struct dist__sharers s;

	for (s.second = 1; s.second < num; s.second++)
		for (s.first = 0; s.first < s.second; s.first++)
			if (is_known(&gpus[s.first]) &&
			    memcmp(&gpus[s.first], &gpus[s.second],
				   sizeof *gpus) == 0)
				return s;
	return (struct dist__sharers){-1, -1};
}

/* In the words of init.cc, up to 2.29 and from 2.30 on. */
bool dist__sharing_is_refused(const char *text)
{
	return strstr(text, "Duplicate GPU detected") ||
	       strstr(text, "using the same GPU");
}

void dist__sharing_advise(int version, char *text, size_t size)
{
	bool shares = version >= DIST__NCCL_SHARES;

	snprintf(text, size,
		 shares ? "NCCL %d.%d.%d allows it where %s=1 is set for every "
			  "rank"
			: "NCCL %d.%d.%d refuses it; from 2.30 on it allows it "
			  "where %s=1 is set",
		 version / 10000, version % 10000 / 100, version % 100,
		 DIST__NCCL_SHARING);
}
