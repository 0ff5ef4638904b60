#include "scenarios/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scenarios/data.h"

#define TABLE "measured/hardware/gpus.tsv"

/* A rate stands in a row such as
 * A100 SXM 80GB	ResNet-50 train amp achieved (...)	60.6	TFLOP/s
 * ... */
#define TRAIN    " train "
#define ACHIEVED " achieved"
#define UNIT     "TFLOP/s"

/* What is looked for, and how far the search got. */
struct search {
	const char *gpu, *precision, *model;
	struct gpu_rate *rate;
	bool found, found_model;
	char names[256]; /* of the GPUs that have rates, for a refusal */
};

/* Whether word, up to its length, is name but for case and dashes. */
static bool is_model(const char *word, size_t len, const char *name)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (word[i] == '-')
			continue;
		while (*name == '_')
			name++;
		if (tolower((unsigned char)word[i]) !=
		    tolower((unsigned char)*name))
			return false;
		name++;
	}
	return *name == '\0';
}

static void note_name(struct search *s, const char *gpu)
{
	size_t used = strlen(s->names);

	if (!strstr(s->names, gpu))
		snprintf(s->names + used, sizeof(s->names) - used, "%s%s",
			 used ? ", " : "", gpu);
}

/* Looks at one row of a rate; what is "ResNet-50 train amp achieved ...". */
static void consider(struct search *s, const char *gpu, char *what,
		     const char *value)
{
	char *train = strstr(what, TRAIN), *achieved = strstr(what, ACHIEVED);
	const char *precision;
	bool same;

	if (!train || !achieved || achieved < train)
		return;
	note_name(s, gpu);
	*achieved = '\0';
	precision = train + strlen(TRAIN);
	same = is_model(what, strcspn(what, " "), s->model);
	if (strncasecmp(gpu, s->gpu, strlen(s->gpu)) != 0 ||
	    (s->precision && strcmp(precision, s->precision) != 0) ||
	    s->found_model || (s->found && !same))
		return;
	s->found = true;
	s->found_model = same;
	s->rate->flops = strtod(value, NULL) * 1e12;
	snprintf(s->rate->words, sizeof(s->rate->words), "%.60s, %.90s", gpu,
		 what);
}

static void read_row(struct search *s, char *line)
{
	char *fields[4], *rest = line;
	size_t i;

	for (i = 0; i < 4; i++) {
		fields[i] = rest;
		rest = rest ? strchr(rest, '\t') : NULL;
		if (!rest)
			return;
		*rest++ = '\0';
	}
	if (strcmp(fields[3], UNIT) == 0)
		consider(s, fields[0], fields[1], fields[2]);
}

enum dist_error gpu_find(const char *gpu, const char *precision,
			 const char *model, struct gpu_rate *rate,
			 struct dist_message *message)
{
	struct search search = {gpu, precision, model, rate, false, false, ""};
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *in;

	data_path(path, sizeof(path), TABLE);
	in = fopen(path, "r");
	if (!in) {
		snprintf(message->text, sizeof(message->text),
			 "--gpu %.80s: cannot read %.200s: %s", gpu, path,
			 strerror(errno));
		return DIST_ERR_INVALID_ARGUMENT;
	}
	while (getline(&line, &room, in) >= 0)
		if (line[0] != '#')
			read_row(&search, line);
	free(line);
	fclose(in);
	if (search.found)
		return DIST_OK;
	snprintf(message->text, sizeof(message->text),
		 "--gpu %.80s%s%.20s: no rate of it was measured; expected the "
		 "beginning of one of: %s",
		 gpu, precision ? " in " : "", precision ? precision : "",
		 search.names);
	return DIST_ERR_INVALID_ARGUMENT;
}
