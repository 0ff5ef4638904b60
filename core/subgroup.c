/*
 * subgroup.c - groups of some of the ranks.
 *
 * Making groups is a collective on the parent. All its ranks agree about the
 * lists, by fingerprint, and about the id of the first new group: the maximum
 * of what the ranks propose. Each proposes an id above all that it knows. So
 * groups that share a rank have different ids, also if ranks made other groups
 * meanwhile. Members and others count alike.
 *
 * With members_only the members agree by messages on the parent, up and down a
 * binomial tree of them, by rank; the lists are the messages' fingerprint.
 */
#include "base/text.h"
#include "core/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "check/record.h"

#undef dist_new_group
#undef dist_new_subgroups_by_enumeration
#undef dist_new_subgroups
#undef dist_split_group

/* A call that makes groups: what it asks for, and what that makes of it. */
struct making {
	struct dist_group *parent;
	struct dist_group_options options;
	bool in_parent; /* lists are of ranks in parent, not global */
	struct dist__purpose purpose;
	int num_groups;
	int own; /* which of them the rank will be in; -1: none */
	struct dist__members members; /* of that one, once it is known */
	int *ranks;                   /* theirs, owned; or NULL */
	int lowest;                   /* global rank of them, of members_only */
};

/* ---- what a verdict says of the lists --------------------------------- */

/* Appends to the words; what does not fit becomes "...". */
__attribute__((format(printf, 2, 3))) static void
say(struct dist__purpose *purpose, const char *format, ...)
{
	size_t size = sizeof purpose->text, used = strlen(purpose->text);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(purpose->text + used, size - used, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= size - used)
		strcpy(purpose->text + size - 4, "...");
}

/* "0,2-3" */
static void say_ranks(struct dist__purpose *purpose, const int *ranks, int n)
{
	const char *separator = "";
	int last;

	for (int i = 0;
	     i < n && strlen(purpose->text) < sizeof purpose->text - 1;
	     i = last + 1) {
		for (last = i; last + 1 < n;)
			if (ranks[last + 1] == ranks[last] + 1)
				last++;
			else
				break;
		say(purpose, "%s%d", separator, ranks[i]);
		if (last > i)
			say(purpose, "-%d", ranks[last]);
		separator = ",";
	}
}

/* ---- looking at the arguments ------------------------------------------ */

/* Begins *making; a call without options has the defaults. */
static enum dist_error begin(struct making *making, const char *call,
			     struct dist_group *parent,
			     const struct dist_group_options *options,
			     struct dist_group **sub)
{
	static const struct dist_group_options defaults;
	size_t most = sizeof parent->title - 1;
	const char *name;

	if (!parent)
		return DIST_ERR_INVALID_ARGUMENT;
	*making = (struct making){.parent = parent,
				  .options = options ? *options : defaults,
				  .members = parent->members,
				  .purpose = {.name = call},
				  .own = -1};
	name = making->options.name;
	if (!sub)
		return dist__fail(
			parent, DIST_ERR_INVALID_ARGUMENT,
			"%s: sub is NULL: expected where to store the group",
			call);
	if (name && strlen(name) > most)
		return dist__fail(parent, DIST_ERR_INVALID_ARGUMENT,
				  "%s: the name \"%.64s\" is too long: "
				  "expected up to %zu bytes",
				  call, name, most);
	if (making->options.timeout_ns < 0)
		return dist__fail(parent, DIST_ERR_INVALID_ARGUMENT,
				  "%s: timeout_ns is %lld: expected 0 or more",
				  call, (long long)making->options.timeout_ns);
	making->purpose.terms = DIST__HASH_BEGIN;
	if (name && *name)
		say(&making->purpose, "%s: ", name);
	for (; name && *name; name++)
		making->purpose.terms =
			dist__mix(making->purpose.terms, (unsigned char)*name);
	return DIST_OK;
}

/* Copies list to ranks as global ranks, in the order in which they will
 * count. seen, by rank of the parent, says which were listed before. */
static enum dist_error take_list(const struct making *making,
				 const struct dist_rank_list *list, bool *seen,
				 int *ranks)
{
	struct dist_group *parent = making->parent;
	const char *call = making->purpose.name;
	int n = parent->members.world_size, rank;

	if (!list->ranks || list->n < 1)
		return dist__fail(parent, DIST_ERR_INVALID_ARGUMENT,
				  "%s: a list of %d ranks: expected 1 or more",
				  call, list->ranks ? list->n : 0);
	for (int i = 0; i < list->n; i++) {
		rank = list->ranks[i];
		if (!making->in_parent)
			rank = dist_get_group_rank(parent, rank);
		if (rank < 0 || rank >= n)
			return dist__fail(
				parent, DIST_ERR_INVALID_ARGUMENT,
				"%s: rank %d is not in group %s, of %d ranks",
				call, list->ranks[i], parent->title, n);
		if (seen[rank])
			return dist__fail(parent, DIST_ERR_INVALID_ARGUMENT,
					  "%s: rank %d is listed twice", call,
					  list->ranks[i]);
		seen[rank] = true;
		ranks[i] = dist__global_rank(&parent->members, rank);
	}
	if (!making->options.keep_order)
		dist__sort_whole(ranks, (size_t)list->n);
	return DIST_OK;
}

