#include "check/forms.h"

#include "check/disagreement.h"

struct mixed {
	const struct check_board *board;
	const struct check_call *place;
	uint32_t form;
};

static bool has_form(const void *arg, uint32_t rank)
{
	const struct mixed *mixed = arg;
	const struct check_call *call =
		check_counterpart(&mixed->board->slots[rank], mixed->place);

	return call && call->form == mixed->form;
}

/* Whether both forms are on board at all: mostly they are not. */
static bool has_both(const struct check_board *board)
{
	bool has[CHECK_FORM_SINGLE + 1] = {false};

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		for (uint32_t i = 0; i < check_ring(slot); i++)
			if (slot->ring[i].form <= CHECK_FORM_SINGLE)
				has[slot->ring[i].form] = true;
	}
	return has[CHECK_FORM_LIST] && has[CHECK_FORM_SINGLE];
}

/* The first call of group that a member made by another form than an earlier
 * one; NULL: there is none. */
static const struct check_call *find_mixed(const struct check_board *board,
					   const struct check_group *group)
{
	const struct check_call *found = NULL;

	for (uint32_t i = 1; i < group->num_members; i++) {
		const struct check_slot *first =
			&board->slots[check_group_member(group, 0)];
		const struct check_slot *slot =
			&board->slots[check_group_member(group, i)];

		for (uint32_t j = 0; j < check_ring(first); j++) {
			const struct check_call *call = &first->ring[j], *other;

			if (!call->form || call->group_id != group->id ||
			    call->leader != group->leader ||
			    (found && call->number >= found->number))
				continue;
			other = check_counterpart(slot, call);
			if (other && other->form && other->form != call->form)
				found = call;
		}
	}
	return found;
}

static void print(FILE *out, const struct mixed *mixed)
{
	const struct check_call *call = NULL;

	for (uint32_t rank = 0; !call; rank++)
		if (has_form(mixed, rank))
			call = check_counterpart(&mixed->board->slots[rank],
						 mixed->place);
	check_print_ranks(out, mixed->board->world_size, has_form, mixed);
	fprintf(out, " called %s%s at ", call->op,
		call->form == CHECK_FORM_SINGLE ? "_single" : "");
	check_print_place(out, call);
}

void check_warn_of_forms(struct check_lines *lines,
			 const struct check_board *board)
{
	const struct check_call *place = NULL;
	struct check_groups groups;
	FILE *out;

	if (!has_both(board) || !check_groups_init(&groups, board))
		return;
	for (size_t i = 0; !place && i < groups.count; i++)
		place = find_mixed(board, &groups.all[i]);
	check_groups_release(&groups);
	if (!place)
		return;
	out = check_line(lines, 0);
	print(out, &(struct mixed){board, place, CHECK_FORM_LIST});
	fputs(", and ", out);
	print(out, &(struct mixed){board, place, CHECK_FORM_SINGLE});
	fprintf(out,
		" (#%u of group %s): they fit here, but are not the same call",
		place->index, place->group);
}
