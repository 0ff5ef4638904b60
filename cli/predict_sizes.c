/* predict_sizes.c - the numbers of ranks that a prediction is asked for. */
#include "cli/predict.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"

enum dist_error predict_read_sizes(const char *text,
				   int sizes[PREDICTION_SIZES], size_t *num,
				   struct prediction_refusal *refusal)
{
	const char *next = text;

	refusal->option = "world-size";
	do {
		size_t len = strcspn(next, ",");
		char number[32];
		int64_t n;

		refusal->number = *num;
		snprintf(number, sizeof number, "%.*s", (int)len, next);
		if (!dist__count_read(number, 1, 1 << 24, &n))
			return dist__refuse(&refusal->message,
					    "--world-size: expected numbers of "
					    "1 to 16777216 such as 8 or "
					    "8,16,32, not \"%s\"",
					    text);
		if (*num == PREDICTION_SIZES)
			return dist__refuse(&refusal->message,
					    "--world-size: expected at most "
					    "64 numbers");
		sizes[(*num)++] = (int)n;
		next += len;
	} while (*next++);
	return DIST_OK;
}
