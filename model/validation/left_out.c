#include "model/validation/left_out.h"

#include <stdio.h>
#include <string.h>

void left_out_add(struct left_out *left_out, const struct dist_message *why)
{
	struct left_out_reason *reason = left_out->reasons;
	struct left_out_reason now = {.num = 1};

	snprintf(now.text, sizeof now.text, "%.159s", why->text);
	left_out->num++;
	for (size_t i = 0; i < left_out->num_reasons; i++, reason++)
		if (strcmp(reason->text, now.text) == 0) {
			reason->num++;
			return;
		}
	if (left_out->num_reasons < LEFT_OUT_REASONS)
		left_out->reasons[left_out->num_reasons++] = now;
}
