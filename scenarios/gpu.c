#include "scenarios/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/refuse.h"
#include "base/text.h"
#include "model/llm/device.h"

#define TABLE "measured/hardware/gpus.tsv"

/* Rows are such as
 * A100 SXM 80GB	ResNet-50 train amp achieved (...)	60.6	TFLOP/s
 * ...
 */
#define TRAIN    " train "
#define ACHIEVED " achieved"

#define GIB 1073741824.0

/* By enum gpu_precision. amp computes in 16 bits, of either kind. */
static const char *const precisions[] = {"amp", "tf32", "fp32"};
static const struct {
	enum llm_precision peak;
	enum gpu_precision precision;
} peaks[] = {{LLM_BF16, GPU_AMP},
	     {LLM_FP16, GPU_AMP},
	     {LLM_TF32, GPU_TF32},
	     {LLM_FP32, GPU_FP32}};

/* Whether word, up to its length, is name but for case and dashes. */
static bool is_model(const char *word, size_t len, const char *name)
{
	for (size_t i = 0; i < len; i++) {
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
	const char *const *found = DIST__NAMED(precisions, word);

	return found ? (int)(found - precisions) : -1;
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

static void read_row(struct gpu *gpu, char *line, const char *model)
{
	char *fields[4], *rest = line;

	for (size_t i = 0; i < 4; i++) {
		fields[i] = rest;
		rest = rest ? strchr(rest, '\t') : NULL;
		if (!rest)
			return;
		*rest++ = '\0';
	}
	if (strcmp(fields[3], "TFLOP/s") == 0 &&
	    llm_device_is_kind(fields[0], gpu->name))
		take_measured(gpu, fields[0], fields[1],
			      strtod(fields[2], NULL), model);
}

static enum dist_error read_measured(struct gpu *gpu, const char *model,
				     struct dist_message *message)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *in;

	dist__data_dir(TABLE, path, sizeof path);
	in = fopen(path, "r");
	if (!in)
		return dist__refuse(message, "cannot read %.200s: %s", path,
				    strerror(errno));
	while (getline(&line, &room, in) >= 0)
		if (line[0] != '#')
			read_row(gpu, line, model);
	free(line);
	fclose(in);
	return DIST_OK;
}

/* What the vendor says; a size in the name holds where the GPU does not. */
static enum dist_error read_published(struct gpu *gpu,
				      struct dist_message *message)
{
	struct llm_device device;
	enum dist_error error =
		llm_device_published(&device, gpu->name, message);

	gpu->memory_bytes = llm_device_name_gb(gpu->name) * GIB;
	if (error == DIST_ERR_INVALID_ARGUMENT) {
		snprintf(gpu->unknown, sizeof gpu->unknown, "%.223s",
			 message->text);
		return DIST_OK;
	}
	if (error)
		return error;
	gpu->memory_bytes = device.memory_bytes;
	for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++)
		if (device.peak[peaks[i].peak] > 0) {
			char what[32];

			snprintf(what, sizeof what, "%s peak",
				 llm_precision_name(peaks[i].peak));
			store_rate(&gpu->peaks[peaks[i].precision],
				   device.peak[peaks[i].peak] / 1e12,
				   device.name, " ", what);
		}
	return DIST_OK;
}

enum dist_error gpu_find(struct gpu *gpu, const char *name, const char *model,
			 struct dist_message *message)
{
	enum dist_error error;

	*gpu = (struct gpu){.memory_bytes = 0};
	snprintf(gpu->name, sizeof gpu->name, "%s", name);
	for (char *c = gpu->name; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	error = read_published(gpu, message);
	return error || gpu->unknown[0] ? error
					: read_measured(gpu, model, message);
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

	for (int p = 0; p < GPU_PRECISIONS; p++) {
		if (!choose(gpu, p, rate))
			continue;
		if (!precision || strcmp(precision, precisions[p]) == 0)
			return DIST_OK;
		(void)dist__append(known, sizeof known, " %s", precisions[p]);
	}
	if (!*known)
		return dist__refuse(message, "%s; or --flops or --step-ms",
				    gpu->unknown);
	return dist__refuse(message,
			    "--precision %.20s: expected for %.64s one of%s",
			    precision, gpu->name, known);
}

const struct gpu_rate *gpu_peak(const struct gpu *gpu, const char *precision)
{
	const struct gpu_rate *best = NULL;

	for (int p = 0; p < GPU_PRECISIONS; p++)
		if (gpu->peaks[p].flops > (best ? best->flops : 0) &&
		    (!precision || strcmp(precision, precisions[p]) == 0))
			best = &gpu->peaks[p];
	return best;
}
