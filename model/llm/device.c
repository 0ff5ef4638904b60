/* device.c - the catalogue of GPUs, and finding one by what users call it. */
#include "model/llm/device.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/data.h"
#include "base/text.h"
#include "base/refuse.h"
#include "base/spelling.h"
#include "base/tsv_table.h"
#include "model/llm/efficiency.h"

#define TABLE "measured/hardware/devices.tsv"
#define KIN   8 /* GPUs whose measurements may stand for one */

/* What a kernel takes that has nothing to do: the fit of kernels.c to products
 * in a loop, where launches are hidden. */
#define LAUNCH_NS 4500

/* A size in a name, of what a row says: 141 GB is also called 144, 186 192. */
#define SIZE_MARGIN 0.08

/* ---- the table -------------------------------------------------------- */

struct row {
	const char *gpu, *memory_type, *steps, *like, *remark, *from;
	double tflops[LLM_PRECISIONS];
	double memory_gb, memory_tb_s, sms, l2_mb, power_w, link_gb_s;
	double host_gb_s;
	double exp_tera_s;
};

#define TEXT(field)   TSV_FIELD(struct row, dist__tsv_text, field)
#define NUMBER(field) TSV_FIELD(struct row, dist__tsv_positive, field)
#define PEAK(column, precision)                                                \
	.name = (column), .read = dist__tsv_positive,                          \
	.offset = offsetof(struct row, tflops[precision])

static const struct tsv_field fields[] = {
	{TEXT(gpu), .required = true},
	{PEAK("bf16_tflops", LLM_BF16)},
	{PEAK("fp16_tflops", LLM_FP16)},
	{PEAK("fp8_tflops", LLM_FP8)},
	{PEAK("mxfp8_tflops", LLM_MXFP8)},
	{PEAK("fp4_tflops", LLM_FP4)},
	{PEAK("tf32_tflops", LLM_TF32)},
	{PEAK("fp32_tflops", LLM_FP32)},
	{NUMBER(memory_gb), .required = true},
	{TEXT(memory_type), .required = true},
	{NUMBER(memory_tb_s), .required = true},
	{NUMBER(sms), .required = true},
	{NUMBER(l2_mb), .required = true},
	{NUMBER(power_w), .required = true},
	{NUMBER(link_gb_s), .required = true},
	{NUMBER(host_gb_s)},
	{NUMBER(exp_tera_s)},
	{TEXT(steps)},
	{TEXT(like)},
	{TEXT(remark)},
	{TEXT(from), .required = true},
	{.name = NULL},
};

static enum dist_error load(struct tsv_table *tsv, struct dist_message *message)
{
	char path[PATH_MAX];

	dist__data_dir(TABLE, path, sizeof path);
	return dist__tsv_load_rows(tsv, path, fields, sizeof(struct row), NULL,
				   message);
}

static void fill(struct llm_device *device, const struct row *row)
{
	*device = (struct llm_device){
		.memory_bytes = row->memory_gb * 1073741824.0,
		.memory_Bps = row->memory_tb_s * 1e12,
		.link_Bps = row->link_gb_s * 1e9 / 2,
		.host_Bps = row->host_gb_s * 1e9,
		.sms = (int)row->sms,
		.l2_bytes = row->l2_mb * 1e6,
		.power_w = row->power_w,
		.exp_rate = row->exp_tera_s * 1e12,
		.launch_ns = LAUNCH_NS,
	};
	for (int p = 0; p < LLM_PRECISIONS; p++)
		device->peak[p] = row->tflops[p] * 1e12;
	device->seen = row->steps != NULL;
	snprintf(device->name, sizeof device->name, "%s", row->gpu);
	snprintf(device->note, sizeof device->note, "%s",
		 row->remark ? row->remark : "");
	snprintf(device->source, sizeof device->source, "%s", row->from);
}

/* ---- names ------------------------------------------------------------ */

/* A name taken apart. */
struct label {
	char kind[48]; /* "2080ti" */
	char form;     /* of 's'xm, 'p'cie, 'n'vl; 0: none is said */
	double gb;     /* 0: so too */
	char memory[8];
	double watts;
};

static const char *const ignored[] = {
	"nvidia",   "amd",        "instinct",  "geforce", "tesla",
	"graphics", "generation", "blackwell", "server",  "edition"};

