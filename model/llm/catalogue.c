/*
 * catalogue.c - the language models that come with Lockstep, a row of
 * models/llm.tsv each, and finding one by the name that people use.
 */
#include "model/llm/architecture.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/data.h"
#include "base/text.h"
#include "base/quantity.h"
#include "base/refuse.h"
#include "base/spelling.h"
#include "base/tsv_table.h"
#include "model/llm/config.h"

#define TABLE "models/llm.tsv"

/* A row of the table. */
struct row {
	struct llm_architecture model;
	char aliases[128]; /* with spaces between */
};

/* ---- fields ----------------------------------------------------------- */

#define READ_TEXT(into, size, text)                                            \
	((size_t)snprintf(into, size, "%s", text) < (size)                     \
		 ? NULL                                                        \
		 : "shorter than " #size " bytes")

static const char *read_name(const char *text, void *into)
{
	return READ_TEXT(into, 64, text);
}

static const char *read_text(const char *text, void *into)
{
	return READ_TEXT(into, 128, text);
}

static const char *read_count(const char *text, void *into)
{
	int64_t count;

	if (!dist__count_read(text, 1, 1 << 30, &count))
		return "a whole number from 1 on";
	*(int *)into = (int)count;
	return NULL;
}

static const char *read_yes(const char *text, void *into)
{
	*(bool *)into = true;
	return strcmp(text, "1") == 0 ? NULL : "1 or -";
}

static const char *read_billions(const char *text, void *into)
{
	double billions;

	if (!dist__number_read(text, &billions) || billions <= 0)
		return "a number above 0";
	*(double *)into = billions * 1e9;
	return NULL;
}

#define FIELD(name, read, required)                                            \
	{                                                                      \
#name, read, offsetof(struct row, model.name), required        \
	}

static const struct tsv_field fields[] = {
	FIELD(name, read_name, true),
	{"aliases", read_text, offsetof(struct row, aliases), false},
	FIELD(layers, read_count, true),
	FIELD(hidden, read_count, true),
	FIELD(heads, read_count, true),
	FIELD(kv_heads, read_count, true),
	FIELD(head_dim, read_count, true),
	FIELD(ffn, read_count, false),
	FIELD(gated, read_yes, false),
	FIELD(biases, read_yes, false),
	FIELD(qkv_biases, read_yes, false),
	FIELD(vocab, read_count, true),
	FIELD(tied, read_yes, false),
	FIELD(positions, read_count, false),
	FIELD(window, read_count, false),
	FIELD(local_of, read_count, false),
	FIELD(chunked, read_yes, false),
	FIELD(experts, read_count, false),
	FIELD(top_k, read_count, false),
	FIELD(expert_ffn, read_count, false),
	FIELD(shared_ffn, read_count, false),
	FIELD(dense_layers, read_count, false),
	FIELD(dense_every, read_count, false),
	FIELD(q_rank, read_count, false),
	FIELD(kv_rank, read_count, false),
	FIELD(rope_dim, read_count, false),
	FIELD(value_dim, read_count, false),
	{"total_b", read_billions, offsetof(struct row, model.published),
	 false},
	{"active_b", read_billions,
	 offsetof(struct row, model.published_active), false},
	{"from", read_text, offsetof(struct row, model.source), true},
	{.name = NULL}};

/* The models stand at the head of their rows. */
const char *llm_catalogue_difference(const struct llm_architecture *a,
				     const struct llm_architecture *b)
{
	for (const struct tsv_field *f = fields; f->name; f++) {
		size_t size = f->read == read_count ? sizeof(int)
			      : f->read == read_yes ? sizeof(bool)
						    : 0;

		if (memcmp((const char *)a + f->offset,
			   (const char *)b + f->offset, size) != 0)
			return f->name;
	}
	return NULL;
}

static enum dist_error check_row(const struct tsv_table *tsv, size_t i,
				 const void *row, struct dist_message *message)
{
	struct dist_message why;

	return llm_architecture_check(&((const struct row *)row)->model, &why)
		       ? dist__refuse(message, "%.200s:%d: %.200s", tsv->path,
				      tsv->lines[i], why.text)
		       : DIST_OK;
}

/* Reads the table into *rows, the caller's to free. */
static enum dist_error load(struct row **rows, size_t *num,
			    struct dist_message *message)
{
	enum dist_error error;
	struct tsv_table tsv;
	char path[4096];

	dist__data_dir(TABLE, path, sizeof path);
	error = dist__tsv_load_rows(&tsv, path, fields, sizeof **rows,
				    check_row, message);
	*rows = tsv.rows;
	*num = tsv.num_rows;
	tsv.rows = NULL;
	dist__tsv_release(&tsv);
	return error;
}

enum dist_error llm_catalogue(struct llm_architecture **models, size_t *num,
			      struct dist_message *message)
{
	struct row *rows;
	enum dist_error error = load(&rows, num, message);

	*models = NULL;
	if (error)
		return error;
	*models = calloc(*num, sizeof **models);
	for (size_t i = 0; *models && i < *num; i++)
		(*models)[i] = rows[i].model;
	free(rows);
	if (*models)
		return DIST_OK;
	snprintf(message->text, sizeof message->text, "out of memory");
	return DIST_ERR_NO_MEMORY;
}

/* ---- names ------------------------------------------------------------ */

/* Stores what is compared of a name: letters, small, digits, and the point that
 * parts 1.3B from 13B. */
static void fold(char folded[64], const char *name, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len && used < 63; i++)
		if (!strchr("-_: ", name[i]))
			folded[used++] = (char)tolower((unsigned char)name[i]);
	folded[used] = '\0';
}

