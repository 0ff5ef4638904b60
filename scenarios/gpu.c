#include "scenarios/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/data.h"

#define TABLE "measured/hardware/gpus.tsv"

/* Rows are such as
 * A100 SXM	bf16 peak	312	TFLOP/s	spec ...
 * A100 SXM 80GB	memory	80	GB	spec ...
 * A100 SXM 80GB	ResNet-50 train amp achieved (...)	60.6	TFLOP/s
 * ...
 */
#define MEMORY   "memory"
#define TRAIN    " train "
#define ACHIEVED " achieved"

#define GIB 1073741824.0

/* By enum gpu_precision. amp computes in 16 bits, of either kind. */
static const char *const precisions[] = {"amp", "tf32", "fp32"};
static const struct {
	const char *what;
	enum gpu_precision precision;
} peaks[] = {{"bf16 peak", GPU_AMP},
	     {"fp16 tensor peak", GPU_AMP},
	     {"tf32 peak", GPU_TF32},
	     {"fp32 peak", GPU_FP32}};

/* A name taken apart. */
struct label {
	char kind[48]; /* "RTX 2080 Ti" */
	char form;     /* of 'S'XM, 'P'CIe; 0: none is said */
	int size_gb;   /* 0: so too */
};

static struct label read_label(const char *name)
{
	struct label label = {.kind = ""};
	char text[64], *word, *rest = NULL;

	snprintf(text, sizeof text, "%s", name);
	for (word = strtok_r(text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		size_t digits = strspn(word, "0123456789");
		size_t used = strlen(label.kind);

		if (digits && strcasecmp(word + digits, "GB") == 0)
			label.size_gb = atoi(word);
		else if (strncasecmp(word, "SXM", 3) == 0)
			label.form = 'S';
		else if (strcasecmp(word, "PCIe") == 0)
			label.form = 'P';
		else
			snprintf(label.kind + used, sizeof label.kind - used,
				 "%s%s", used ? " " : "", word);
	}
	return label;
}

/* Whether a row is about what is asked for, but for its size. */
static bool is_about(const struct label *row, const struct label *asked)
{
	char form = asked->form ? asked->form : 'S';

	return strcasecmp(row->kind, asked->kind) == 0 &&
	       (!row->form || row->form == form);
}

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

static int find_precision(const char *word)
{
	int i;

	for (i = 0; i < GPU_PRECISIONS; i++)
		if (strcmp(precisions[i], word) == 0)
			return i;
	return -1;
}

/* Stores the first that there is. */
static void store_rate(struct gpu_rate *rate, double value, const char *name,
		       const char *separator, const char *what)
{
	if (rate->flops > 0)
		return;
	rate->flops = value * 1e12;
	snprintf(rate->text, sizeof rate->text, "%.40s%s%.80s", name, separator,
		 what);
}

/* Looks at a rate of training; what is "ResNet-50 train amp achieved ...". */
static void take_measured(struct gpu *gpu, const char *name, char *what,
			  double value, const char *model)
{
	char *train = strstr(what, TRAIN), *achieved = strstr(what, ACHIEVED);
	int precision;

	if (!train || !achieved || achieved < train ||
	    !is_model(what, strcspn(what, " "), model))
		return;
	*achieved = '\0';
	precision = find_precision(train + strlen(TRAIN));
	if (precision >= 0)
		store_rate(&gpu->measured[precision], value, name, ", ", what);
}

/* The size asked for, as the table has it, or the largest. What the table does
 * not have is as large as its name says. */
static void take_memory(struct gpu *gpu, const struct label *row,
			const struct label *asked, double value)
{
	if (asked->size_gb ? row->size_gb == asked->size_gb
			   : value * GIB > gpu->memory_bytes)
		gpu->memory_bytes = value * GIB;
}

static void read_row(struct gpu *gpu, const struct label *asked, char *line,
		     const char *model)
{
	char *fields[4], *rest = line;
	struct label row;
	double value;
	size_t i;

	for (i = 0; i < 4; i++) {
		fields[i] = rest;
		rest = rest ? strchr(rest, '\t') : NULL;
		if (!rest)
			return;
		*rest++ = '\0';
	}
	row = read_label(fields[0]);
	if (!is_about(&row, asked))
		return;
	value = strtod(fields[2], NULL);
	if (strcmp(fields[3], "GB") == 0 && strcmp(fields[1], MEMORY) == 0)
		take_memory(gpu, &row, asked, value);
	if (strcmp(fields[3], "TFLOP/s") != 0)
		return;
	for (i = 0; i < sizeof peaks / sizeof peaks[0]; i++)
		if (strcmp(fields[1], peaks[i].what) == 0)
			store_rate(&gpu->peaks[peaks[i].precision], value,
				   fields[0], " ", fields[1]);
	take_measured(gpu, fields[0], fields[1], value, model);
}

enum dist_error gpu_find(struct gpu *gpu, const char *name, const char *model,
			 struct dist_message *message)
{
	struct label asked = read_label(name);
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *in;

