#include "check/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/disagreement.h"
#include "check/message.h"

/* Runs of ranks in a list before it is cut. */
#define MOST_RUNS 16

/* ---- lines -------------------------------------------------------------- */

bool check_lines_open(struct check_lines *lines)
{
	*lines = (struct check_lines){.text = NULL};
	lines->out = open_memstream(&lines->text, &lines->size);
	return lines->out;
}

static void end_line(struct check_lines *lines)
{
	if (lines->num == 0)
		return;
	lines->all[lines->num - 1].end = (size_t)ftell(lines->out);
	fputc('\n', lines->out);
}

FILE *check_line(struct check_lines *lines, int depth)
{
	struct check_line line = {.start = 0};

	end_line(lines);
	fprintf(lines->out, "%*s", 2 * depth, "");
	line.start = (size_t)ftell(lines->out);
	lines->failed |=
		!dist__array_add(&lines->all, &lines->num, &line, sizeof line);
	return lines->out;
}

bool check_lines_close(struct check_lines *lines)
{
	bool good;

	end_line(lines);
	good = fclose(lines->out) == 0 && !lines->failed;
	lines->out = NULL;
	return good;
}

void check_lines_release(struct check_lines *lines)
{
	if (lines->out)
		fclose(lines->out);
	free(lines->text);
	free(lines->all);
	*lines = (struct check_lines){.text = NULL};
}

/* ---- ranks, calls and groups -------------------------------------------- */

bool check_any_below(uint32_t rank, bool (*has)(const void *arg, uint32_t rank),
		     const void *arg)
{
	while (rank-- > 0)
		if (has(arg, rank))
			return true;
	return false;
}

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

void check_print_place(FILE *out, const struct check_call *call)
{
	check_print_site(out, &call->site);
	if (call->from.file[0]) {
		fputs(", from ", out);
		check_print_site(out, &call->from);
	}
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
	static const char *const separators[] = {"", ", "};
	int i = 0; /* whether something stands before */

	if (call->tag == CHECK_TAG_GROUPS) {
		fprintf(out, "new_group(%s, members only, with rank %d)",
			call->terms_text, (int)call->peer_rank);
		return;
	}
	fprintf(out, "%s(", call->op);
	if (call->tag == CHECK_TAG_RPC) {
		fprintf(out, "%s)", call->label);
		return;
	}
	if (call->tag == CHECK_TAG_STORE) {
		fprintf(out, "\"%s\")", call->label);
		return;
	}
	if (call->terms_text[0])
		fprintf(out, "%s%s", separators[i++ > 0], call->terms_text);
	if (call->reduce_op[0])
		fprintf(out, "%s%s", separators[i++ > 0], call->reduce_op);
	if (check_from_any(call) || call->peer >= 0) {
		fputs(separators[i++ > 0], out);
		print_peer(out, call);
	}
	if (call->tag >= 0)
		fprintf(out, "%stag %d", separators[i++ > 0], (int)call->tag);
	if (call->dtype[0])
		fprintf(out, "%s%s", separators[i > 0], call->dtype);
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
	if (call->tag == CHECK_TAG_RPC) {
		if (call->peer_rank >= 0)
			fprintf(out, " on rank %d", (int)call->peer_rank);
	} else if (call->tag != CHECK_TAG_STORE) {
		if (call->tag < 0)
			fprintf(out, " #%u", call->index);
		fprintf(out, " of %s%s", whose, group);
		check_print_label(out, call);
	}
	fputs(" at ", out);
	check_print_place(out, call);
}

void check_print_call_in_place(FILE *out, const struct check_call *call)
{
	print_in_place(out, call, "group ", call->group);
}

void check_print_calls_in_place(FILE *out, const struct check_call *call)
{
	print_in_place(out, call, "their groups", "");
}

void check_print_remote(FILE *out, const struct check_rpc_wait *wait)
{
	fprintf(out, "%s(%s)", wait->op, wait->function);
	if (wait->worker >= 0)
		fprintf(out, " on rank %d", (int)wait->worker);
	fputs(" at ", out);
	check_print_site(out, &wait->site);
}

void check_print_remote_link(FILE *out, const struct check_rpc_wait *wait)
{
	fprintf(out, "%s (%s%s", wait->op, wait->function,
		wait->function[0] ? ", " : "");
	check_print_site(out, &wait->site);
	fputc(')', out);
}

void check_print_link(FILE *out, const struct check_call *call)
{
	if (!call) {
		fputs("a call made too long ago to be named", out);
		return;
	}
	fprintf(out, "%s (",
		call->tag == CHECK_TAG_GROUPS ? "new_group" : call->op);
	if (call->tag == CHECK_TAG_RPC || call->tag == CHECK_TAG_STORE) {
		const char *quote = call->tag == CHECK_TAG_STORE ? "\"" : "";

		fprintf(out, "%s%s%s%s", quote, call->label, quote,
			call->label[0] ? ", " : "");
		check_print_place(out, call);
		fputc(')', out);
		return;
	}
	if (call->tag < 0 || call->group_id != 0)
		fprintf(out, "group %s, ", call->group);
	if (call->tag < 0) {
		fprintf(out, "#%u, ", call->index);
	} else if (call->tag == CHECK_TAG_GROUPS) {
		fprintf(out, "%s, ", call->terms_text);
	} else {
		print_peer(out, call);
		fprintf(out, ", tag %d, ", (int)call->tag);
	}
	if (call->label[0])
		fprintf(out, "%s, ", call->label);
	check_print_place(out, call);
	fputc(')', out);
}

static bool in_group(const void *arg, uint32_t rank)
{
	const struct check_group *group = arg;
	uint32_t i = check_group_from(group, rank);

	return i < group->num_members && check_group_member(group, i) == rank;
}

void check_add_group(struct check_lines *lines, const struct check_group *group,
		     const struct check_call *call, uint32_t world_size)
{
	FILE *out;

	if (!group || group->id == 0)
		return;
	out = check_line(lines, 1);
	fprintf(out, "group %s is ", call->group);
	check_print_ranks(out, world_size, in_group, group);
}
