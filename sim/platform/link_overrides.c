/* link_overrides.c - what is to be instead of what a platform file says, in
 * words. */
#include "sim/platform/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"

#define LEAST_FACTOR 0.001
#define MOST_FACTOR  1000

/* The words, and the part of struct dist__link_overrides that each is about. */
static const struct {
	const char *name;
	bool is_latency;
	size_t offset;
} parts[] = {
	{"inter-bandwidth", false,
	 offsetof(struct dist__link_overrides, inter.bandwidth)},
	{"inter-latency", true,
	 offsetof(struct dist__link_overrides, inter.latency)},
	{"intra-bandwidth", false,
	 offsetof(struct dist__link_overrides, intra.bandwidth)},
	{"intra-latency", true,
	 offsetof(struct dist__link_overrides, intra.latency)},
};

#define NUM_PARTS (sizeof parts / sizeof parts[0])

static bool read_change(const char *text, bool is_latency,
			struct dist__change *change)
{
	change->is_factor = text[0] == 'x';
	if (change->is_factor)
		return dist__number_read(text + 1, &change->value) &&
		       change->value >= LEAST_FACTOR &&
		       change->value <= MOST_FACTOR;
	return is_latency ? dist__latency_read(text, &change->value)
			  : dist__bandwidth_read(text, &change->value);
}

enum dist_error dist__link_overrides_set(struct dist__link_overrides *overrides,
					 const char *name, const char *text,
					 struct dist_message *message)
{
	size_t i = 0;

	while (i < NUM_PARTS && strcmp(parts[i].name, name) != 0)
		i++;
	if (i == NUM_PARTS)
		return dist__refuse(
			message,
			"links: no word \"%.40s\": expected inter-bandwidth, "
			"inter-latency, intra-bandwidth or intra-latency",
			name);
	if (read_change(text, parts[i].is_latency,
			(void *)((char *)overrides + parts[i].offset)))
		return DIST_OK;
	return dist__refuse(
		message,
		"--%s: expected %s, or a factor of x%g to x%g, not \"%.40s\"",
		name,
		parts[i].is_latency ? DIST__LATENCY_WORDS
				    : DIST__BANDWIDTH_WORDS,
		LEAST_FACTOR, (double)MOST_FACTOR, text);
}

enum dist_error
dist__link_overrides_read(struct dist__link_overrides *overrides,
			  const char *words, struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	char text[DIST__LINKS_SIZE], *part, *rest = NULL;

	*overrides = (struct dist__link_overrides){.name = ""};
	if (strlen(words) >= sizeof text)
		return dist__refuse(message,
				    "links: expected less than %zu characters",
				    sizeof text);
	strcpy(text, words);
	for (part = strtok_r(text, ",", &rest); part && !error;
	     part = strtok_r(NULL, ",", &rest)) {
		char *name = part + strspn(part, " ");
		size_t len = strcspn(name, " ");
		char *value = name + len + (name[len] != '\0');

		name[len] = '\0';
		error = dist__link_overrides_set(overrides, name, value,
						 message);
	}
	return error;
}