static bool is_ignored(const char *word)
{
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		if (strcasecmp(word, ignored[i]) == 0)
			return true;
	return false;
}

static void take_word(struct label *label, const char *word)
{
	size_t digits = strspn(word, "0123456789");
	size_t used = strlen(label->kind);

	if (is_ignored(word))
		return;
	if (digits && strcasecmp(word + digits, "GB") == 0)
		label->gb = strtod(word, NULL);
	else if (digits && strcasecmp(word + digits, "W") == 0)
		label->watts = strtod(word, NULL);
	else if (strncasecmp(word, "SXM", 3) == 0)
		label->form = 's';
	else if (strcasecmp(word, "PCIe") == 0)
		label->form = 'p';
	else if (strcasecmp(word, "NVL") == 0)
		label->form = 'n';
	else if (strncasecmp(word, "HBM", 3) == 0)
		snprintf(label->memory, sizeof label->memory, "%s", word);
	else
		for (; *word && used + 1 < sizeof label->kind; word++)
			label->kind[used++] =
				(char)tolower((unsigned char)*word);
}

static struct label read_label(const char *name)
{
	struct label label = {.kind = ""};
	char text[64], *word, *rest = NULL;

	snprintf(text, sizeof text, "%s", name);
	for (word = strtok_r(text, " -_", &rest); word;
	     word = strtok_r(NULL, " -_", &rest))
		take_word(&label, word);
	if (strncmp(label.kind, "rtx", 3) == 0) /* "A6000", "4090" do */
		memmove(label.kind, label.kind + 3, strlen(label.kind) - 2);
	return label;
}

bool llm_device_is_kind(const char *name, const char *asked)
{
	struct label own = read_label(name), wanted = read_label(asked);

	return strcmp(own.kind, wanted.kind) == 0 &&
	       (!own.form || own.form == (wanted.form ? wanted.form : 's'));
}

double llm_device_name_gb(const char *name)
{
	return read_label(name).gb;
}

/* How well a row is what was asked for; 0: it is another. */
static double match(const struct row *row, const struct label *asked)
{
	struct label own = read_label(row->gpu);
	double score = 1e6;

	if (strcmp(own.kind, asked->kind) != 0 ||
	    (asked->form && asked->form != own.form) ||
	    (asked->memory[0] && strcasecmp(asked->memory, row->memory_type)) ||
	    (asked->watts > 0 && asked->watts != row->power_w))
		return 0;
	if (asked->gb > 0) {
		double said = own.gb > 0 ? own.gb : row->memory_gb;
		double miss = fabs(said / asked->gb - 1);

		if (miss > SIZE_MARGIN)
			return 0;
		score -= 1e5 * miss;
	}
	return score + (own.form == 's' ? 1e4 : 0) + row->memory_gb;
}

/* Says which there are: those of the kind, else near ones. */
static enum dist_error refuse_name(const struct row *rows, size_t num,
				   const char *name,
				   struct dist_message *message)
{
	struct label asked = read_label(name);
	char list[300] = "";

	for (size_t reach = 0; reach < 2 && !list[0]; reach++)
		for (size_t i = 0; i < num; i++) {
			struct label own = read_label(rows[i].gpu);

			if (dist__spelling_distance(own.kind, asked.kind) <=
			    reach)
				(void)dist__append(list, sizeof list, "%s%s",
						   *list ? ", " : "",
						   rows[i].gpu);
		}
	return dist__refuse(message, "GPU %.40s: expected one of %s", name,
			    list[0] ? list
				    : "`lockstep list devices`, such as "
				      "A100, H100 80GB, B200");
}

/* ---- finding ---------------------------------------------------------- */

static const struct row *find_row(const struct row *rows, size_t num,
				  const char *name)
{
	struct label asked = read_label(name);
	const struct row *best = NULL;
	double most = 0;

	for (size_t i = 0; i < num; i++) {
		double score = strcmp(rows[i].gpu, name) == 0
				       ? INFINITY
				       : match(&rows[i], &asked);

		if (score > most) {
			most = score;
			best = &rows[i];
		}
	}
	return best;
}

