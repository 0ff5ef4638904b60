#include "scenarios/workload_arguments.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ResNet-50 in mixed precision trains at 60.6e12 FLOP/s on an A100 (NVIDIA
 * DeepLearningExamples: 2470 images/s at batch 256, times three forward
 * passes). */
#define DEFAULT_FLOPS 60e12
#define DEFAULT_BATCH 32.0

#define DDP_STEP " ddp_step "
#define FSDP     " fsdp "
#define PIPELINE " hybrid pipeline "
#define TENSOR   " hybrid tensor_parallel "

/* One flag: where it goes, who takes it, and what it may be. */
struct flag {
	const char *name;
	unsigned kind; /* popt's */
	size_t offset; /* in struct workload_arguments */
	const char *help, *unit;
	const char *takers; /* names between spaces; NULL: all */
	const char *words;  /* those it may be, so too; NULL: any */
	double min, max;    /* of a number */
	bool open;          /* min itself is out */
};

#define AT(field) offsetof(struct workload_arguments, field)
#define STRING    POPT_ARG_STRING
#define NUMBER    POPT_ARG_DOUBLE
#define COUNT     POPT_ARG_INT
#define SWITCH    POPT_ARG_NONE
#define MOST      DBL_MAX

static const struct flag flags[] = {
	{"model", STRING, AT(model),
	 "network: a name or a CSV file (default resnet50)", "M",
	 .takers = NULL},
	{"batch", NUMBER, AT(rate.batch), "samples per rank (default 32)", "N",
	 .max = MOST, .open = true},
	{"flops", NUMBER, AT(rate.flops),
	 "FLOP/s that a device achieves (default 60e12)", "RATE", .max = MOST,
	 .open = true},
	{"gpu", STRING, AT(gpu),
	 "the rate that this GPU was measured at, instead of --flops", "NAME",
	 .takers = NULL},
	{"precision", STRING, AT(precision),
	 "fp32, tf32 or amp, of --gpu (default: the first measured)", "P",
	 .words = " fp32 tf32 amp "},
	{"step-ms", NUMBER, AT(rate.step_ms),
	 "measured step on one device, instead of --flops", "T", .max = MOST},
	{"jitter", NUMBER, AT(jitter_percent),
	 "spread of computing by rank and step, log-normal (default 0)",
	 "PERCENT", .max = 100},
	{"straggler", STRING, AT(stragglers),
	 "ranks that compute longer by a factor", "RANK:FACTOR,...",
	 .takers = NULL},
	{"seed", COUNT, AT(seed), "of what is drawn by lot (default 1)", "N",
	 .max = 2147483647},
	{"steps", COUNT, AT(steps), "training steps (default 1)", "K", .min = 1,
	 .max = 1e6},
	{"bucket-cap-mb", NUMBER, AT(bucket_cap_mb),
	 "size at which a bucket closes, in MiB (default 25)", "MB",
	 .takers = DDP_STEP, .max = MOST},
	{"first-bucket-mb", NUMBER, AT(first_bucket_mb),
	 "the same for the first bucket (default 1)", "MB", .takers = DDP_STEP,
	 .max = MOST},
	{"per-tensor", SWITCH, AT(per_tensor), "a bucket for every gradient",
	 NULL, .takers = DDP_STEP},
	{"no-overlap", SWITCH, AT(no_overlap),
	 "average after backward, in one bucket unless others are asked for",
	 NULL, .takers = DDP_STEP},
	{"accumulate", COUNT, AT(accumulate),
	 "micro-batches a step, all but the last under no_sync (default 1)",
	 "N", .takers = DDP_STEP, .min = 1, .max = 1e6},
	{"find-unused-parameters", SWITCH, AT(find_unused_parameters),
	 "ranks tell each other which they used", NULL, .takers = DDP_STEP},
	{"static-graph", SWITCH, AT(static_graph),
	 "the first step tells what all use", NULL, .takers = DDP_STEP},
	{"comm-hook", STRING, AT(comm_hook),
	 "allreduce, fp16_compress or bf16_compress (default allreduce)", "H",
	 .takers = DDP_STEP,
	 .words = " allreduce fp16_compress bf16_compress "},
	{"zero", COUNT, AT(zero),
	 "stage: 1, 2, or 3, parameters too (default 3)", "N", .takers = FSDP,
	 .min = 1, .max = 3},
	{"no-prefetch", SWITCH, AT(no_prefetch),
	 "ask for a layer's parameters only when they are needed", NULL,
	 .takers = FSDP},
	{"tp", COUNT, AT(tp),
	 "ranks of a tensor group (default 1; tensor_parallel: all)", "N",
	 .takers = TENSOR, .min = 1, .max = 1 << 24},
	{"pp", COUNT, AT(pp), "stages (default 1)", "N", .takers = " hybrid ",
	 .min = 1, .max = 1 << 24},
	{"stages", COUNT, AT(pp), "stages (default: as many as ranks)", "N",
	 .takers = " pipeline ", .min = 1, .max = 1 << 24},
	{"micro-batches", COUNT, AT(micro_batches),
	 "pieces that the batch goes through the pipeline in (default 4)", "N",
	 .takers = PIPELINE, .min = 1, .max = 1e6},
	{"schedule", STRING, AT(schedule), "gpipe or 1f1b (default 1f1b)", "S",
	 .takers = PIPELINE, .words = " gpipe 1f1b "},
	{"experts", COUNT, AT(experts),
	 "experts of a layer (default: as many as ranks)", "N",
	 .takers = " moe ", .min = 1, .max = 1 << 24},
	{"top-k", COUNT, AT(top_k), "experts of a token (default 2)", "K",
	 .takers = " moe ", .min = 1, .max = 1 << 24},
	{"imbalance", NUMBER, AT(imbalance_percent),
	 "spread of the experts' popularity, log-normal (default 0)", "PERCENT",
	 .takers = " moe ", .max = 1000},
	{"servers", COUNT, AT(servers),
	 "parameter servers, the first ranks (default 1)", "N",
	 .takers = " ps ", .min = 1, .max = 1 << 24},
};
#define NUM_FLAGS (sizeof(flags) / sizeof(flags[0]))