	*gpu = (struct gpu){.memory_bytes = asked.size_gb * GIB};
	snprintf(gpu->name, sizeof gpu->name, "%s", name);
	for (char *c = gpu->name; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	dist__data_dir(TABLE, path, sizeof path);
	in = fopen(path, "r");
	if (!in) {
		snprintf(message->text, sizeof message->text,
			 "cannot read %.200s: %s", path, strerror(errno));
		return DIST_ERR_INVALID_ARGUMENT;
	}
	while (getline(&line, &room, in) >= 0)
		if (line[0] != '#')
			read_row(gpu, &asked, line, model);
	free(line);
	fclose(in);
	return DIST_OK;
}

static bool choose(const struct gpu *gpu, int precision, struct gpu_rate *rate)
{
	const struct gpu_rate *measured = &gpu->measured[precision];
	const struct gpu_rate *peak = &gpu->peaks[precision];

	*rate = (struct gpu_rate){.flops = 0};
	if (measured->flops > 0) {
		rate->flops = measured->flops;
		snprintf(rate->text, sizeof rate->text, " achieved by %.100s",
			 measured->text);
	} else if (peak->flops > 0) {
		rate->flops = GPU_ASSUMED_SHARE * peak->flops;
		snprintf(rate->text, sizeof rate->text,
			 ", assumed: %g of the %.60s, %g TFLOP/s",
			 GPU_ASSUMED_SHARE, peak->text, peak->flops / 1e12);
	}
	return rate->flops > 0;
}

enum dist_error gpu_choose(const struct gpu *gpu, const char *precision,
			   struct gpu_rate *rate, struct dist_message *message)
{
	char known[64] = "";
	size_t used = 0;
	int p;

	for (p = 0; p < GPU_PRECISIONS; p++) {
		if (!choose(gpu, p, rate))
			continue;
		if (!precision || strcmp(precision, precisions[p]) == 0)
			return DIST_OK;
		used += (size_t)snprintf(known + used, sizeof known - used,
					 " %s", precisions[p]);
	}
	if (used)
		snprintf(message->text, sizeof message->text,
			 "--precision %.20s: expected for %.64s one of%s",
			 precision, gpu->name, known);
	else
		snprintf(message->text, sizeof message->text,
			 "GPU %.64s: no rate of it is known (see %s): expected "
			 "--flops or --step-ms, or --gpu and one such as A100 "
			 "SXM, H100 SXM, V100 SXM2",
			 gpu->name, TABLE);
	return DIST_ERR_INVALID_ARGUMENT;
}

const struct gpu_rate *gpu_peak(const struct gpu *gpu, const char *precision)
{
	const struct gpu_rate *best = NULL;
	int p;

	for (p = 0; p < GPU_PRECISIONS; p++)
		if (gpu->peaks[p].flops > (best ? best->flops : 0) &&
		    (!precision || strcmp(precision, precisions[p]) == 0))
			best = &gpu->peaks[p];
	return best;
}
