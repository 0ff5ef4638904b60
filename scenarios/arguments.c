/* arguments.c - reading a command line by the manual of its program. */
#include "scenarios/arguments.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text.h"
#include "base/refuse.h"
#include "base/spelling.h"

/* What is being read. */
struct reading {
	const struct manual *manual;
	void *line;
	struct dist_message *message;
	char flag[64];     /* the option as it was given: "--iters" or "-n" */
	int behind_switch; /* the word behind a switch; 0: the last was none */
};

/* ---- the table ---------------------------------------------------------- */

static bool is_called(const char *option, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len && option[i]; i++)
		if (option[i] != name[i] &&
		    !(name[i] == '_' && option[i] == '-') &&
		    !(name[i] == '-' && option[i] == '_'))
			return false;
	return i == len && !option[i];
}

const struct option *option_find(const struct manual *manual, const char *name,
				 size_t len, const struct option_group **group)
{
	const struct option_group *g;

	for (g = manual->groups; g && g->options; g++)
		for (const struct option *o = g->options; o->name; o++)
			if (is_called(o->name, name, len) &&
			    option_is_taken(o, manual->taker)) {
				*group = g;
				return o;
			}
	return NULL;
}

static const struct option *find_letter(const struct manual *manual,
					char letter,
					const struct option_group **group)
{
	for (*group = manual->groups; *group && (*group)->options; (*group)++)
		for (const struct option *o = (*group)->options; o->name; o++)
			if (o->letter == letter &&
			    option_is_taken(o, manual->taker))
				return o;
	return NULL;
}

const struct option *option_at(const struct manual *manual, int argc,
			       const char **argv, int i, const char **text,
			       int *words)
{
	const char *name = argv[i] + 2;
	const struct option_group *group;
	const struct option *option;
	size_t len;

	if (strncmp(argv[i], "--", 2) != 0)
		return NULL;
	len = strcspn(name, "=");
	option = option_find(manual, name, len, &group);
	*words = name[len] == '=' ? 1 : 2;
	if (!option || option->kind == OPTION_SWITCH || i + *words > argc)
		return NULL;
	*text = *words == 1 ? name + len + 1 : argv[i + 1];
	return option;
}

const struct option *option_given(const struct option *options,
				  const void *line)
{
	static const size_t sizes[] = {
		[OPTION_SWITCH] = sizeof(int),
		[OPTION_TEXT] = sizeof(const char *),
		[OPTION_CHOICE] = sizeof(const char *),
		[OPTION_COUNT] = sizeof(int),
		[OPTION_NUMBER] = sizeof(double),
		[OPTION_PERCENT] = sizeof(double),
		[OPTION_RATE] = sizeof(double),
		[OPTION_SIZE] = sizeof(size_t),
		[OPTION_EACH] = 0,
	};
	static const char none[sizeof(double) + sizeof(void *)];

	for (const struct option *o = options; o->name; o++)
		if (memcmp((const char *)line + o->offset, none,
			   sizes[o->kind]) != 0)
			return o;
	return NULL;
}

const char *option_peek(int argc, const char **argv, const char *name)
{
	const char *value = NULL;

	for (int i = 1; i < argc; i++) {
		size_t len = strncmp(argv[i], "--", 2) == 0
				     ? strcspn(argv[i] + 2, "=")
				     : 0;

		if (len == 0 || !is_called(name, argv[i] + 2, len))
			continue;
		if (argv[i][2 + len] == '=')
			value = argv[i] + 2 + len + 1;
		else
			value = i + 1 < argc ? argv[i + 1] : "";
	}
	return value;
}

/* ---- values ------------------------------------------------------------- */

/* Whether text is one of "shm|tcp"; list becomes "shm or tcp". */
static bool choose(const char *choices, const char *text, char *list,
		   size_t size)
{
	bool found = false;

	*list = '\0';
	while (*choices) {
		size_t len = strcspn(choices, "|");
		bool last = !choices[len];

		found = found || (strlen(text) == len &&
				  strncmp(choices, text, len) == 0);
		(void)dist__append(list, size, "%s%.*s",
				   !*list ? ""
				   : last ? " or "
					  : ", ",
				   (int)len, choices);
		choices += len + !last;
	}
	return found;
}

