/* terms.c - what is to be instead of what a platform file says, in words. */
#include "sim/platform_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/quantity.h"

#define LEAST_FACTOR 0.001
#define MOST_FACTOR  1000

/* The words, and the part of struct dist__terms that each is about. */
static const struct {
	const char *name;
	bool is_latency;
	size_t offset;
} parts[] = {
	{"inter-bandwidth", false,
	 offsetof(struct dist__terms, inter.bandwidth)},
	{"inter-latency", true, offsetof(struct dist__terms, inter.latency)},
	{"intra-bandwidth", false,
	 offsetof(struct dist__terms, intra.bandwidth)},
	{"intra-latency", true, offsetof(struct dist__terms, intra.latency)},
};

#define NUM_PARTS (sizeof parts / sizeof parts[0])

static bool read_factor(const char *words, double *factor)
{
	char *end;

	errno = 0;
	*factor = strtod(words, &end);
	return !errno && end != words && !*end && *factor >= LEAST_FACTOR &&
	       *factor <= MOST_FACTOR;
}

static bool read_change(const char *words, bool is_latency,
			struct dist__change *change)
{
	change->is_factor = words[0] == 'x';
	if (change->is_factor)
		return read_factor(words + 1, &change->value);
	return is_latency ? dist__latency_read(words, &change->value)
			  : dist__bandwidth_read(words, &change->value);
}

enum dist_error dist__terms_set(struct dist__terms *terms, const char *name,
				const char *words, struct dist_message *message)
{
	size_t i = 0;

	while (i < NUM_PARTS && strcmp(parts[i].name, name) != 0)
		i++;
	if (i == NUM_PARTS)
		return dist__platform_refuse(
			message,
			"links: no word \"%.40s\": expected inter-bandwidth, "
			"inter-latency, intra-bandwidth or intra-latency",
			name);
	if (read_change(words, parts[i].is_latency,
			(void *)((char *)terms + parts[i].offset)))
		return DIST_OK;
	return dist__platform_refuse(
		message,
		"--%s: expected %s, or a factor of x%g to x%g, not \"%.40s\"",
		name,
		parts[i].is_latency ? DIST__LATENCY_WORDS
				    : DIST__BANDWIDTH_WORDS,
		LEAST_FACTOR, (double)MOST_FACTOR, words);
}

enum dist_error dist__terms_read(struct dist__terms *terms, const char *words,
				 struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	char text[DIST__LINKS_SIZE], *part, *rest = NULL;

	*terms = (struct dist__terms){.name = ""};
	if (strlen(words) >= sizeof text)
		return dist__platform_refuse(
			message, "links: expected less than %zu characters",
			sizeof text);
	strcpy(text, words);
	for (part = strtok_r(text, ",", &rest); part && !error;
	     part = strtok_r(NULL, ",", &rest)) {
		char *name = part + strspn(part, " ");
		size_t len = strcspn(name, " ");
		char *value = name + len + (name[len] != '\0');

		name[len] = '\0';
		error = dist__terms_set(terms, name, value, message);
	}
	return error;
}
