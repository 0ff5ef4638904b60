/* llm_picture.c - the pipeline of a language model's step, drawn: the order of
 * scenarios/llm_order.h, each piece once those that it needs are done. */
#include "cli/llm.h"

#include <stdlib.h>

#include "base/output.h"
#include "base/refuse.h"
#include "scenarios/llm_order.h"

#define WIDTH  1200.0
#define LEFT   70.0
#define TOP    46.0
#define HEIGHT 26.0
#define GAP    6.0

/* The stages under way. */
struct pipeline {
	const struct llm_outcome *outcome;
	int stages, chunks, num;
	size_t size; /* actions of a stage */
	struct llm_action *actions;
	double *begin_ns, *end_ns; /* of each action */
	double *done_ns; /* of way, stage, chunk and micro-batch; < 0: not */
	double factor;   /* a stage's work over its computing */
};

/* ---- what a piece takes ------------------------------------------------- */

/* The share of a stage's layers that are recomputed whole. */
static double recomputed_share(const struct llm_work *work, int stage)
{
	int num[LLM_LAYER_KINDS], layers = 0;

	for (int c = 0; c < work->layout.vpp; c++) {
		llm_stage_layers(work, stage, c, num);
		for (int k = LLM_DENSE; k < LLM_HEAD; k++)
			layers += num[k];
	}
	return layers ? (double)llm_recomputed_layers(work, stage) / layers : 0;
}

static double computing_ns(const struct llm_work *work, int stage, int chunk,
			   enum llm_way way)
{
	double share = recomputed_share(work, stage), ns = 0;
	int num[LLM_LAYER_KINDS];

	llm_stage_layers(work, stage, chunk, num);
	for (int k = 0; k < LLM_LAYER_KINDS; k++) {
		const struct llm_layer *layer = &work->layers[k];
		const struct llm_pass *const passes[] = {
			&layer->forward, &layer->backward, &layer->weights};
		bool again =
			way == LLM_BACKWARD && k >= LLM_DENSE && k < LLM_HEAD;

		if (num[k] > 0)
			ns += num[k] * llm_pass_ns(passes[way]);
		if (num[k] > 0 && again)
			ns += num[k] * share * llm_pass_ns(&layer->forward);
	}
	return ns;
}

/* What all pieces of a stage compute. */
static double stage_ns(const struct pipeline *p, int stage)
{
	double ns = 0;

	for (int c = 0; c < p->chunks; c++)
		for (int way = LLM_FORWARD; way <= LLM_WEIGHTS; way++)
			ns += computing_ns(&p->outcome->work, stage, c,
					   (enum llm_way)way);
	return ns * p->num;
}

/* The time of the step that the pipeline works: without what comes once. */
static double working_ns(const struct llm_answer *answer)
{
	const struct llm_breakdown *b = &answer->breakdown;

	return answer->step_ns - b->bubble_ns - b->compute_ns[LLM_OPTIMIZER] -
	       b->exposed_ns[LLM_DP] - b->exposed_ns[LLM_EXPERT_DP] -
	       b->exposed_ns[LLM_REPLICAS];
}

/* ---- the order in time -------------------------------------------------- */

static double *done_of(const struct pipeline *p, enum llm_way way, int stage,
		       int chunk, int micro_batch)
{
	size_t at = (size_t)way * (size_t)p->stages + (size_t)stage;

	at = at * (size_t)p->chunks + (size_t)chunk;
	return &p->done_ns[at * (size_t)p->num + (size_t)micro_batch];
}

/* When what an action needs of another stage is there; < 0: not yet. */
static double input_ns(const struct pipeline *p, int stage,
		       const struct llm_action *action)
{
	bool forward = action->way == LLM_FORWARD;
	int at = action->chunk * p->stages + stage + (forward ? -1 : 1);

	if (action->way == LLM_WEIGHTS || at < 0 || at == p->stages * p->chunks)
		return 0;
	return *done_of(p, action->way, at % p->stages, at / p->stages,
			action->micro_batch);
}

/* Does what a stage can; returns how many actions. */
static size_t advance(struct pipeline *p, int stage, size_t *next,
		      double *now_ns)
{
	size_t first = *next;

	for (; *next < p->size; ++*next) {
		size_t at = (size_t)stage * p->size + *next;
		const struct llm_action *action = &p->actions[at];
		double begin_ns = input_ns(p, stage, action);

		if (begin_ns < 0)
			break;
		p->begin_ns[at] = begin_ns > *now_ns ? begin_ns : *now_ns;
		*now_ns = p->begin_ns[at] +
			  p->factor * computing_ns(&p->outcome->work, stage,
						   action->chunk, action->way);
		p->end_ns[at] = *now_ns;
		*done_of(p, action->way, stage, action->chunk,
			 action->micro_batch) = *now_ns;
	}
	return *next - first;
}

/* Works until no stage can go on; next and now are of each stage. */
static void work_through(struct pipeline *p, size_t *next, double *now_ns)
{
	size_t done = 1,
	       all = 3 * (size_t)p->stages * (size_t)p->chunks * (size_t)p->num;

	for (size_t i = 0; i < all; i++)
		p->done_ns[i] = -1;
	while (done > 0) {
		done = 0;
		for (int s = 0; s < p->stages; s++)
			done += advance(p, s, &next[s], &now_ns[s]);
	}
}

/* ---- the picture -------------------------------------------------------- */