static bool take_text(const struct reading *r, const struct option *o,
		      const char *text, const char **field)
{
	struct dist__spelling near;
	char list[160];
	bool good;

	snprintf(list, sizeof list, "%s", o->value);
	good = o->kind == OPTION_TEXT
		       ? *text != '\0'
		       : choose(o->value, text, list, sizeof list);
	if (good)
		*field = text;
	else
		dist__refuse(r->message, "%s: expected %s, not \"%.80s\"%s",
			     r->flag, list, text,
			     dist__spelling_hint_of(&near, text, o->value));
	return good;
}

/* "a whole number, 1 to 9", "a number above 0". */
static void describe(const struct option *o, char *text, size_t size)
{
	const char *what =
		o->kind == OPTION_COUNT ? "a whole number" : "a number";

	if (o->above && o->max != 0)
		snprintf(text, size, "%s above %g, at most %.10g", what, o->min,
			 o->max);
	else if (o->above)
		snprintf(text, size, "%s above %g", what, o->min);
	else if (o->max != 0)
		snprintf(text, size, "%s from %.10g to %.10g", what, o->min,
			 o->max);
	else
		snprintf(text, size, "%s, %.10g or more", what, o->min);
	if (o->kilo)
		strcat(text, ", such as 8192 or 8k");
}

static bool read_count(const struct option *o, const char *text, double *value)
{
	static const struct dist__unit units[] = {{"k", 1 << 10},
						  {"K", 1 << 10},
						  {"m", 1 << 20},
						  {"M", 1 << 20},
						  {NULL, 0}};
	int64_t count;

	if (o->kilo && dist__quantity_read(text, units, value))
		return *value == floor(*value) && *value <= INT_MAX;
	if (!dist__count_read(text, INT_MIN, INT_MAX, &count))
		return false;
	*value = (double)count;
	return true;
}

static bool take_number(const struct reading *r, const struct option *o,
			const char *text, void *field)
{
	char words[96];
	double value = 0;
	bool good;

	good = o->kind == OPTION_COUNT ? read_count(o, text, &value)
				       : dist__number_read(text, &value);
	good = good && (o->above ? value > o->min : value >= o->min) &&
	       (o->max == 0 || value <= o->max);
	if (!good) {
		describe(o, words, sizeof words);
		dist__refuse(r->message, "%s: expected %s, not \"%.80s\"",
			     r->flag, words, text);
	} else if (o->kind == OPTION_COUNT) {
		*(int *)field = (int)value;
	} else {
		*(double *)field = value;
	}
	return good;
}

static bool take_rate(const struct reading *r, const char *text, double *rate)
{
	static const struct dist__unit units[] = {
		{"", 1}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {NULL, 0}};

	if (dist__quantity_read(text, units, rate) && *rate > 0)
		return true;
	dist__refuse(r->message,
		     "%s: expected FLOP/s above 0, such as 60T or 6e13, not "
		     "\"%.80s\"",
		     r->flag, text);
	return false;
}

static bool take_size(const struct reading *r, const struct option *o,
		      const char *text, size_t *size)
{
	uint64_t bytes;

	if (dist__size_read(text, &bytes) && (double)bytes >= o->min) {
		*size = (size_t)bytes;
		return true;
	}
	dist__refuse(r->message,
		     "%s: expected a size of %g bytes or more, such as 8, 64K "
		     "or 4MiB, not \"%.80s\"",
		     r->flag, o->min, text);
	return false;
}

static bool take(const struct reading *r, const struct option_group *group,
		 const struct option *o, const char *text)
{
	void *field = (char *)r->line + group->offset + o->offset;

	switch (o->kind) {
	case OPTION_SWITCH:
		*(int *)field = 1;
		return true;
	case OPTION_TEXT:
	case OPTION_CHOICE:
		return take_text(r, o, text, field);
	case OPTION_PERCENT:
		if (dist__percent_read(text, field))
			return true;
		dist__refuse(r->message,
			     "%s: expected a percentage of 0 or more, as 10%%, "
			     "not \"%.80s\"",
			     r->flag, text);
		return false;
	case OPTION_RATE:
		return take_rate(r, text, field);
	case OPTION_SIZE:
		return take_size(r, o, text, field);
	case OPTION_EACH:
		if (!*text) {
			dist__refuse(r->message, "%s: expected %s, not \"\"",
				     r->flag, o->value);
			return false;
		}
		return r->manual->take(r->line, o, text, r->message);
	default:
		return take_number(r, o, text, field);
	}
}

