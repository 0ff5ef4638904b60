/* profile.c - a library profile: its file, and algorithms forced by name. */
#include "core/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/algorithm.h"
#include "core/yaml_keys.h"

/* ---- names ------------------------------------------------------------ */

static struct dist__yaml_names algorithm_names(enum dist__op_kind op)
{
	const struct dist__algorithm *const *all = dist__algorithms();
	struct dist__yaml_names names = {.used = 0};

	for (; *all; all++)
		if ((*all)->op == op)
			dist__yaml_names_add(&names, (*all)->name);
	return names;
}

static struct dist__yaml_names collective_names(void)
{
	struct dist__yaml_names names = {.used = 0};

	for (int op = 0; op < DIST__OP_KINDS; op++)
		if (!dist__op_is_p2p((enum dist__op_kind)op))
			dist__yaml_names_add(
				&names, dist__op_name((enum dist__op_kind)op));
	return names;
}

/* Finds the collective named name; false: there is none. */
static bool collective_find(const char *name, enum dist__op_kind *op)
{
	*op = dist__op_from_name(name);
	return *op != DIST__OP_KINDS && !dist__op_is_p2p(*op);
}

/* ---- rules ------------------------------------------------------------ */

static struct dist__rule rule_for(enum dist__op_kind op)
{
	return (struct dist__rule){
		.op = op, .max_world_size = INT_MAX, .max_bytes = SIZE_MAX};
}

/* Puts count rules in front of the profile's own, or behind them. */
static enum dist_error add_rules(struct dist__profile *profile, bool in_front,
				 const struct dist__rule *rules, size_t count)
{
	size_t old = profile->num_rules;
	struct dist__rule *all =
		realloc(profile->rules, (old + count) * sizeof *all);

	if (!all)
		return DIST_ERR_NO_MEMORY;
	if (in_front)
		memmove(all + count, all, old * sizeof *all);
	memcpy(all + (in_front ? 0 : old), rules, count * sizeof *all);
	profile->rules = all;
	profile->num_rules = old + count;
	return DIST_OK;
}

static enum dist_error read_algorithm(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *value, void *into)
{
	struct dist__rule *rule = into;
	const char *name = dist__yaml_text(value);

	rule->algorithm = dist__algorithm_find(rule->op, name);
	if (rule->algorithm)
		return DIST_OK;
	return dist__yaml_refuse(
		yaml, value,
		"%s: expected an algorithm of %s (%s), not \"%.40s\"",
		key->name, dist__op_name(rule->op),
		algorithm_names(rule->op).text, name);
}

static const struct dist__yaml_key rule_keys[] = {
	{.name = "max_bytes",
	 .read = dist__yaml_read_size,
	 .offset = offsetof(struct dist__rule, max_bytes)},
	{.name = "max_world_size",
	 .read = dist__yaml_read_count,
	 .offset = offsetof(struct dist__rule, max_world_size)},
	{.name = "min_node_ranks",
	 .read = dist__yaml_read_count,
	 .offset = offsetof(struct dist__rule, min_node_ranks)},
	{.name = "algorithm", .read = read_algorithm, .required = true},
	{.name = NULL},
};

static enum dist_error read_rules(const struct dist__yaml *yaml,
				  enum dist__op_kind op,
				  const yaml_node_t *list,
				  struct dist__profile *profile)
{
	const yaml_node_item_t *item;
	enum dist_error error = DIST_OK;

	if (list->type != YAML_SEQUENCE_NODE)
		return dist__yaml_refuse_value(yaml, dist__op_name(op), list,
					       "a list of rules");
	for (item = list->data.sequence.items.start;
	     item < list->data.sequence.items.top && !error; item++) {
		struct dist__rule rule = rule_for(op);

		error = dist__yaml_read_mapping(yaml, rule_keys, "a rule",
						dist__yaml_node(yaml, *item),
						&rule);
		if (!error)
			error = add_rules(profile, false, &rule, 1);
	}
	return error;
}

static enum dist_error read_selection(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *mapping, void *into)
{
	const yaml_node_pair_t *pair;
	enum dist_error error = DIST_OK;

	if (mapping->type != YAML_MAPPING_NODE)
		return dist__yaml_refuse_value(
			yaml, key->name, mapping,
			"a mapping from operations to lists of rules");
	for (pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top && !error; pair++) {
		const yaml_node_t *name = dist__yaml_node(yaml, pair->key);
		enum dist__op_kind op;

		if (!collective_find(dist__yaml_text(name), &op))
			return dist__yaml_refuse(
				yaml, name,
				"unknown operation \"%.40s\": expected one of "
				"%s",
				dist__yaml_text(name), collective_names().text);
		error = dist__yaml_repeated(yaml, mapping, pair);
		if (!error)
			error = read_rules(yaml, op,
					   dist__yaml_node(yaml, pair->value),
					   into);
	}
	return error;
}

/* ---- when a send ends ------------------------------------------------- */

