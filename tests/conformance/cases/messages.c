/* messages.c - patterns of point-to-point calls. */
#include "tests/conformance/cases/case.h"

#include <stdlib.h>

/* Every rank has with every other: a tensor that goes there and one that comes
 * from there. */
struct pairs {
	struct dist_tensor out[CONFORMANCE_MAX_WORLD];
	struct dist_tensor in[CONFORMANCE_MAX_WORLD];
	struct dist_work *works[2 * CONFORMANCE_MAX_WORLD];
};

static void pairs_new(const struct walk *w, const struct one_case *c,
		      struct pairs *pairs)
{
	for (int peer = 0; peer < w->size; peer++) {
		pairs->out[peer] = tensor_new(c, c->numel);
		pairs->in[peer] = tensor_new(c, c->numel);
		case_fill(c, pairs->out[peer], w->rank, peer);
		pairs->works[2 * peer] = pairs->works[2 * peer + 1] = NULL;
	}
}

/* Looks at what came from those that from names. */
static void pairs_look(struct walk *w, const struct pairs *pairs,
		       bool (*from)(const struct walk *w, int peer))
{
	for (int peer = 0; peer < w->size; peer++)
		if (peer != w->rank && from(w, peer))
			walk_moved(w, pairs->in[peer], peer, w->rank);
}

static void pairs_free(const struct walk *w, struct pairs *pairs)
{
	for (int peer = 0; peer < w->size; peer++) {
		free(pairs->out[peer].data);
		free(pairs->in[peer].data);
	}
}

static bool from_everybody(const struct walk *w, int peer)
{
	(void)w;
	(void)peer;
	return true;
}

static bool from_neighbours(const struct walk *w, int peer)
{
	return (peer + 1) % w->size == w->rank ||
	       (w->rank + 1) % w->size == peer;
}

static int previous_of(const struct walk *w)
{
	return (w->rank + w->size - 1) % w->size;
}

/* ---- between all ------------------------------------------------------ */

/* All at once, each rank beginning with another; the works are waited for in
 * the order of the ranks. */
static enum dist_error at_once(struct walk *w, struct pairs *pairs)
{
	enum dist_error error = DIST_OK;

	for (int i = 1; i < w->size && !error; i++) {
		int to = (w->rank + i) % w->size;
		int from = (w->rank + w->size - i) % w->size;

		error = dist_isend(w->group, pairs->out[to], to, 3,
				   &pairs->works[2 * to]);
		if (!error)
			error = dist_irecv(w->group, pairs->in[from], from, 3,
					   &pairs->works[2 * from + 1]);
	}
	for (int i = 0; i < 2 * w->size; i++)
		error = walk_finish(error, pairs->works[i]);
	return error;
}

/* Pair after pair, the lower rank first: no send waits in a circle. */
static enum dist_error one_by_one(struct walk *w, struct pairs *pairs)
{
	enum dist_error error = DIST_OK;

	for (int peer = 0; peer < w->size && !error; peer++) {
		if (peer > w->rank)
			error = dist_send(w->group, pairs->out[peer], peer, 3);
		if (!error && peer != w->rank)
			error = dist_recv(w->group, pairs->in[peer], peer, 3);
		if (!error && peer < w->rank)
			error = dist_send(w->group, pairs->out[peer], peer, 3);
	}
	return error;
}

enum dist_error perform_all_pairs(struct walk *w, const struct one_case *c)
{
	enum dist_error error;
	struct pairs pairs;

	pairs_new(w, c, &pairs);
	error = c->async ? at_once(w, &pairs) : one_by_one(w, &pairs);
	if (!error)
		pairs_look(w, &pairs, from_everybody);
	pairs_free(w, &pairs);
	return error;
}

/* ---- around a ring ---------------------------------------------------- */

/* Every rank sends to the next and receives from the previous at once. */
enum dist_error perform_neighbours(struct walk *w, const struct one_case *c)
{
	int next = (w->rank + 1) % w->size, previous = previous_of(w);
	struct dist_work *works[2] = {NULL, NULL};
	struct dist_tensor in = tensor_new(c, c->numel);
	struct dist_tensor out = tensor_new(c, c->numel);
	enum dist_error error;

	case_fill(c, out, w->rank, 0);
	error = dist_irecv(w->group, in, previous, 7, &works[0]);
	if (!error)
		error = dist_isend(w->group, out, next, 7, &works[1]);
	for (int i = 0; i < 2; i++)
		error = walk_finish(error, works[i]);
	if (!error)
		walk_moved(w, in, previous, 0);
	free(in.data);
	free(out.data);
	return error;
}

/* Both ways around in one batch, in opposite order on odd ranks; two ranks are
 * both neighbours of each other, and the tag tells which way. */
enum dist_error perform_batch(struct walk *w, const struct one_case *c)
{
	int next = (w->rank + 1) % w->size, previous = previous_of(w);
	struct dist_p2p_op ops[4], turned[4];
	enum dist_error error;
	struct pairs pairs;
	bool odd = w->rank % 2;

	pairs_new(w, c, &pairs);
	ops[0] = (struct dist_p2p_op){DIST_ISEND, pairs.out[next], next, 0};
	ops[1] = (struct dist_p2p_op){DIST_IRECV, pairs.in[previous], previous,
				      0};
	ops[2] = (struct dist_p2p_op){DIST_ISEND, pairs.out[previous], previous,
				      1};
	ops[3] = (struct dist_p2p_op){DIST_IRECV, pairs.in[next], next, 1};
	for (int i = 0; i < 4; i++)
		turned[i] = ops[3 - i];
	error = dist_batch_isend_irecv(w->group, odd ? turned : ops, 4,
				       pairs.works);
	for (int i = 0; i < 4; i++)
		error = walk_finish(error, pairs.works[i]);
	if (!error)
		pairs_look(w, &pairs, from_neighbours);
	pairs_free(w, &pairs);
	return error;
}

