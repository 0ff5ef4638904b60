/* profile.c - reads a library profile, and algorithms forced by name. */
#include "coll/profile.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/data.h"
#include "base/quantity.h"
#include "coll/algorithm.h"
#include "base/refuse.h"
#include "base/spelling.h"
#include "base/text.h"
#include "base/yaml_keys.h"

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

static const struct dist__rule any = {.max_world_size = INT_MAX,
				      .max_bytes = SIZE_MAX};

/* Puts count rules in front of the profile's own, or behind them. */
static enum dist_error add_rules(struct dist__profile *profile, bool in_front,
				 const struct dist__rule *rules, size_t count)
{
	size_t old = profile->num_rules;
	struct dist__rule *all;

	if (count == 0)
		return DIST_OK;
	all = realloc(profile->rules, (old + count) * sizeof *all);
	if (!all)
		return DIST_ERR_NO_MEMORY;
	if (in_front)
		memmove(all + count, all, old * sizeof *all);
	memcpy(all + (in_front ? 0 : old), rules, count * sizeof *all);
	profile->rules = all;
	profile->num_rules = old + count;
	return DIST_OK;
}

/* One being read. */
struct rule_of {
	struct dist__rule rule;
	enum dist__op_kind op;
};

static enum dist_error read_algorithm(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *value, void *into)
{
	struct rule_of *of = into;
	const char *name = dist__yaml_text(value);
	struct dist__spelling near;

	of->rule.algorithm = dist__algorithm_find(of->op, name);
	if (of->rule.algorithm)
		return DIST_OK;
	return dist__yaml_refuse(
		yaml, value,
		"%s: expected an algorithm of %s (%s), not \"%.40s\"%s",
		key->name, dist__op_name(of->op), algorithm_names(of->op).text,
		name,
		dist__spelling_hint_of(&near, name,
				       algorithm_names(of->op).text));
}

/* What ranks of a node talk through, as --intra says it. */
static enum dist_error read_intra(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *key,
				  const yaml_node_t *value, void *into)
{
	struct dist__profile *profile = into;
	const char *word = dist__yaml_text(value);

	profile->shares_memory = strcmp(word, "shm") == 0;
	if (profile->shares_memory || strcmp(word, "tcp") == 0)
		return DIST_OK;
	return dist__yaml_refuse_value(yaml, key->name, value, "shm or tcp");
}

/* Sums that go another way round otherwise. */
static enum dist_error read_rule_intra(const struct dist__yaml *yaml,
				       const struct dist__yaml_key *key,
				       const yaml_node_t *value, void *into)
{
	struct rule_of *of = into;

	if (dist__op_reduces(of->op))
		return dist__yaml_refuse(
			yaml, value,
			"%s: expected none in a rule of %s, whose sums are the "
			"same by every transport",
			key->name, dist__op_name(of->op));
	if (strcmp(dist__yaml_text(value), "shm") != 0)
		return dist__yaml_refuse_value(yaml, key->name, value, "shm");
	of->rule.in_memory = true;
	return DIST_OK;
}

#define RULE(reader, field)                                                    \
	.name = #field, .read = (reader),                                      \
	.offset = offsetof(struct rule_of, rule.field)

static const struct dist__yaml_key rule_keys[] = {
	{RULE(dist__yaml_read_size, max_bytes)},
	{RULE(dist__yaml_read_count, max_world_size)},
	{RULE(dist__yaml_read_count, min_node_ranks)},
	{RULE(dist__yaml_read_count, max_nodes)},
	{.name = "intra", .read = read_rule_intra},
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
		struct rule_of of = {any, op};

		error = dist__yaml_read_mapping(yaml, rule_keys, "a rule",
						dist__yaml_node(yaml, *item),
						&of);
		if (!error)
			error = add_rules(profile, false, &of.rule, 1);
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
		struct dist__spelling near;
		enum dist__op_kind op;

		if (!collective_find(dist__yaml_text(name), &op))
			return dist__yaml_refuse(
				yaml, name,
				"unknown operation \"%.40s\": expected one of "
				"%s%s",
				dist__yaml_text(name), collective_names().text,
				dist__spelling_hint_of(
					&near, dist__yaml_text(name),
					collective_names().text));
		error = dist__yaml_repeated(yaml, mapping, pair);
		if (!error)
			error = read_rules(yaml, op,
					   dist__yaml_node(yaml, pair->value),
					   into);
	}
	return error;
}

/* ---- when a send ends ------------------------------------------------- */