bool option_set(const struct manual *manual, void *line,
		const struct option_group *group, const struct option *option,
		const char *text, struct dist_message *message)
{
	struct reading r = {.manual = manual, .line = line, .message = message};

	snprintf(r.flag, sizeof r.flag, "--%s", option->name);
	if (option->kind == OPTION_SWITCH && strcmp(text, "false") == 0)
		return true;
	if (option->kind != OPTION_SWITCH || strcmp(text, "true") == 0)
		return take(&r, group, option, text);
	dist__refuse(message, "%s: expected true or false, not \"%.80s\"",
		     r.flag, text);
	return false;
}

/* ---- words -------------------------------------------------------------- */

/* The value of choice o that text is, or that ends in that number: of
 * "zero1|zero2" 2 is zero2. "": none. */
static const char *choice_of(const struct option *o, const char *text,
			     char value[32])
{
	const char *choices = o->kind == OPTION_CHOICE ? o->value : "";
	size_t end = strspn(text, "0123456789"), len;
	bool number = end > 0 && text[end] == '\0';

	for (; *choices; choices += len + (choices[len] == '|')) {
		len = strcspn(choices, "|");
		snprintf(value, 32, "%.*s", (int)len, choices);
		if (strcmp(value, text) == 0 ||
		    (number && len > end &&
		     strcmp(value + strlen(value) - end, text) == 0))
			return value;
	}
	*value = '\0';
	return value;
}

/* Whether other programs have option o, or one of its values, as an option
 * called name: --fsdp is "--shard fsdp" here, and --zero-stage 3 "--shard
 * zero3". Then only that is suggested. */
static bool is_meant(const struct option *o, const char *name, const char *text,
		     struct dist__spelling *near)
{
	char list[160], value[32];
	bool other = o->also && choose(o->also, name, list, sizeof list);

	(void)choice_of(o, other ? text : name, value);
	if (!other && strcmp(value, name) != 0)
		return false;
	near->distance = 0;
	snprintf(near->name, sizeof near->name, "%.30s%s%s", o->name,
		 *value ? " " : "", value);
	return true;
}

/* Says that there is no such option, who has it, or which was probably meant;
 * next is the word behind it, or NULL. */