/* Returns how far the row's nearest name is from the folded one; 0: it is it. A
 * name that begins with it is near. */
static size_t distance(const struct row *row, const char *asked)
{
	const char *next = row->aliases;
	char folded[64];
	size_t least;

	fold(folded, row->model.name, strlen(row->model.name));
	least = strlen(asked) > 2 && strlen(folded) > strlen(asked) &&
				dist__begins(folded, asked)
			? 1
			: dist__spelling_distance(asked, folded);
	while (*next && least) {
		size_t len = strcspn(next, " "), d;

		fold(folded, next, len);
		d = dist__spelling_distance(asked, folded);
		least = d < least ? d : least;
		next += len + strspn(next + len, " ");
	}
	return least;
}

/* Names the four models whose names are nearest. */
static enum dist_error refuse_name(const struct row *rows, size_t num,
				   const char *name, const char *asked,
				   struct dist_message *message)
{
	enum { MOST = 4 };
	char near[MOST * 66] = "";
	size_t shown = 0;

	for (size_t d = 1; d < 64 && shown < MOST; d++)
		for (size_t i = 0; i < num && shown < MOST; i++)
			if (distance(&rows[i], asked) == d)
				(void)dist__append(near, sizeof near, "%s%s",
						   shown++ ? ", " : "",
						   rows[i].model.name);
	return dist__refuse(message,
			    "no language model \"%.64s\": expected a "
			    "config.json or a name of lockstep model list, "
			    "such as %s",
			    name, near);
}

/* Whether the name begins with the row's first word, of 4 letters or more. */
static bool is_of_family(const struct row *row, const char *asked)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	char folded[64];
	size_t len;

	fold(folded, row->model.name, strlen(row->model.name));
	len = strspn(folded, letters);
	return len >= 4 && strncmp(folded, asked, len) == 0;
}

/* Returns the name behind the owner of a repository of Hugging Face; NULL: it
 * is a path. */
static const char *behind_owner(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && isalnum((unsigned char)name[0]) && slash[1] &&
			       !strchr(slash + 1, '/') &&
			       access(name, F_OK) != 0
		       ? slash + 1
		       : NULL;
}

/* Returns the length of a name without a word behind its last dash that says
 * which checkpoint of an architecture it is: four digits of a date or one of
 * these. */
static size_t without_checkpoint(const char *name, size_t len)
{
	static const char *const words[] = {"instruct", "base", "chat",    "hf",
					    "it",       "pt",   "thinking"};
	size_t start = len;

	while (start > 0 && name[start - 1] != '-')
		start--;
	if (start < 2)
		return len;
	if (len - start == 4 && strspn(name + start, "0123456789") >= 4)
		return start - 1;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (len - start == strlen(words[i]) &&
		    strncasecmp(name + start, words[i], len - start) == 0)
			return start - 1;
	return len;
}

/* Stores what is compared of a name, of a repository without its owner, and
 * without what names a checkpoint (Qwen3-30B-A3B-Instruct-2507). */
static void fold_asked(char asked[64], const char *name)
{
	const char *repository = behind_owner(name);
	size_t len;

	name = repository ? repository : name;
	len = without_checkpoint(name, strlen(name));
	fold(asked, name, without_checkpoint(name, len));
}

bool llm_catalogue_has_near(const char *name)
{
	struct dist_message message;
	char asked[64];
	struct row *rows;
	size_t num;
	bool near = false;

	if (load(&rows, &num, &message))
		return false;
	fold_asked(asked, name);
	for (size_t i = 0; i < num && !near; i++)
		near = distance(&rows[i], asked) <= DIST__SPELLING_FARTHEST ||
		       is_of_family(&rows[i], asked);
	free(rows);
	return near;
}

static enum dist_error find_name(struct llm_architecture *model,
				 const char *name, struct dist_message *message)
{
	char asked[64];
	struct row *rows;
	size_t num, i;
	enum dist_error error = load(&rows, &num, message);

	if (error)
		return error;
	fold_asked(asked, name);
	for (i = 0; i < num; i++)
		if (distance(&rows[i], asked) == 0 ||
		    strcasecmp(rows[i].model.source, name) == 0)
			break;
	if (i < num)
		*model = rows[i].model;
	else
		error = refuse_name(rows, num, name, asked, message);
	free(rows);
	return error;
}

enum dist_error llm_architecture_find(struct llm_architecture *model,
				      const char *name,
				      struct dist_message *message)
{
	size_t len = strlen(name);

	*model = (struct llm_architecture){.layers = 0};
	if ((strchr(name, '/') && !behind_owner(name)) ||
	    (len >= 5 && strcmp(name + len - 5, ".json") == 0))
		return llm_config_read(model, name, message);
	return find_name(model, name, message);
}