bool dist__p2p_mode_parse(struct dist__p2p_mode *mode, const char *text)
{
	const char *digits = text + strlen("eager:");
	uint64_t bytes;

	if (strcmp(text, "rendezvous") == 0) {
		mode->eager_below = 0;
		return true;
	}
	if (strcmp(text, "buffered") == 0) {
		mode->eager_below = SIZE_MAX;
		return true;
	}
	if (strncmp(text, "eager:", strlen("eager:")) != 0 ||
	    !dist__digits_step(&digits, SIZE_MAX - 2, &bytes) || *digits)
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

/* ---- rates by size ---------------------------------------------------- */

#define SHARE(key, traffic)                                                    \
	.name = (key), .read = dist__yaml_read_double,                         \
	.offset = offsetof(struct dist__rate, shares[traffic])

static const struct dist__yaml_key rate_keys[] = {
	{YAML_KEY(struct dist__rate, dist__yaml_read_size, bytes),
	 .required = true},
	{SHARE("share", DIST__LOAD), .required = true},
	{SHARE("core_share", DIST__CORE_LOAD)},
	{SHARE("sum_share", DIST__SUM)},
	{SHARE("copy_share", DIST__COPY)},
	{.name = NULL},
};

/* What is not a number cannot be read, and so was not said. */
static const struct dist__rate unsaid = {
	.shares = {[DIST__CORE_LOAD] = NAN, [DIST__SUM] = 1, [DIST__COPY] = 1}};

static bool has_shares(const struct dist__rate *rate)
{
	for (int i = 0; i < DIST__TRAFFICS; i++)
		if (rate->shares[i] <= 0)
			return false;
	return true;
}

static enum dist_error read_rates(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *key,
				  const yaml_node_t *list, void *into)
{
	struct dist__profile *profile = into;
	const yaml_node_item_t *item;
	size_t last = 0;

	if (list->type != YAML_SEQUENCE_NODE ||
	    list->data.sequence.items.top - list->data.sequence.items.start >
		    DIST__RATES)
		return dist__yaml_refuse_value(yaml, key->name, list,
					       "a list of up to 16 rates");
	for (item = list->data.sequence.items.start;
	     item < list->data.sequence.items.top; item++) {
		const yaml_node_t *node = dist__yaml_node(yaml, *item);
		struct dist__rate rate = unsaid;
		enum dist_error error = dist__yaml_read_mapping(
			yaml, rate_keys, "a rate", node, &rate);

		if (error)
			return error;
		if (isnan(rate.shares[DIST__CORE_LOAD]))
			rate.shares[DIST__CORE_LOAD] = rate.shares[DIST__LOAD];
		if (rate.bytes <= last || !has_shares(&rate))
			return dist__yaml_refuse(
				yaml, node,
				"rates: expected bytes above those of the rate "
				"before, and shares above 0");
		last = rate.bytes;
		profile->rates[profile->num_rates++] = rate;
	}
	return DIST_OK;
}

static double share_of(const struct dist__profile *profile,
		       enum dist__traffic traffic, size_t bytes)
{
	const struct dist__rate *rate = profile->rates;
	const struct dist__rate *last = rate + profile->num_rates - 1;
	double part;

	while (rate < last && rate->bytes < bytes)
		rate++;
	if (rate == profile->rates || rate->bytes <= bytes)
		return rate->shares[traffic];
	part = log((double)bytes / (double)rate[-1].bytes) /
	       log((double)rate->bytes / (double)rate[-1].bytes);
	return rate[-1].shares[traffic] +
	       part * (rate->shares[traffic] - rate[-1].shares[traffic]);
}

double dist__profile_load_bytes(const struct dist__profile *profile,
				enum dist__traffic traffic, size_t bytes,
				size_t walked)
{
	size_t like = bytes;

	if (profile->num_rates == 0)
		return (double)bytes;
	if (profile->rates_ranks > 0 && walked > 0)
		like = walked / (size_t)profile->rates_ranks;
	if (like > bytes ? walked < profile->cache_bytes
			 : !profile->shares_memory)
		like = bytes;
	return (double)bytes / share_of(profile, traffic, like);
}

void dist__profile_rates_print(const struct dist__profile *profile, char *text,
			       size_t size)
{
	static const struct {
		const char *name;
		double usual; /* is not said */
	} parts[DIST__TRAFFICS] = {[DIST__CORE_LOAD] = {"core", 0},
				   [DIST__SUM] = {"sum", 1},
				   [DIST__COPY] = {"copy", 1}};

	*text = '\0';
	for (size_t i = 0; i < profile->num_rates; i++) {
		const struct dist__rate *rate = &profile->rates[i];

		(void)dist__append(text, size, "%s%zu:%.4g", i > 0 ? " " : "",
				   rate->bytes, rate->shares[DIST__LOAD]);
		for (int t = 0; t < DIST__TRAFFICS; t++)
			if (parts[t].name &&
			    rate->shares[t] !=
				    (t == DIST__CORE_LOAD
					     ? rate->shares[DIST__LOAD]
					     : parts[t].usual))
				(void)dist__append(text, size, " %s %.4g",
						   parts[t].name,
						   rate->shares[t]);
	}
	if (profile->rates_ranks > 0)
		(void)dist__append(text, size,
				   " in a ring of %d, cache_bytes %zu",
				   profile->rates_ranks, profile->cache_bytes);
}

/* ---- constants -------------------------------------------------------- */

/* Fits read constants a million times, and few begin alike. */
static bool is_called(const struct dist__constant *constant, const char *name)
{
	return constant->name[0] == name[0] && constant->name[1] == name[1] &&
	       strcmp(constant->name, name) == 0;
}

double dist__profile_constant(const struct dist__profile *profile,
			      const char *name, double fallback)
{
	for (size_t i = 0; i < profile->num_constants; i++)
		if (is_called(&profile->constants[i], name))
			return profile->constants[i].value;
	return fallback;
}

enum dist_error dist__profile_set(struct dist__profile *profile,
				  const char *name, double value)
{
	struct dist__constant fresh = {.value = value};

	for (size_t i = 0; i < profile->num_constants; i++) {
		if (!is_called(&profile->constants[i], name))
			continue;
		profile->constants[i].value = value;
		return DIST_OK;
	}
	snprintf(fresh.name, sizeof fresh.name, "%s", name);
	return dist__array_add(&profile->constants, &profile->num_constants,
			       &fresh, sizeof fresh)
		       ? DIST_OK
		       : DIST_ERR_NO_MEMORY;
}

static enum dist_error read_constant(const struct dist__yaml *yaml,
				     const yaml_node_pair_t *pair,
				     struct dist__profile *profile)
{
	const char *name = dist__yaml_text(dist__yaml_node(yaml, pair->key));
	const struct dist__yaml_key number = {.name = name};
	double value;
	enum dist_error error;

	if (!*name || strlen(name) >= sizeof profile->constants->name)
		return dist__yaml_refuse(yaml, dist__yaml_node(yaml, pair->key),
					 "expected the name of a constant");
	error = dist__yaml_read_double(
		yaml, &number, dist__yaml_node(yaml, pair->value), &value);
	return error ? error : dist__profile_set(profile, name, value);
}

static enum dist_error read_constants(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *mapping, void *into)
{
	const yaml_node_pair_t *pair;
	enum dist_error error = DIST_OK;

	if (mapping->type != YAML_MAPPING_NODE)
		return dist__yaml_refuse_value(yaml, key->name, mapping,
					       "a mapping of numbers");
	for (pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top && !error; pair++) {
		error = dist__yaml_repeated(yaml, mapping, pair);
		if (!error)
			error = read_constant(yaml, pair, into);
	}
	return error;
}

/* ---- the file --------------------------------------------------------- */

/* More than anything here takes: what is above is a slip, and every call would
 * only run out of time. */
#define MOST_NS 1e12

static enum dist_error read_ns(const struct dist__yaml *yaml,
			       const struct dist__yaml_key *key,
			       const yaml_node_t *value, void *into)
{
	enum dist_error error = dist__yaml_read_double(yaml, key, value, into);
	double ns;

	if (error)
		return error;
	memcpy(&ns, (char *)into + key->offset, sizeof ns);
	return ns <= MOST_NS ? DIST_OK
			     : dist__yaml_refuse_value(yaml, key->name, value,
						       "at most 1e12 (1000 s)");
}

#define KEY(reader, field) YAML_KEY(struct dist__profile, reader, field)

static const struct dist__yaml_key profile_keys[] = {
	{KEY(dist__yaml_read_text, name), .required = true},
	{KEY(dist__yaml_read_text, version)},
	{KEY(dist__yaml_read_text, source)},
	{KEY(read_ns, call_ns)},
	{KEY(read_ns, message_overhead_ns)},
	{KEY(read_ns, receive_overhead_ns)},
	{KEY(read_ns, wait_ns)},
	{KEY(dist__yaml_read_count, cores)},
	{KEY(dist__yaml_read_double, send_Bps)},
	{KEY(dist__yaml_read_double, receive_Bps)},
	{KEY(dist__yaml_read_double, reduce_Bps)},
	{KEY(dist__yaml_read_double, copy_Bps)},
	{KEY(dist__yaml_read_count, segment_bytes)},
	{.name = "intra", .read = read_intra},
	{.name = "p2p", .read = read_p2p},
	{KEY(dist__yaml_read_size, window_bytes)},
	{.name = "rates", .read = read_rates},
	{KEY(dist__yaml_read_count, rates_ranks)},
	{KEY(dist__yaml_read_size, cache_bytes)},
	{KEY(dist__yaml_read_text, library)},
	{.name = "constants", .read = read_constants},
	{.name = "selection", .read = read_selection},
	{.name = NULL},
};

void dist__profile_init(struct dist__profile *profile)
{
	*profile = (struct dist__profile){
		.name = "default",
		.source = "built in",
		.segment_bytes = DIST__SEGMENT_BYTES,
		.window_bytes = SIZE_MAX,
	};
}

enum dist_error dist__profile_load(struct dist__profile *profile,
				   const char *path,
				   struct dist_message *message)
{
	struct dist__profile loaded = {.segment_bytes = DIST__SEGMENT_BYTES,
				       .window_bytes = SIZE_MAX};
	enum dist_error error = dist__yaml_load(path, profile_keys, "a profile",
						&loaded, message);

	dist__profile_init(profile);
	if (error)
		dist__profile_release(&loaded);
	else
		*profile = loaded;
	return error;
}

enum dist_error dist__profile_find(struct dist__profile *profile,
				   const char *name,
				   struct dist_message *message)
{
	char path[4096];
	enum dist_error error = dist__data_find("profiles", name, ".yaml", path,
						sizeof path, message);

	if (!error)
		return dist__profile_load(profile, path, message);
	dist__profile_init(profile);
	return error;
}

void dist__profile_release(struct dist__profile *profile)
{
	free(profile->rules);
	free(profile->constants);
	dist__profile_init(profile);
}

/* ---- forcing ---------------------------------------------------------- */

/* Forces one word, "algorithm" (of all_reduce) or "op=algorithm": a rule is
 * added to forced. */
static enum dist_error force_word(struct dist__profile *profile,
				  const char *const *names, const char *word,
				  struct dist__profile *forced,
				  struct dist_message *message)
{
	const char *equals = strchr(word, '=');
	const char *name = equals ? equals + 1 : word;
	struct dist__yaml_names legal = {.used = 0};
	char op_name[32] = "all_reduce";
	struct dist__rule rule = any;
	struct dist__spelling near;
	enum dist__op_kind op;

	if (equals)
		snprintf(op_name, sizeof op_name, "%.*s", (int)(equals - word),
			 word);
	if (!collective_find(op_name, &op))
		return dist__refuse(
			message,
			"unknown operation \"%s\": expected one of %s%s",
			op_name, collective_names().text,
			dist__spelling_hint_of(&near, op_name,
					       collective_names().text));
	rule.algorithm = names ? NULL : dist__algorithm_find(op, name);
	if (rule.algorithm)
		return add_rules(forced, false, &rule, 1);
	if (!names)
		legal = algorithm_names(op);
	for (; names && *names; names++) {
		dist__yaml_names_add(&legal, *names);
		if (strcmp(name, *names) != 0)
			continue;
		profile->forced[op] = *names;
		return DIST_OK;
	}
	return dist__refuse(
		message,
		"unknown algorithm \"%.40s\" of %s%s%s: expected one of %s%s",
		name, op_name, profile->library[0] ? " by " : "",
		profile->library, legal.text,
		dist__spelling_hint_of(&near, name, legal.text));
}

enum dist_error dist__profile_force(struct dist__profile *profile,
				    const char *const *names, const char *text,
				    struct dist_message *message)
{
	struct dist__profile forced = {.num_rules = 0};
	enum dist_error error = DIST_OK;
	bool more = true;

	while (more && !error) {
		size_t len = strcspn(text, ",");
		char word[80];

		snprintf(word, sizeof word, "%.*s", (int)len, text);
		error = force_word(profile, names, word, &forced, message);
		more = text[len] == ',';
		text += len + more;
	}
	if (!error)
		error = add_rules(profile, true, forced.rules,
				  forced.num_rules);
	if (error == DIST_ERR_NO_MEMORY)
		snprintf(message->text, sizeof message->text, "out of memory");
	dist__profile_release(&forced);
	return error;
}
