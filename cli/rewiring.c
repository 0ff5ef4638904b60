#include "cli/rewiring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/quantity.h"
#include "platform/clause.h"

#define LEAST_FACTOR 0.001
#define MOST_FACTOR  1000

/* The options, and the part of struct dist__terms that each is about. */
static const struct {
	const char *name, *words, *value;
	bool is_latency;
	size_t offset;
} options[REWIRING_OPTIONS] = {
	{"inter-bandwidth",
	 "what the narrowest link between two nodes has (100G, 12.5GB/s), or "
	 "as many times as much (x2); the others in proportion",
	 "BW|xF", false, offsetof(struct dist__terms, inter.bandwidth)},
	{"inter-latency",
	 "what the links between two nodes take together (5us), or as many "
	 "times as much",
	 "TIME|xF", true, offsetof(struct dist__terms, inter.latency)},
	{"intra-bandwidth", "the same of links within nodes", "BW|xF", false,
	 offsetof(struct dist__terms, intra.bandwidth)},
	{"intra-latency", "the same of links within nodes", "TIME|xF", true,
	 offsetof(struct dist__terms, intra.latency)},
};

void rewiring_init(struct rewiring_arguments *arguments,
		   struct poptOption table[REWIRING_TABLE])
{
	static const struct poptOption end = POPT_TABLEEND;

	*arguments = (struct rewiring_arguments){{NULL}};
	for (size_t i = 0; i < REWIRING_OPTIONS; i++)
		table[i] = (struct poptOption){
			options[i].name,      '\0', POPT_ARG_STRING,
			&arguments->words[i], 0,    options[i].words,
			options[i].value};
	table[REWIRING_OPTIONS] = end;
}

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

enum dist_error rewiring_read(const struct rewiring_arguments *arguments,
			      struct dist__terms *terms,
			      struct dist_message *message)
{
	for (size_t i = 0; i < REWIRING_OPTIONS; i++) {
		const char *words = arguments->words[i];
		void *place = (char *)terms + options[i].offset;

		if (words && !read_change(words, options[i].is_latency, place))
			return platform_refuse(
				message,
				"--%s: expected %s, or a factor of x%g to x%g, "
				"not \"%.40s\"",
				options[i].name,
				options[i].is_latency
					? DIST__LATENCY_WORDS
					: DIST__BANDWIDTH_WORDS,
				LEAST_FACTOR, (double)MOST_FACTOR, words);
	}
	return DIST_OK;
}

void rewiring_describe(const struct rewiring_arguments *arguments, char *text,
		       size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < REWIRING_OPTIONS && used < size; i++)
		if (arguments->words[i])
			used += (size_t)snprintf(text + used, size - used,
						 "%s%s %s", used ? ", " : "",
						 options[i].name,
						 arguments->words[i]);
}

void rewiring_release(struct rewiring_arguments *arguments)
{
	for (size_t i = 0; i < REWIRING_OPTIONS; i++)
		free(arguments->words[i]);
}
