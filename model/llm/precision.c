/* precision.c - the names of what matrices are multiplied in. */
#include <strings.h>

#include "model/llm/device.h"

static const char *const precisions[] = {"bf16", "fp16", "fp8", "mxfp8",
					 "fp4",  "tf32", "fp32"};

const char *llm_precision_name(enum llm_precision precision)
{
	return precisions[precision];
}

enum llm_precision llm_precision_find(const char *name)
{
	if (strcasecmp(name, "nvfp4") == 0) /* the only kind of fp4 here */
		return LLM_FP4;
	for (int p = 0; p < LLM_PRECISIONS; p++)
		if (strcasecmp(name, precisions[p]) == 0)
			return (enum llm_precision)p;
	return LLM_PRECISIONS;
}