/* Makes the members of n global ranks, without a list if they are evenly
 * spaced. */
static enum dist_error set_members(struct making *making, const int *ranks,
				   int n)
{
	struct dist__members *members = &making->members;
	int stride = n > 1 ? ranks[1] - ranks[0] : 1, even = 1;

	while (even < n && ranks[even] - ranks[even - 1] == stride)
		even++;
	members->world_size = n;
	members->ranks = NULL;
	members->first = ranks[0];
	members->skip = stride - 1;
	if (even == n)
		return DIST_OK;
	making->ranks = malloc((size_t)n * sizeof *ranks);
	if (!making->ranks)
		return DIST_ERR_NO_MEMORY;
	memcpy(making->ranks, ranks, (size_t)n * sizeof *ranks);
	members->ranks = making->ranks;
	return DIST_OK;
}

/* One more group will be of n global ranks, in this order. */
static enum dist_error add_group(struct making *making, const int *ranks, int n)
{
	const struct dist__members *parent = &making->parent->members;
	struct dist__purpose *purpose = &making->purpose;
	int self = dist__global_rank(parent, parent->rank), place = 0;

	purpose->terms = dist__mix(purpose->terms, (uint64_t)n);
	for (int i = 0; i < n; i++)
		purpose->terms = dist__mix(purpose->terms, (uint64_t)ranks[i]);
	say(purpose, making->num_groups > 0 ? " | " : "ranks ");
	say_ranks(purpose, ranks, n);
	making->num_groups++;
	while (place < n && ranks[place] != self)
		place++;
	if (place == n)
		return DIST_OK;
	making->own = making->num_groups - 1;
	making->members.rank = place;
	return set_members(making, ranks, n);
}

static enum dist_error add_lists(struct making *making,
				 const struct dist_rank_list *lists,
				 int num_lists)
{
	size_t most = (size_t)making->parent->members.world_size;
	int *ranks = calloc(most, sizeof *ranks);
	bool *seen = calloc(most, sizeof *seen);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (ranks && seen)
		error = DIST_OK;
	for (int i = 0; i < num_lists && !error; i++) {
		error = take_list(making, &lists[i], seen, ranks);
		if (!error)
			error = add_group(making, ranks, lists[i].n);
	}
	free(ranks);
	free(seen);
	return error;
}

/* Groups of size each, of ranks that follow each other in the parent. */
static enum dist_error add_sections(struct making *making, int size)
{
	const struct dist__members *parent = &making->parent->members;
	int *ranks = calloc((size_t)size, sizeof *ranks);
	enum dist_error error = ranks ? DIST_OK : DIST_ERR_NO_MEMORY;

	for (int at = 0; at < parent->world_size && !error; at += size) {
		for (int i = 0; i < size; i++)
			ranks[i] = dist__global_rank(parent, at + i);
		error = add_group(making, ranks, size);
	}
	free(ranks);
	return error;
}

/* ---- the agreement, and after it -------------------------------------- */

/* Sends id to the member at place among the members, or receives one that may
 * be greater. */
static enum dist_error pass(struct making *making, enum dist__op_kind kind,
			    const int *ranks, int place, int64_t *id)
{
	struct dist_group *parent = making->parent;
	struct dist__site site = parent->site, from = parent->from;
	struct dist__label label = parent->label;
	int64_t come = *id;
	struct dist__op request = {
		.kind = kind,
		.purpose = &making->purpose,
		.tensor = dist_tensor(&come, 1, DIST_INT64),
		.peer = dist_get_group_rank(parent, ranks[place]),
		.tag = CHECK_TAG_GROUPS};
	enum dist_error error = dist__submit(parent, &request, NULL);

	/* Of the whole call. */
	parent->site = site;
	parent->from = from;
	parent->label = label;
	if (!error && come > *id)
		*id = come;
	return error;
}

/* The members, place among them the rank's own, make *id the greatest that any
 * has. */
