#include "cli/rewiring.h"

#include <stdio.h>
#include <string.h>

#include "base/refuse.h"

#define AT(i) (offsetof(struct rewiring_arguments, text) + (i) * sizeof(char *))

const struct option rewiring_options[] = {
	{"inter-bandwidth", OPTION_TEXT, AT(0), "BW|xF",
	 .help = "bandwidth of the narrowest link between two nodes (100G, "
		 "12.5GB/s), or a factor (x2); others change in proportion"},
	{"inter-latency", OPTION_TEXT, AT(1), "TIME|xF",
	 .help = "latency of all links between two nodes together (5us), or a "
		 "factor (x2)"},
	{"intra-bandwidth", OPTION_TEXT, AT(2), "BW|xF",
	 .help = "the same of links within nodes"},
	{"intra-latency", OPTION_TEXT, AT(3), "TIME|xF",
	 .help = "the same of links within nodes"},
	{.name = NULL}};

/* Appends the option to text, in the words of dist__link_overrides_read. */
static enum dist_error append(char text[DIST__LINKS_SIZE], const char *name,
			      const char *words, struct dist_message *message)
{
	size_t used = strlen(text), room = DIST__LINKS_SIZE - used;
	int len = snprintf(text + used, room, "%s%s %s", used ? ", " : "", name,
			   words);

	if (len >= 0 && (size_t)len < room)
		return DIST_OK;
	return dist__refuse(message, "--%s: expected fewer characters", name);
}

enum dist_error rewiring_read(const struct rewiring_arguments *arguments,
			      struct dist__link_overrides *overrides,
			      char text[DIST__LINKS_SIZE], const char **option,
			      struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	text[0] = '\0';
	for (size_t i = 0; i < REWIRING_OPTIONS && !error; i++) {
		const char *words = arguments->text[i];

		if (!words)
			continue;
		error = dist__link_overrides_set(
			overrides, rewiring_options[i].name, words, message);
		if (!error)
			error = append(text, rewiring_options[i].name, words,
				       message);
		if (error && option)
			*option = rewiring_options[i].name;
	}
	return error;
}

bool rewiring_pick(const struct dist__link_overrides *overrides, size_t i,
		   struct dist__link_overrides *alone)
{
	const struct dist__rewiring *from =
		i < 2 ? &overrides->inter : &overrides->intra;
	struct dist__rewiring *to;

	*alone = (struct dist__link_overrides){.name = ""};
	to = i < 2 ? &alone->inter : &alone->intra;
	if (i % 2 == 0)
		to->bandwidth = from->bandwidth;
	else
		to->latency = from->latency;
	return to->bandwidth.value > 0 || to->latency.value > 0;
}