static void draw_piece(struct dist__output *out, const struct pipeline *p,
		       size_t at, double scale)
{
	static const char *const colours[] = {"#4477AA", "#EE8866", "#77AA77"};
	static const char *const names[] = {"forward", "backward", "weights"};
	const struct llm_action *action = &p->actions[at];
	double x = LEFT + scale * p->begin_ns[at];
	double width = scale * (p->end_ns[at] - p->begin_ns[at]);
	const size_t row = at / p->size;
	double y = TOP + (HEIGHT + GAP) * (double)row;

	dist__output_print(out,
			   "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
			   "height=\"%.0f\" fill=\"%s\" fill-opacity=\"%.2f\" "
			   "stroke=\"#fff\" stroke-width=\"0.5\"><title>%s of "
			   "micro-batch %d, chunk %d</title></rect>\n",
			   x, y, width, HEIGHT, colours[action->way],
			   1 - 0.5 * action->chunk / p->chunks,
			   names[action->way], action->micro_batch,
			   action->chunk);
	if (width > 16)
		dist__output_print(out,
				   "<text x=\"%.2f\" y=\"%.1f\" fill=\"#fff\" "
				   "text-anchor=\"middle\">%d</text>\n",
				   x + width / 2, y + 17, action->micro_batch);
}

static void draw_head(struct dist__output *out, const struct pipeline *p,
		      double whole_ns)
{
	const struct llm_outcome *outcome = p->outcome;
	double bubble_ns = outcome->answer.breakdown.bubble_ns;
	double height = TOP + (HEIGHT + GAP) * p->stages + 30;

	dist__output_print(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
		"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n"
		"<text x=\"%.0f\" y=\"18\" font-size=\"14\" fill=\"#333\">%s: "
		"%d stages, %d micro-batches, %s; step %.1f ms, bubble %.1f "
		"ms</text>\n"
		"<text x=\"%.0f\" y=\"36\" fill=\"#333\">blue forward, orange "
		"backward, green weights, grey idle; the numbers are "
		"micro-batches, lighter: later chunks</text>\n",
		LEFT + WIDTH + 20, height, LEFT + WIDTH + 20, height, LEFT,
		outcome->work.model.name, p->stages, p->num,
		llm_schedule_name(outcome->layout.schedule),
		outcome->answer.step_ns / 1e6, bubble_ns / 1e6, LEFT);
	for (int s = 0; s < p->stages; s++)
		dist__output_print(
			out,
			"<text x=\"8\" y=\"%.1f\" fill=\"#333\">stage "
			"%d</text><rect x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" "
			"height=\"%.0f\" fill=\"#E3E3E3\"/>\n",
			TOP + (HEIGHT + GAP) * s + 17, s, LEFT,
			TOP + (HEIGHT + GAP) * s, WIDTH, HEIGHT);
	dist__output_print(out,
			   "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\" "
			   "fill=\"#333\">%.1f ms</text>\n",
			   LEFT + WIDTH, height - 10, whole_ns / 1e6);
}

static enum dist_error draw(const struct pipeline *p, const char *path,
			    struct dist_message *message)
{
	size_t all = (size_t)p->stages * p->size;
	struct dist__output *out;
	enum dist_error error = dist__output_open(path, &out, message);
	double whole_ns = 0;

	if (error)
		return error;
	for (size_t i = 0; i < all; i++)
		whole_ns = p->end_ns[i] > whole_ns ? p->end_ns[i] : whole_ns;
	draw_head(out, p, whole_ns);
	for (size_t i = 0; i < all; i++)
		draw_piece(out, p, i, WIDTH / whole_ns);
	dist__output_text(out, "</svg>\n");
	return dist__output_close(out, message);
}

static struct llm_order order_of(const struct pipeline *p, int stage)
{
	return (struct llm_order){.schedule = p->outcome->layout.schedule,
				  .stages = p->stages,
				  .stage = stage,
				  .chunks = p->chunks,
				  .num = p->num};
}

/* Lays out and draws what the pipeline has memory for. */
static enum dist_error fill(struct pipeline *p, size_t *next, double *now_ns,
			    const char *path, struct dist_message *message)
{
	double most_ns = 0;

	for (int s = 0; s < p->stages; s++) {
		const struct llm_order order = order_of(p, s);
		double ns = stage_ns(p, s);

		llm_order_fill(&order, p->actions + (size_t)s * p->size);
		most_ns = ns > most_ns ? ns : most_ns;
	}
	p->factor = working_ns(&p->outcome->answer) / most_ns;
	work_through(p, next, now_ns);
	return draw(p, path, message);
}

enum dist_error llm_picture_write(const struct llm_outcome *outcome,
				  const char *path,
				  struct dist_message *message)
{
	const struct llm_layout *layout = &outcome->layout;
	struct pipeline p = {.outcome = outcome,
			     .stages = layout->pp,
			     .chunks = layout->vpp,
			     .num = llm_micro_batches(layout)};
	const struct llm_order order = order_of(&p, 0);
	size_t all, *next = calloc((size_t)p.stages, sizeof *next);
	double *now_ns = calloc((size_t)p.stages, sizeof *now_ns);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	p.size = llm_order_size(&order);
	all = p.size * (size_t)p.stages;
	p.actions = calloc(all, sizeof *p.actions);
	p.begin_ns = calloc(all, sizeof *p.begin_ns);
	p.end_ns = calloc(all, sizeof *p.end_ns);
	p.done_ns = calloc(3 * all, sizeof *p.done_ns);
	snprintf(message->text, sizeof message->text, "out of memory");
	if (all > LLM_PICTURE_MOST)
		error = dist__refuse(
			message,
			"--picture: expected at most %d pieces, not %zu: fewer "
			"micro-batches, by --global-batch",
			LLM_PICTURE_MOST, all);
	else if (next && now_ns && p.actions && p.begin_ns && p.end_ns &&
		 p.done_ns)
		error = fill(&p, next, now_ns, path, message);
	free(next);
	free(now_ns);
	free(p.actions);
	free(p.begin_ns);
	free(p.end_ns);
	free(p.done_ns);
	return error;
}