bool dist__p2p_mode_parse(struct dist__p2p_mode *mode, const char *words)
{
	const char *digits = words + strlen("eager:");
	uintmax_t bytes;

	if (strcmp(words, "rendezvous") == 0) {
		mode->eager_below = 0;
		return true;
	}
	if (strcmp(words, "buffered") == 0) {
		mode->eager_below = SIZE_MAX;
		return true;
	}
	if (strncmp(words, "eager:", strlen("eager:")) != 0 || !*digits ||
	    digits[strspn(digits, "0123456789")] != '\0')
		return false;
	errno = 0;
	bytes = strtoumax(digits, NULL, 10);
	if (errno || bytes >= SIZE_MAX - 1)
		return false;
	mode->eager_below = (size_t)bytes + 1;
	return true;
}

void dist__p2p_mode_print(const struct dist__p2p_mode *mode, char *text,
			  size_t size)
{
	if (mode->eager_below == 0)
		snprintf(text, size, "rendezvous");
	else if (mode->eager_below == SIZE_MAX)
		snprintf(text, size, "buffered");
	else
		snprintf(text, size, "eager:%zu", mode->eager_below - 1);
}

static enum dist_error read_p2p(const struct dist__yaml *yaml,
				const struct dist__yaml_key *key,
				const yaml_node_t *value, void *into)
{
	struct dist__profile *profile = into;

	if (dist__p2p_mode_parse(&profile->p2p, dist__yaml_text(value)))
		return DIST_OK;
	return dist__yaml_refuse_value(yaml, key->name, value, DIST__P2P_MODES);
}

/* ---- the file --------------------------------------------------------- */

#define FIELD(field)                                                           \
	.offset = offsetof(struct dist__profile, field),                       \
	.bytes = sizeof((struct dist__profile *)0)->field

static const struct dist__yaml_key profile_keys[] = {
	{.name = "name",
	 .read = dist__yaml_read_text,
	 FIELD(name),
	 .required = true},
	{.name = "version", .read = dist__yaml_read_text, FIELD(version)},
	{.name = "source", .read = dist__yaml_read_text, FIELD(source)},
	{.name = "message_overhead_ns",
	 .read = dist__yaml_read_double,
	 FIELD(message_overhead_ns)},
	{.name = "reduce_Bps",
	 .read = dist__yaml_read_double,
	 FIELD(reduce_Bps)},
	{.name = "segment_bytes",
	 .read = dist__yaml_read_count,
	 FIELD(segment_bytes)},
	{.name = "p2p", .read = read_p2p},
	{.name = "selection", .read = read_selection},
	{.name = NULL},
};

void dist__profile_init(struct dist__profile *profile)
{
	*profile = (struct dist__profile){
		.name = "default",
		.source = "built in",
		.segment_bytes = DIST__SEGMENT_BYTES,
	};
}

enum dist_error dist__profile_load(struct dist__profile *profile,
				   const char *path,
				   struct dist_message *message)
{
	struct dist__profile loaded = {.segment_bytes = DIST__SEGMENT_BYTES};
	enum dist_error error = dist__yaml_load(path, profile_keys, "a profile",
						&loaded, message);

	dist__profile_init(profile);
	if (error)
		dist__profile_release(&loaded);
	else
		*profile = loaded;
	return error;
}

void dist__profile_release(struct dist__profile *profile)
{
	free(profile->rules);
	dist__profile_init(profile);
}

/* ---- forcing ---------------------------------------------------------- */

/* Makes a rule of one word, "algorithm" (of all_reduce) or "op=algorithm". */
static enum dist_error rule_of_word(const char *word, struct dist__rule *rule,
				    struct dist_message *message)
{
	const char *equals = strchr(word, '=');
	const char *name = equals ? equals + 1 : word;
	char op_name[32] = "all_reduce";
	enum dist__op_kind op;

	if (equals)
		snprintf(op_name, sizeof op_name, "%.*s", (int)(equals - word),
			 word);
	if (!collective_find(op_name, &op)) {
		snprintf(message->text, sizeof message->text,
			 "unknown operation \"%s\": expected one of %s",
			 op_name, collective_names().text);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	*rule = rule_for(op);
	rule->algorithm = dist__algorithm_find(op, name);
	if (rule->algorithm)
		return DIST_OK;
	snprintf(message->text, sizeof message->text,
		 "unknown algorithm \"%.40s\" of %s: expected one of %s", name,
		 op_name, algorithm_names(op).text);
	return DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist__profile_force(struct dist__profile *profile,
				    const char *words,
				    struct dist_message *message)
{
	struct dist__profile forced = {.num_rules = 0};
	enum dist_error error = DIST_OK;
	bool more = true;

	while (more && !error) {
		size_t len = strcspn(words, ",");
		struct dist__rule rule;
		char word[80];

		snprintf(word, sizeof word, "%.*s", (int)len, words);
		error = rule_of_word(word, &rule, message);
		if (!error)
			error = add_rules(&forced, false, &rule, 1);
		more = words[len] == ',';
		words += len + more;
	}
	if (!error)
		error = add_rules(profile, true, forced.rules,
				  forced.num_rules);
	if (error == DIST_ERR_NO_MEMORY)
		snprintf(message->text, sizeof message->text, "out of memory");
	dist__profile_release(&forced);
	return error;
}