/* ---- to one ----------------------------------------------------------- */

/* Rank 0 sends three tags to the last rank, which takes them in reverse. */
enum dist_error perform_tags(struct walk *w, const struct one_case *c)
{
	static const int tags[3] = {0, 1, DIST_TAG_MAX};
	struct dist_work *works[3] = {NULL, NULL, NULL};
	enum dist_error error = DIST_OK;
	struct dist_tensor parts[3];
	bool sends = w->rank == 0, receives = w->rank == w->size - 1;

	for (int i = 0; i < 3; i++) {
		int tag = sends ? i : 2 - i;

		parts[i] = tensor_new(c, c->numel);
		if (sends)
			case_fill(c, parts[i], 0, tag);
		if (!error && sends)
			error = dist_isend(w->group, parts[i], w->size - 1,
					   tags[tag], &works[i]);
		else if (!error && receives)
			error = dist_recv(w->group, parts[i], 0, tags[tag]);
	}
	for (int i = 0; i < 3; i++) {
		error = walk_finish(error, works[i]);
		if (!error && receives)
			walk_moved(w, parts[i], 0, 2 - i);
	}
	for (int i = 0; i < 3; i++)
		free(parts[i].data);
	return error;
}

#define IN_ORDER 4

/* Rank 0 sends several messages of one tag to the last rank, which receives
 * them in turn from rank 0 and from any source, posted one by one or all before
 * the first wait: the order is the sender's. */
enum dist_error perform_in_order(struct walk *w, const struct one_case *c)
{
	struct dist_work *works[IN_ORDER] = {NULL};
	enum dist_error error = DIST_OK;
	struct dist_tensor parts[IN_ORDER];
	bool receives = w->rank == w->size - 1;

	for (int i = 0; i < IN_ORDER; i++) {
		int src = i % 2 ? DIST_ANY_SOURCE : 0;

		parts[i] = tensor_new(c, c->numel);
		if (w->rank == 0)
			case_fill(c, parts[i], 0, i);
		if (!error && w->rank == 0)
			error = dist_isend(w->group, parts[i], w->size - 1, 2,
					   &works[i]);
		else if (!error && receives && c->async)
			error = dist_irecv(w->group, parts[i], src, 2,
					   &works[i]);
		else if (!error && receives)
			error = dist_recv(w->group, parts[i], src, 2);
	}
	for (int i = IN_ORDER; i-- > 0;)
		error = walk_finish(error, works[i]);
	for (int i = 0; i < IN_ORDER; i++) {
		if (!error && receives)
			walk_moved(w, parts[i], 0, i);
		free(parts[i].data);
	}
	return error;
}

/* What the root of perform_any_source() receives. */
struct heard {
	int num;
	int src[CONFORMANCE_MAX_WORLD];
	struct dist_tensor t[CONFORMANCE_MAX_WORLD];
};

/* Some ranks may be cases ahead: each case has a tag of its own. */
static int tag_of(const struct one_case *c)
{
	return (int)c->index;
}

/* Posted one by one, or all before the last is waited for first. */
static enum dist_error hear(struct walk *w, const struct one_case *c,
			    struct heard *heard)
{
	struct dist_work *works[CONFORMANCE_MAX_WORLD];
	enum dist_error error = DIST_OK;
	int i, posted = 0;

	for (i = 0; i < heard->num && !error && !c->async; i++)
		error = dist_recv_any(w->group, heard->t[i], tag_of(c),
				      &heard->src[i]);
	for (i = 0; i < heard->num && !error && c->async; i++) {
		error = dist_irecv(w->group, heard->t[i], DIST_ANY_SOURCE,
				   tag_of(c), &works[i]);
		posted += !error;
	}
	for (i = posted; i-- > 0;) {
		if (!error)
			error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		heard->src[i] = dist_work_source(works[i]);
		dist_work_free(works[i]);
	}
	return error;
}

/* Every other rank must have been heard once. The digest goes by rank, for the
 * order is another one in every world. */
static void look_at_heard(struct walk *w, const struct heard *heard)
{
	int i;

	for (int rank = 0; rank < w->size; rank++) {
		for (i = 0; i < heard->num && heard->src[i] != rank; i++)
			;
		if (i < heard->num)
			walk_moved(w, heard->t[i], rank, w->rank);
		if ((i < heard->num) == (rank == w->rank))
			walk_fail(w, "rank %d: %s", rank,
				  i < heard->num ? "heard" : "not heard");
	}
}

/* All others send to the root, which receives from any source. */
enum dist_error perform_any_source(struct walk *w, const struct one_case *c)
{
	struct heard heard = {.num = w->rank == c->root ? w->size - 1 : 1};
	enum dist_error error;

	for (int i = 0; i < heard.num; i++)
		heard.t[i] = tensor_new(c, c->numel);
	if (w->rank == c->root) {
		error = hear(w, c, &heard);
		if (!error)
			look_at_heard(w, &heard);
	} else {
		case_fill(c, heard.t[0], w->rank, c->root);
		error = dist_send(w->group, heard.t[0], c->root, tag_of(c));
	}
	for (int i = 0; i < heard.num; i++)
		free(heard.t[i].data);
	return error;
}