static enum dist_error climb(struct making *making, const int *ranks, int n,
			     int place, int64_t *id)
{
	enum dist_error error = DIST_OK;
	int step;

	for (step = 1; step < n && !(place & step) && !error; step *= 2)
		if (place + step < n)
			error = pass(making, DIST__RECV, ranks, place + step,
				     id);
	if (place > 0 && !error)
		error = pass(making, DIST__SEND, ranks, place - step, id);
	if (place > 0 && !error)
		error = pass(making, DIST__RECV, ranks, place - step, id);
	for (step /= 2; step > 0 && !error; step /= 2)
		if (place + step < n)
			error = pass(making, DIST__SEND, ranks, place + step,
				     id);
	return error;
}

/* Notes the number by which the rank asks for a group of n ranks. */
static void number_group(struct making *making, int n)
{
	struct dist_group *parent = making->parent;
	uint32_t number = making->options.number;
	char text[CHECK_LABEL];

	snprintf(text, sizeof text,
		 "number %u of the groups that the rank asked for", number);
	(void)dist_label(parent, text, 0);
	dist__report_making(parent, &making->purpose, number, n);
	making->purpose.terms = dist__mix(making->purpose.terms, number);
}

/* Among the members alone. */
static enum dist_error agree_aside(struct making *making, uint32_t *first)
{
	const struct dist__members *members = &making->members;
	struct dist_group *root = making->parent->root;
	int n = members->world_size, place = 0;
	int running = making->parent->place.num_running;
	int self = dist__global_rank(members, members->rank);
	int *ranks = malloc((size_t)n * sizeof *ranks);
	int64_t id = root->next_id;
	enum dist_error error;

	if (!ranks)
		return DIST_ERR_NO_MEMORY;
	if (making->options.number)
		number_group(making, n);
	for (int i = 0; i < n; i++)
		ranks[i] = dist__global_rank(members, i);
	dist__sort_whole(ranks, (size_t)n);
	while (running > 0 && n > 0 && ranks[n - 1] >= running)
		n--;
	while (ranks[place] != self)
		place++;
	making->lowest = ranks[0];
	error = climb(making, ranks, n, place, &id);
	free(ranks);
	(void)dist__site_take(making->parent);
	(void)dist_label(making->parent, NULL, 0);
	if (error)
		return error;
	*first = (uint32_t)id;
	root->next_id = (uint32_t)id + 1;
	return DIST_OK;
}

/* The collective: gives num_groups ids from *first on. */
static enum dist_error agree(struct making *making, uint32_t *first)
{
	struct dist_group *root = making->parent->root;
	int64_t id = root->next_id;
	struct dist__op request = {.kind = DIST__ALL_REDUCE,
				   .purpose = &making->purpose,
				   .tensor = dist_tensor(&id, 1, DIST_INT64),
				   .reduce_op = DIST_MAX,
				   .peer = -1,
				   .tag = -1};
	enum dist_error error = dist__submit(making->parent, &request, NULL);

	if (error)
		return error;
	*first = (uint32_t)id;
	root->next_id = (uint32_t)id + (uint32_t)making->num_groups;
	return DIST_OK;
}

/* "3", the third group made of the default group; "3.7", one made of that: as
 * the ids, but told apart between groups that share no rank; "3@4", where
 * members alone agreed about 3. */
static void set_names(struct dist_group *group, const struct making *making)
{
	const struct dist_group *parent = making->parent;
	const char *title = making->options.name;
	unsigned id = group->members.group_id;

	if (parent == parent->root)
		snprintf(group->name, sizeof group->name, "%u", id);
	else
		snprintf(group->name, sizeof group->name, "%.20s.%u",
			 parent->name, id);
	if (making->options.members_only)
		(void)dist__append(group->name, sizeof group->name, "@%d",
				   making->lowest);
	group->members.name = group->name;
	group->members.description = NULL;
	if (title && *title) {
		snprintf(group->title, sizeof group->title, "%s", title);
		group->members.description = group->title;
	} else {
		snprintf(group->title, sizeof group->title, "%.23s",
			 group->name);
	}
}

/* Makes the group that the rank is in, with id; takes making's ranks over. */
static enum dist_error open_group(struct making *making, uint32_t id,
				  struct dist_group **sub)
{
	struct dist_group *parent = making->parent, *root = parent->root;
	struct dist_group *group = calloc(1, sizeof *group);
	struct dist_message message = {""};
	enum dist_error error;

	if (!group)
		return DIST_ERR_NO_MEMORY;
	group->world = parent->world;
	group->place = parent->place;
	if (making->options.timeout_ns)
		group->place.timeout_ns = making->options.timeout_ns;
	group->members = making->members;
	group->members.group_id = id;
	group->root = root;
	set_names(group, making);
	error = dist__group_start(group, &message);
	if (error) {
		if (message.text[0])
			(void)dist__fail(parent, error, "%s: %s",
					 making->purpose.name, message.text);
		free(group);
		return error;
	}
	group->ranks = making->ranks;
	making->ranks = NULL;
	group->next = root->subs;
	root->subs = group;
	*sub = group;
	return DIST_OK;
}

