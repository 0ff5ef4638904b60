/* generation.c - the architecture of a GPU, which its name begins with. */
#include "model/llm/device.h"

#include <string.h>

enum llm_generation llm_generation_of(const char *name)
{
	static const struct {
		const char *begin;
		enum llm_generation generation;
	} kinds[] = {{"V100", LLM_VOLTA},   {"A100", LLM_AMPERE},
		     {"A800", LLM_AMPERE},  {"B", LLM_BLACKWELL},
		     {"GB", LLM_BLACKWELL}, {"MI", LLM_CDNA},
		     {"RTX", LLM_GRAPHICS}, {"L4", LLM_GRAPHICS},
		     {"A10", LLM_GRAPHICS}, {"A40", LLM_GRAPHICS},
		     {"T4", LLM_GRAPHICS}};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strncmp(name, kinds[i].begin, strlen(kinds[i].begin)) == 0)
			return kinds[i].generation;
	return LLM_HOPPER;
}