/* Whether word is one of words, which stand between spaces. */
static bool is_listed(const char *words, const char *word)
{
	char spaced[64];

	snprintf(spaced, sizeof(spaced), " %.60s ", word);
	return strstr(words, spaced) != NULL;
}

static bool is_taken(const struct flag *flag, const char *workload)
{
	return !flag->takers || is_listed(flag->takers, workload);
}

static void *field_of(struct workload_arguments *a, const struct flag *flag)
{
	return (char *)a + flag->offset;
}

void workload_arguments_init(struct workload_arguments *a, const char *workload,
			     struct poptOption table[WORKLOAD_TABLE])
{
	const struct poptOption end = POPT_TABLEEND;
	size_t i, n = 0;
	bool tensor = strcmp(workload, "tensor_parallel") == 0;
	bool pipeline = strcmp(workload, "pipeline") == 0;

	*a = (struct workload_arguments){
		.rate = {.batch = DEFAULT_BATCH, .flops = DEFAULT_FLOPS},
		.seed = 1,
		.steps = 1,
		.accumulate = 1,
		.zero = 3,
		.tp = tensor ? WORKLOAD_WHOLE_WORLD : 1,
		.pp = pipeline ? WORKLOAD_WHOLE_WORLD : 1,
		.micro_batches = tensor ? 1 : 4,
		.experts = WORKLOAD_WHOLE_WORLD,
		.top_k = 2,
		.servers = 1,
	};
	for (i = 0; i < NUM_FLAGS; i++)
		if (is_taken(&flags[i], workload))
			table[n++] = (struct poptOption){
				.longName = flags[i].name,
				.argInfo = flags[i].kind,
				.arg = field_of(a, &flags[i]),
				.descrip = flags[i].help,
				.argDescrip = flags[i].unit};
	table[n] = end;
}

