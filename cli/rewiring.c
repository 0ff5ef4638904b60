#include "cli/rewiring.h"

#include "base/text.h"

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

enum dist_error rewiring_read(const struct rewiring_arguments *arguments,
			      struct dist__link_overrides *overrides,
			      char text[DIST__LINKS_SIZE],
			      struct dist__refusal *refusal)
{
	text[0] = '\0';
	for (size_t i = 0; i < REWIRING_OPTIONS; i++) {
		const char *name = rewiring_options[i].name;
		const char *words = arguments->text[i];

		if (!words)
			continue;
		refusal->option = name;
		if (dist__link_overrides_set(overrides, name, words,
					     &refusal->message))
			return DIST_ERR_INVALID_ARGUMENT;
		/* In the words of dist__link_overrides_read. */
		if (!dist__append(text, DIST__LINKS_SIZE, "%s%s %s",
				  *text ? ", " : "", name, words))
			return dist__refuse_option(
				refusal, name,
				"--%s: expected fewer characters", name);
	}
	return DIST_OK;
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

enum dist_error rewiring_check(const struct dist__link_overrides *overrides,
			       bool inter, bool intra,
			       struct dist__refusal *refusal)
{
	const bool has[] = {inter, intra};
	struct dist__link_overrides alone;

	for (size_t i = 0; i < REWIRING_OPTIONS; i++)
		if (!has[i / 2] && rewiring_pick(overrides, i, &alone))
			return dist__refuse_option(
				refusal, rewiring_options[i].name,
				"--%s: no link %s nodes is in use: expected %s",
				rewiring_options[i].name,
				i < 2 ? "between" : "within",
				i < 2 ? "ranks on several nodes"
				      : "several ranks on a node");
	return DIST_OK;
}
