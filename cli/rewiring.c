#include "cli/rewiring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *words, *value;
} options[REWIRING_OPTIONS] = {
	{"inter-bandwidth",
	 "what the narrowest link between two nodes has (100G, 12.5GB/s), or "
	 "as many times as much (x2); the others in proportion",
	 "BW|xF"},
	{"inter-latency",
	 "what the links between two nodes take together (5us), or as many "
	 "times as much",
	 "TIME|xF"},
	{"intra-bandwidth", "the same of links within nodes", "BW|xF"},
	{"intra-latency", "the same of links within nodes", "TIME|xF"},
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

/* Appends the option to text, in the words of dist__terms_read. */
static enum dist_error append(char text[DIST__LINKS_SIZE], const char *name,
			      const char *words, struct dist_message *message)
{
	size_t used = strlen(text), room = DIST__LINKS_SIZE - used;
	int len = snprintf(text + used, room, "%s%s %s", used ? ", " : "", name,
			   words);

	if (len >= 0 && (size_t)len < room)
		return DIST_OK;
	snprintf(message->text, sizeof(message->text),
		 "--%s: expected fewer characters", name);
	return DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error rewiring_read(const struct rewiring_arguments *arguments,
			      struct dist__terms *terms,
			      char text[DIST__LINKS_SIZE],
			      struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	text[0] = '\0';
	for (size_t i = 0; i < REWIRING_OPTIONS && !error; i++) {
		const char *words = arguments->words[i];

		if (!words)
			continue;
		error = dist__terms_set(terms, options[i].name, words, message);
		if (!error)
			error = append(text, options[i].name, words, message);
	}
	return error;
}

void rewiring_release(struct rewiring_arguments *arguments)
{
	for (size_t i = 0; i < REWIRING_OPTIONS; i++)
		free(arguments->words[i]);
}
