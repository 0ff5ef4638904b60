#include "sim/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quantity.h"

#define VERSION "v1"

bool dist__sim_plan_add(struct dist__sim_plan *plan,
			struct dist__sim_choice choice)
{
	return dist__array_add(&plan->choices, &plan->num_choices, &choice,
			       sizeof choice);
}

/* "2.1,5.3", up to end */
static bool read_choices(struct dist__sim_plan *plan, const char *at,
			 const char *end)
{
	uint64_t point, option, least = 0;

	for (;; at++) {
		if (!dist__digits_step(&at, UINT32_MAX - 1, &point) ||
		    point < least || *at++ != '.' ||
		    !dist__digits_step(&at, UINT32_MAX, &option))
			return false;
		least = point + 1;
		if (!dist__sim_plan_add(
			    plan, (struct dist__sim_choice){(uint32_t)point,
							    (uint32_t)option}))
			return false;
		if (at == end)
			return true;
		if (*at != ',')
			return false;
	}
}

/* One part between two slashes. */
static bool read_part(struct dist__sim_plan *plan, const char *part,
		      const char *end)
{
	size_t len = (size_t)(end - part);

	if (len == 3 && strncmp(part, "any", len) == 0 && !plan->chooses) {
		plan->chooses = true;
		return true;
	}
	if (strncmp(part, "any:", 4) == 0 && !plan->chooses) {
		plan->chooses = true;
		return read_choices(plan, part + 4, end);
	}
	if (strncmp(part, "skew:", 5) == 0 && !plan->skew) {
		part += 5;
		return dist__digits_step(&part, UINT64_MAX, &plan->skew) &&
		       part == end && plan->skew > 0;
	}
	if (strncmp(part, "p2p:", 4) != 0 || plan->p2p[0] || len == 4 ||
	    len - 4 >= sizeof plan->p2p)
		return false;
	memcpy(plan->p2p, part + 4, len - 4);
	return true;
}

bool dist__sim_plan_parse(struct dist__sim_plan *plan, const char *token)
{
	const char *at = token, *end;

	if (strncmp(at, VERSION, strlen(VERSION)) != 0)
		return false;
	at += strlen(VERSION);
	while (*at == '/') {
		at++;
		end = at + strcspn(at, "/");
		if (!read_part(plan, at, end))
			return false;
		at = end;
	}
	return *at == '\0';
}

char *dist__sim_plan_token(const struct dist__sim_plan *plan)
{
	char *token = NULL;
	size_t len;
	FILE *out = open_memstream(&token, &len);

	if (!out)
		return NULL;
	fputs(VERSION, out);
	if (plan->p2p[0])
		fprintf(out, "/p2p:%s", plan->p2p);
	if (plan->chooses)
		fputs("/any", out);
	for (size_t i = 0; i < plan->num_choices; i++)
		fprintf(out, "%c%" PRIu32 ".%" PRIu32, i > 0 ? ',' : ':',
			plan->choices[i].point, plan->choices[i].option);
	if (plan->skew)
		fprintf(out, "/skew:%" PRIu64, plan->skew);
	if (fclose(out) == 0)
		return token;
	free(token);
	return NULL;
}

void dist__sim_plan_release(struct dist__sim_plan *plan)
{
	free(plan->choices);
	plan->choices = NULL;
	plan->num_choices = 0;
}