/* Written so that NaN, which popt lets through, is outside. */
static bool is_inside(const struct flag *flag, double value)
{
	if (flag->kind == COUNT && value == WORKLOAD_WHOLE_WORLD)
		return true;
	return value <= flag->max &&
	       (flag->open ? value > flag->min : value >= flag->min);
}

static void describe_range(const struct flag *flag,
			   struct dist_message *message)
{
	char most[48] = "";

	if (flag->max < MOST)
		snprintf(most, sizeof(most), ", at most %.10g", flag->max);
	if (flag->open)
		snprintf(message->text, sizeof(message->text),
			 "--%s: expected more than %g%s", flag->name, flag->min,
			 most);
	else
		snprintf(message->text, sizeof(message->text),
			 "--%s: expected %g or more%s", flag->name, flag->min,
			 most);
}

static bool check_number(const struct flag *flag, double value,
			 struct dist_message *message)
{
	if (is_inside(flag, value))
		return true;
	describe_range(flag, message);
	return false;
}

static bool check_word(const struct flag *flag, const char *word,
		       struct dist_message *message)
{
	if (!word || (*word && !flag->words) ||
	    (flag->words && is_listed(flag->words, word)))
		return true;
	if (!flag->words) {
		snprintf(message->text, sizeof(message->text),
			 "--%s: expected a word", flag->name);
		return false;
	}
	snprintf(message->text, sizeof(message->text),
		 "--%s %.80s: expected one of%.*s", flag->name, word,
		 (int)strlen(flag->words) - 1, flag->words);
	return false;
}

bool workload_arguments_check(const struct workload_arguments *a,
			      const char *workload,
			      struct dist_message *message)
{
	bool fine = true;
	size_t i;

	for (i = 0; fine && i < NUM_FLAGS; i++) {
		const void *field = (const char *)a + flags[i].offset;

		if (!is_taken(&flags[i], workload))
			continue;
		if (flags[i].kind == NUMBER)
			fine = check_number(&flags[i], *(const double *)field,
					    message);
		else if (flags[i].kind == COUNT)
			fine = check_number(&flags[i], *(const int *)field,
					    message);
		else if (flags[i].kind == STRING)
			fine = check_word(&flags[i],
					  *(const char *const *)field, message);
	}
	return fine;
}

/* Writes the value of a field, as it would be given; "" for a switch. */
static void print_value(const struct flag *flag, const void *field,
			char value[64])
{
	value[0] = '\0';
	if (flag->kind == NUMBER)
		snprintf(value, 64, " %g", *(const double *)field);
	else if (flag->kind == COUNT)
		snprintf(value, 64, " %d", *(const int *)field);
	else if (flag->kind == STRING)
		snprintf(value, 64, " %.60s", *(const char *const *)field);
}

static size_t size_of(const struct flag *flag)
{
	if (flag->kind == NUMBER)
		return sizeof(double);
	return flag->kind == STRING ? sizeof(char *) : sizeof(int);
}

void workload_arguments_describe(const struct workload_arguments *a,
				 const char *workload, char *text, size_t size)
{
	struct poptOption table[WORKLOAD_TABLE];
	struct workload_arguments defaults;
	size_t i, used = 0;

	workload_arguments_init(&defaults, workload, table);
	text[0] = '\0';
	for (i = 0; i < NUM_FLAGS && used < size; i++) {
		const void *field = (const char *)a + flags[i].offset;
		const void *usual = (const char *)&defaults + flags[i].offset;
		char value[64];

		if (!flags[i].takers || !is_taken(&flags[i], workload) ||
		    memcmp(field, usual, size_of(&flags[i])) == 0)
			continue;
		print_value(&flags[i], field, value);
		used += (size_t)snprintf(text + used, size - used, " --%s%s",
					 flags[i].name, value);
	}
}

void workload_arguments_release(struct workload_arguments *a)
{
	size_t i;

	for (i = 0; i < NUM_FLAGS; i++)
		if (flags[i].kind == STRING)
			free(*(char **)field_of(a, &flags[i]));
}