/* The rest of every call, once the lists have been looked at with error. */
static enum dist_error finish(struct making *making, enum dist_error error,
			      struct dist_group **sub)
{
	uint32_t first = 0;

	if (!error && making->options.members_only) {
		if (making->own >= 0)
			error = agree_aside(making, &first);
	} else if (!error) {
		error = agree(making, &first);
		first += (uint32_t)making->own;
	}
	if (!error && making->own < 0)
		*sub = NULL;
	else if (!error)
		error = open_group(making, first, sub);
	free(making->ranks);
	if (error == DIST_ERR_NO_MEMORY)
		(void)dist__fail(making->parent, error, "%s: %s",
				 making->purpose.name,
				 dist_error_string(error));
	return error;
}

/* ---- the calls -------------------------------------------------------- */

enum dist_error dist_new_group(struct dist_group *parent, const int *ranks,
			       int n, const struct dist_group_options *options,
			       struct dist_group **sub)
{
	const struct dist_rank_list list = {ranks, n};
	struct making making;
	enum dist_error error =
		begin(&making, "new_group", parent, options, sub);

	if (error)
		return error;
	error = ranks || n != 0
			? add_lists(&making, &list, 1)
			: add_sections(&making, parent->members.world_size);
	return finish(&making, error, sub);
}

/* Both forms that take lists; a split keeps what its parent has. */
static enum dist_error enumerate(bool splits, struct dist_group *parent,
				 const struct dist_rank_list *lists,
				 int num_lists,
				 const struct dist_group_options *options,
				 struct dist_group **sub)
{
	struct making making;
	enum dist_error error =
		begin(&making, splits ? "split_group" : "new_subgroups", parent,
		      options, sub);

	if (error)
		return error;
	if (splits)
		making.in_parent = making.options.keep_order = true;
	if (!lists || num_lists < 1)
		return dist__fail(parent, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %d lists: expected 1 or more",
				  making.purpose.name, lists ? num_lists : 0);
	return finish(&making, add_lists(&making, lists, num_lists), sub);
}

enum dist_error dist_new_subgroups_by_enumeration(
	struct dist_group *parent, const struct dist_rank_list *lists,
	int num_lists, const struct dist_group_options *options,
	struct dist_group **sub)
{
	return enumerate(false, parent, lists, num_lists, options, sub);
}

enum dist_error dist_split_group(struct dist_group *parent,
				 const struct dist_rank_list *lists,
				 int num_lists,
				 const struct dist_group_options *options,
				 struct dist_group **sub)
{
	return enumerate(true, parent, lists, num_lists, options, sub);
}

enum dist_error dist_new_subgroups(struct dist_group *parent, int group_size,
				   const struct dist_group_options *options,
				   struct dist_group **sub)
{
	struct making making;
	enum dist_error error =
		begin(&making, "new_subgroups", parent, options, sub);

	if (error)
		return error;
	if (group_size < 1 || parent->members.world_size % group_size != 0)
		return dist__fail(parent, DIST_ERR_INVALID_ARGUMENT,
				  "new_subgroups: group_size is %d: expected a "
				  "divisor of %d",
				  group_size, parent->members.world_size);
	return finish(&making, add_sections(&making, group_size), sub);
}

/* ---- translating ------------------------------------------------------ */

int dist_get_global_rank(const struct dist_group *group, int group_rank)
{
	if (!group || group_rank < 0 || group_rank >= group->members.world_size)
		return -1;
	return dist__global_rank(&group->members, group_rank);
}

int dist_get_group_rank(const struct dist_group *group, int global_rank)
{
	const struct dist__members *members;
	int stride, rank;

	if (!group)
		return -1;
	members = &group->members;
	stride = members->skip + 1;
	if (!members->ranks && (global_rank - members->first) % stride != 0)
		return -1;
	rank = (global_rank - members->first) / stride;
	if (!members->ranks)
		return rank >= 0 && rank < members->world_size ? rank : -1;
	for (rank = 0; rank < members->world_size; rank++)
		if (members->ranks[rank] == global_rank)
			return rank;
	return -1;
}

enum dist_error dist_get_process_group_ranks(const struct dist_group *group,
					     int *ranks)
{
	if (!group || !ranks)
		return DIST_ERR_INVALID_ARGUMENT;
	for (int rank = 0; rank < group->members.world_size; rank++)
		ranks[rank] = dist__global_rank(&group->members, rank);
	return DIST_OK;
}
