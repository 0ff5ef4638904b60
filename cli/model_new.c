/* model_new.c - lockstep model new: a config.json from a few numbers, or from a
 * model that is much like it; the CSV of a torch module. */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/refuse.h"
#include "cli/run.h"
#include "model/llm/config.h"

struct request {
	struct llm_architecture model;
	int tied, two_matrices, biases, qkv_biases;
	const char *like;
	const char *output;
	const char *from, *input;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a name */
#define COUNT(name, field, text)                                               \
	{                                                                      \
		name, OPTION_COUNT, offsetof(struct request, model.field),     \
			"N", .help = text, .max = 1 << 26                      \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct option options[] = {
	{"like", OPTION_TEXT, offsetof(struct request, like), "NAME",
	 .help = "begin with this model, a name or a config.json; other "
		 "options change it",
	 .list = "llms"},
	COUNT("layers", layers, "transformer layers"),
	COUNT("hidden", hidden, "width of the hidden state"),
	COUNT("heads", heads, "attention heads"),
	COUNT("kv-heads", kv_heads,
	      "heads of keys and values (default: heads)"),
	COUNT("head-dim", head_dim,
	      "width of one head (default: hidden / heads)"),
	COUNT("ffn", ffn, "width of a dense layer's MLP"),
	COUNT("vocab", vocab, "tokens of the vocabulary"),
	COUNT("positions", positions, "learned positions (default: rotary)"),
	COUNT("window", window, "tokens that a local layer attends to"),
	COUNT("local-of", local_of,
	      "every N-th layer attends to all tokens (default: none, with "
	      "--window)"),
	COUNT("experts", experts, "experts of a layer"),
	COUNT("top-k", top_k, "experts of a token"),
	COUNT("expert-ffn", expert_ffn, "width of one expert"),
	COUNT("shared-ffn", shared_ffn, "width of all shared experts"),
	COUNT("dense-layers", dense_layers, "first layers, without experts"),
	COUNT("dense-every", dense_every, "every N-th layer has experts"),
	{"tied", OPTION_SWITCH, offsetof(struct request, tied),
	 .help = "the output projection is the embedding"},
	{"two-matrices", OPTION_SWITCH, offsetof(struct request, two_matrices),
	 .help = "MLPs have two matrices, without a gate"},
	{"biases", OPTION_SWITCH, offsetof(struct request, biases),
	 .help = "matrices have biases"},
	{"qkv-biases", OPTION_SWITCH, offsetof(struct request, qkv_biases),
	 .help = "the matrices of query, key and value have biases"},
	{"from", OPTION_TEXT, offsetof(struct request, from), "FILE.py:NAME",
	 .help = "write any torch module as CSV instead: a class or function "
		 "without arguments that makes it"},
	{"input", OPTION_TEXT, offsetof(struct request, input), "SHAPE,...",
	 .help = "--from: the shape of one sample, 3x224x224 or tokens:2048"},
	{"output", OPTION_TEXT, offsetof(struct request, output), "FILE",
	 .help = "the file to write", .usual = "standard output",
	 .letter = 'o'},
	{.name = NULL}};

const struct manual manual_model_new = {
	.usage = "[--like NAME] [OPTION...] [-o FILE.json]\n--from "
		 "FILE.py:NAME --input SHAPE,... [-o FILE.csv]",
	.about = "Writes a language model as config.json, for --model. A count "
		 "of 0 removes a part of --like.",
	.examples = {"lockstep model new --layers 32 --hidden 4096 --heads 32 "
		     "--kv-heads 8 --ffn 14336 --vocab 128256",
		     "lockstep model new --like deepseek-v3 --layers 8 "
		     "--experts 32"},
	.groups = GROUPS({.options = options}),
};

/* Returns NULL, or the option that is needed and not given. */
static const char *missing(const struct llm_architecture *m)
{
	return !m->layers                                    ? "layers"
	       : !m->hidden                                  ? "hidden"
	       : !m->heads                                   ? "heads"
	       : !m->head_dim                                ? "head-dim"
	       : !m->vocab                                   ? "vocab"
	       : !m->ffn && llm_expert_layers(m) < m->layers ? "ffn"
							     : NULL;
}

/* ---- a torch module ----------------------------------------------------- */

/* Becomes the interpreter that writes the rows; returns where it cannot. */
static int run_rows(const struct request *request)
{
	const char *name = getenv("PYTHON_EXEC");
	char python[PATH_MAX];

	if (!run_find_program(name ? name : "python3", python))
		return refuse("model new",
			      "no %s: expected python3 on PATH, or PYTHON_EXEC "
			      "to name one",
			      name ? name : "python3");
	if (!run_export_path())
		return out_of_memory("model new");
	execl(python, python, "-m", "lockstep.model_rows", request->from,
	      request->input, request->output ? request->output : "-", NULL);
	return refuse("model new", "%s: %s", python, strerror(errno));
}

/* Whether nothing is said that a language model has. */
static bool is_plain(const struct request *request)
{
	for (const struct option *o = options; o->name; o++)
		if ((o->kind == OPTION_COUNT || o->kind == OPTION_SWITCH) &&
		    *(const int *)((const char *)request + o->offset) != 0)
			return false;
	return !request->like;
}

/* ---- a language model --------------------------------------------------- */

int command_model_new(int argc, const char **argv)
{
	struct request request = {.model = {.gated = true}};
	const char *like = option_peek(argc, argv, "like"), *needed;
	struct llm_architecture *m = &request.model;
	struct dist_message message;
	int status;

	if (like && llm_architecture_find(m, like, &message))
		return refuse("model new", "--like: %s", message.text);
	if (!arguments_parse(&manual_model_new, &argc, argv, &request, &status))
		return status;
	if (request.from || request.input) {
		if (!request.from || !request.input)
			return refuse("model new",
				      "expected --from and --input both");
		if (!is_plain(&request))
			return refuse("model new", "expected no option beside "
						   "--from but --input and -o");
		return run_rows(&request);
	}
	m->gated = m->gated && !request.two_matrices;
	m->tied = m->tied || request.tied;
	m->biases = m->biases || request.biases;
	m->qkv_biases = m->qkv_biases || request.qkv_biases || m->biases;
	/* What a number follows from, where it is not given. */
	if (!m->kv_heads)
		m->kv_heads = m->heads;
	if (!m->head_dim && m->heads && m->hidden % m->heads == 0)
		m->head_dim = m->hidden / m->heads;
	needed = missing(m);
	if (needed)
		return refuse("model new", "expected --%s, or --like", needed);
	if (llm_architecture_check(m, &message) ||
	    llm_config_write(m, request.output, &message))
		return refuse("model new", "%s", message.text);
	return DIST_EXIT_OK;
}