/* Follows `like` from row to GPUs whose measurements may stand for it. */
static size_t find_kin(struct llm_device kin[KIN], const struct row *rows,
		       size_t num_rows, const struct row *row)
{
	size_t num = 0;

	while (row && num < KIN) {
		fill(&kin[num++], row);
		row = row->like ? find_row(rows, num_rows, row->like) : NULL;
		for (size_t k = 0; row && k < num; k++)
			if (strcmp(kin[k].name, row->gpu) == 0)
				return num; /* each stands for the other */
	}
	return num;
}

/* Fills in what kernels reach on row's device, and on its kin. */
static enum dist_error complete(struct llm_device *device,
				const struct row *rows, size_t num_rows,
				const struct row *row,
				const struct llm_measured *measured)
{
	struct llm_device kin[KIN];
	const struct llm_device *list[KIN];
	size_t num = find_kin(kin, rows, num_rows, row);

	for (size_t i = 0; i < num; i++)
		list[i] = &kin[i];
	return llm_efficiency_set(device, list, num, measured, NULL);
}

/* Fills devices from `num` rows of the catalogue; reached: also with what
 * kernels reach. */
static enum dist_error fill_all(struct llm_device *devices,
				const struct tsv_table *catalogue,
				const struct row *wanted, size_t num,
				bool reached, struct dist_message *message)
{
	struct llm_measured measured;
	enum dist_error error;

	for (size_t i = 0; i < num; i++)
		fill(devices + i, wanted + i);
	if (!reached)
		return DIST_OK;
	error = llm_measured_load(&measured, message);
	if (error)
		return error;
	for (size_t i = 0; i < num && !error; i++)
		error = complete(devices + i, catalogue->rows,
				 catalogue->num_rows, wanted + i, &measured);
	llm_measured_release(&measured);
	return error;
}

enum dist_error llm_device_list(struct llm_device **devices, size_t *num,
				bool reached, struct dist_message *message)
{
	struct tsv_table tsv;
	enum dist_error error = load(&tsv, message);

	*devices = NULL;
	*num = 0;
	if (error)
		return error;
	*devices = calloc(tsv.num_rows + 1, sizeof **devices);
	error = *devices ? fill_all(*devices, &tsv, tsv.rows, tsv.num_rows,
				    reached, message)
			 : DIST_ERR_NO_MEMORY;
	*num = *devices ? tsv.num_rows : 0;
	if (error) {
		llm_device_list_release(*devices, *num);
		*devices = NULL;
		*num = 0;
	}
	dist__tsv_release(&tsv);
	return error;
}

void llm_device_list_release(struct llm_device *devices, size_t num)
{
	for (size_t i = 0; i < num; i++)
		llm_device_release(devices + i);
	free(devices);
}

static enum dist_error find(struct llm_device *device, const char *name,
			    bool reached, struct dist_message *message)
{
	struct tsv_table tsv;
	const struct row *row;
	enum dist_error error = load(&tsv, message);

	*device = (struct llm_device){.name = ""};
	if (error)
		return error;
	row = find_row(tsv.rows, tsv.num_rows, name);
	error = row ? fill_all(device, &tsv, row, 1, reached, message)
		    : refuse_name(tsv.rows, tsv.num_rows, name, message);
	dist__tsv_release(&tsv);
	return error;
}

enum dist_error llm_device_find(struct llm_device *device, const char *name,
				struct dist_message *message)
{
	return find(device, name, true, message);
}

enum dist_error llm_device_published(struct llm_device *device,
				     const char *name,
				     struct dist_message *message)
{
	return find(device, name, false, message);
}

void llm_device_release(struct llm_device *device)
{
	free(device->efficiency);
	device->efficiency = NULL;
}

enum dist_error llm_device_can(const struct llm_device *device,
			       enum llm_precision precision,
			       struct dist_message *message)
{
	char list[64] = "";

	if (device->peak[precision] > 0)
		return DIST_OK;
	for (int p = 0; p < LLM_PRECISIONS; p++)
		if (device->peak[p] > 0)
			(void)dist__append(
				list, sizeof list, " %s",
				llm_precision_name((enum llm_precision)p));
	return dist__refuse(message, "precision %s: expected for %s one of%s",
			    llm_precision_name(precision), device->name, list);
}