static bool refuse_unknown(const struct reading *r, const char *word,
			   const char *next)
{
	const char *equals = strchr(word, '=');
	const char *text = equals ? equals + 1 : next ? next : "";
	const char *takers = NULL;
	const struct option_group *g;
	struct dist__spelling near;
	char name[64];

	snprintf(name, sizeof name, "%.*s",
		 (int)(strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=")),
		 word + 2);
	near = dist__spelling_of(name);
	dist__spelling_offer(&near, "help", strlen("help"));
	for (g = r->manual->groups; *name && g && g->options; g++)
		for (const struct option *o = g->options; o->name; o++)
			if (!option_is_taken(o, r->manual->taker))
				takers = is_called(o->name, name, strlen(name))
						 ? o->takers
						 : takers;
			else if (!is_meant(o, name, text, &near))
				dist__spelling_offer(&near, o->name,
						     strlen(o->name));
	if (takers) {
		dist__refuse(r->message, "%.80s: expected with%.*s, not %s",
			     word, (int)strlen(takers) - 1, takers,
			     r->manual->taker);
		return false;
	}
	dist__refuse(r->message, "%.80s: unknown option%s%s%s", word,
		     *near.name ? "; did you mean \"--" : "", near.name,
		     *near.name ? "\"?" : "");
	return false;
}

static bool refuse_value(const struct reading *r, const char *word)
{
	dist__refuse(r->message, "%s: expected no value, not \"%.80s\"",
		     r->flag, word);
	return false;
}

/* Reads the option "--name", "--name=value", "--name value" at argv[*i] and
 * steps over it. */
static bool read_long(struct reading *r, int argc, const char **argv, int *i)
{
	const char *name = argv[*i] + 2, *text = NULL;
	const struct option_group *group;
	size_t len = strcspn(name, "=");
	const struct option *o = option_find(r->manual, name, len, &group);

	if (!o)
		return refuse_unknown(r, argv[*i],
				      *i + 1 < argc ? argv[*i + 1] : NULL);
	snprintf(r->flag, sizeof r->flag, "--%s", o->name);
	if (name[len] == '=')
		text = name + len + 1;
	if (o->kind == OPTION_SWITCH && text)
		return refuse_value(r, text);
	if (o->kind != OPTION_SWITCH && !text && ++*i < argc)
		text = argv[*i];
	if (o->kind != OPTION_SWITCH && !text) {
		dist__refuse(r->message, "%s: missing argument, %s", r->flag,
			     o->value);
		return false;
	}
	r->behind_switch = ++*i;
	if (o->kind != OPTION_SWITCH)
		r->behind_switch = 0;
	return take(r, group, o, text);
}

/* Reads "-n 5", "-n5", "-n=5" or letters without values together. */
static bool read_letters(struct reading *r, int argc, const char **argv, int *i)
{
	const struct option_group *group;
	const char *letters = argv[*i];

	while (*++letters) {
		const struct option *o =
			find_letter(r->manual, *letters, &group);
		const char *text = letters + 1;

		if (!o)
			return refuse_unknown(r, argv[*i], NULL);
		snprintf(r->flag, sizeof r->flag, "-%c", *letters);
		if (o->kind == OPTION_SWITCH) {
			(void)take(r, group, o, NULL);
			continue;
		}
		text += *text == '=';
		if (!letters[1])
			text = ++*i < argc ? argv[*i] : NULL;
		if (!text) {
			dist__refuse(r->message, "%s: missing argument, %s",
				     r->flag, o->value);
			return false;
		}
		++*i;
		return take(r, group, o, text);
	}
	++*i;
	return true;
}

static bool check_words(const struct manual *manual, int num,
			const char *const *text, struct dist_message *message)
{
	if (num < manual->least_words) {
		dist__refuse(message, "%s",
			     manual->missing ? manual->missing
					     : "expected an argument; see "
					       "--help");
		return false;
	}
	if (num <= manual->most_words)
		return true;
	dist__refuse(message, "unexpected argument \"%.80s\"",
		     text[manual->most_words]);
	return false;
}

bool arguments_read(const struct manual *manual, int *argc, const char **argv,
		    void *line, bool *helped, struct dist_message *message)
{
	struct reading r = {.manual = manual, .line = line, .message = message};
	int i = 1, num = 1;
	bool good = true;

	*helped = false;
	while (good && i < *argc) {
		const char *word = argv[i];
		bool ends = strcmp(word, "--") == 0;

		if (word[0] != '-' || !word[1]) {
			if (manual->ends_at_word)
				break;
			if (i == r.behind_switch && num > manual->most_words)
				return refuse_value(&r, word);
			argv[num++] = argv[i++];
		} else if (ends) {
			i++;
			break;
		} else if (strcmp(word, "--help") == 0 ||
			   strcmp(word, "-h") == 0 || strcmp(word, "-?") == 0) {
			*helped = true;
			return true;
		} else if (word[1] == '-') {
			good = read_long(&r, *argc, argv, &i);
		} else {
			good = read_letters(&r, *argc, argv, &i);
		}
	}
	while (i < *argc)
		argv[num++] = argv[i++];
	if (num < *argc)
		argv[num] = NULL;
	*argc = num;
	return good && check_words(manual, num - 1, argv + 1, message);
}

bool arguments_parse(const struct manual *manual, int *argc, const char **argv,
		     void *line, int *status)
{
	struct dist_message message = {""};
	bool helped;

	*status = DIST_EXIT_OK;
	if (!arguments_read(manual, argc, argv, line, &helped, &message)) {
		fprintf(stderr, "%s: %s\n", argv[0], message.text);
		*status = DIST_EXIT_USAGE;
		return false;
	}
	if (helped)
		arguments_print_help(manual, argv[0], stdout);
	return !helped;
}
