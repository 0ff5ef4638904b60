#include "check/words.h"

#include <string.h>

#include "check/disagreement.h"
#include "check/message.h"

/* Runs of ranks in a list before it is cut. */
#define MOST_RUNS 16

void check_print_ranks(FILE *out, uint32_t world_size,
		       bool (*has)(const void *arg, uint32_t rank),
		       const void *arg)
{
	uint32_t count = 0, runs = 0, rank, last;
	const char *separator = " ";

	for (rank = 0; rank < world_size; rank++)
		count += has(arg, rank);
	fputs(count == 1 ? "rank" : "ranks", out);
	for (rank = 0; rank < world_size; rank++) {
		if (!has(arg, rank))
			continue;
		if (runs++ == MOST_RUNS) {
			fputs(",...", out);
			break;
		}
		for (last = rank; last + 1 < world_size && has(arg, last + 1);)
			last++;
		fprintf(out, "%s%u", separator, rank);
		if (last > rank)
			fprintf(out, "-%u", last);
		separator = ",";
		rank = last;
	}
	if (count > 1)
		fprintf(out, " (%u)", count);
}

void check_print_site(FILE *out, const struct check_site *site)
{
	if (site->file[0])
		fprintf(out, "%s:%d", site->file, (int)site->line);
	else
		fputs("an unknown line", out);
}

static const char *peer_name(const struct check_call *call)
{
	bool is_src = strcmp(call->op, "recv") == 0 ||
		      strcmp(call->op, "broadcast") == 0 ||
		      strcmp(call->op, "scatter") == 0;

	return is_src ? "src" : "dst";
}

/* "src 3", "any source" */
static void print_peer(FILE *out, const struct check_call *call)
{
	if (check_from_any(call))
		fputs("any source", out);
	else
		fprintf(out, "%s %d", peer_name(call), (int)call->peer);
}

void check_print_call(FILE *out, const struct check_call *call)
{
	const char *separator = "";

	fprintf(out, "%s(", call->op);
	if (call->words[0]) {
		fprintf(out, "%s", call->words);
		separator = ", ";
	}
	if (call->reduce_op[0]) {
		fprintf(out, "%s%s", separator, call->reduce_op);
		separator = ", ";
	}
	if (check_from_any(call) || call->peer >= 0) {
		fputs(separator, out);
		print_peer(out, call);
		separator = ", ";
	}
	if (call->tag >= 0)
		fprintf(out, "%stag %d", separator, (int)call->tag);
	if (call->tag >= 0)
		separator = ", ";
	if (call->dtype[0])
		fprintf(out, "%s%s", separator, call->dtype);
	if (call->dtype[0] && !check_may_differ(call))
		fprintf(out, ", %llu", (unsigned long long)call->numel);
	fputc(')', out);
}

void check_print_label(FILE *out, const struct check_call *call)
{
	if (call->label[0])
		fprintf(out, " for %s", call->label);
}

static void print_in_place(FILE *out, const struct check_call *call,
			   const char *whose, const char *group)
{
	check_print_call(out, call);
	if (call->tag < 0)
		fprintf(out, " #%u", call->index);
	fprintf(out, " of %s%s", whose, group);
	check_print_label(out, call);
	fputs(" at ", out);
	check_print_site(out, &call->site);
}

void check_print_call_in_place(FILE *out, const struct check_call *call)
{
	print_in_place(out, call, "group ", call->group);
}

void check_print_calls_in_place(FILE *out, const struct check_call *call)
{
	print_in_place(out, call, "their groups", "");
}

void check_print_link(FILE *out, const struct check_call *call)
{
	if (!call) {
		fputs("a call made too long ago to be named", out);
		return;
	}
	fprintf(out, "%s (", call->op);
	if (call->tag < 0 || call->group_id != 0)
		fprintf(out, "group %s, ", call->group);
	if (call->tag < 0) {
		fprintf(out, "#%u, ", call->index);
	} else {
		print_peer(out, call);
		fprintf(out, ", tag %d, ", (int)call->tag);
	}
	if (call->label[0])
		fprintf(out, "%s, ", call->label);
	check_print_site(out, &call->site);
	fputc(')', out);
}

static bool in_group(const void *arg, uint32_t rank)
{
	const struct check_group *group = arg;
	uint32_t i = check_group_from(group, rank);

	return i < group->num_members && check_group_member(group, i) == rank;
}

void check_print_group(FILE *out, const struct check_group *group,
		       const struct check_call *call, uint32_t world_size)
{
	if (!group || group->id == 0)
		return;
	fprintf(out, "  group %s is ", call->group);
	check_print_ranks(out, world_size, in_group, group);
	fputc('\n', out);
}
