/* verdict_json.c - the verdict as JSON, described in docs/verdicts.md. */

#include "check/dump_fields.h"
#include "check/remote_wait.h"
#include "check/rendezvous_failure.h"
#include "check/simulated.h"
#include "check/verdict_document.h"
#include "check/text.h"
#include "lockstep/types.h"

/* Culprits of which the last calls are listed, and calls of each. */
#define MOST_HISTORIES 8
#define MOST_CALLS     5

static const char *or_none(const char *text)
{
	return text && *text ? text : NULL;
}

static json_t *site(const struct check_site *site)
{
	return site->file[0] ? json_pack("{s:s, s:i}", "file", site->file,
					 "line", (int)site->line)
			     : NULL;
}

static json_t *number_or_none(int64_t number)
{
	return number < 0 ? NULL : json_integer(number);
}

static json_t *seconds_or_none(int64_t ns)
{
	return ns > 0 && ns < INT64_MAX ? json_real((double)ns / 1e9) : NULL;
}

static json_t *call_json(const struct check_call *call)
{
	const char *label = call->tag == CHECK_TAG_RPC     ? "function"
			    : call->tag == CHECK_TAG_STORE ? "key"
							   : "label";
	bool message = call->tag >= 0;
	json_t *index = message && call->index == CHECK_INDEX_UNKNOWN
				? NULL
				: json_integer(call->index);

	return json_pack(
		"{s:i, s:s, s:s, s:o*, s:s, s:s*, s:s*, s:s*, s:I, s:o*, s:o*, "
		"s:s*, s:o*, s:o*, s:o*}",
		"number", (int)call->number, "op", call->op, "group",
		call->group, "index", index, "state",
		check_call_states[call->state ? call->state
					      : CHECK_CALL_ISSUED],
		"dtype", or_none(call->dtype), "reduce_op",
		or_none(call->reduce_op), "terms", or_none(call->terms_text),
		"numel", (json_int_t)call->numel, "peer",
		number_or_none(call->peer_rank), "tag",
		number_or_none(check_is_message(call) ? call->tag : -1), label,
		or_none(call->label), "timeout_s",
		seconds_or_none(call->timeout_ns), "site", site(&call->site),
		"from", site(&call->from));
}

/* Ranks for which has() is true. */
static json_t *ranks_json(const struct check_finding *f,
			  bool (*has)(const struct check_finding *f,
				      uint32_t rank, uint32_t number),
			  uint32_t number)
{
	json_t *ranks = json_array();

	for (uint32_t rank = 0; rank < f->picture.world_size; rank++)
		if (has(f, rank, number))
			json_array_append_new(ranks, json_integer(rank));
	return ranks;
}

static bool in_party(const struct check_finding *f, uint32_t rank,
		     uint32_t number)
{
	uint32_t beside = f->parties[number].beside;

	if (f->parties[number].alone)
		return rank == f->parties[number].first;
	return f->party_of[rank] == (beside ? beside : number + 1);
}

static bool in_cohort(const struct check_finding *f, uint32_t rank,
		      uint32_t number)
{
	return f->picture.cohort_of[rank] == number;
}

static bool is_culprit(const struct check_finding *f, uint32_t rank,
		       uint32_t number)
{
	(void)number;
	return check_is_culprit(f, rank);
}

/* The ranks that the verdict turns on. Those of a rendezvous that failed need
 * not be ranks of the job. */
static json_t *culprits_json(const struct check_document *document)
{
	const struct check_board *board = document->job->board;
	json_t *ranks;
	uint32_t rank;

	if (!board || document->job->verdict->kind != CHECK_RENDEZVOUS)
		return ranks_json(document->finding, is_culprit, 0);
	ranks = json_array();
	rank = check_rendezvous_failure_next(board, 0);
	while (rank < UINT32_MAX) {
		json_array_append_new(ranks, json_integer(rank));
		rank = check_rendezvous_failure_next(board, rank + 1);
	}
	return ranks;
}

static json_t *sites_json(const struct check_finding *f)
{
	json_t *sites = json_array();

	for (uint32_t i = 0; i < f->num_parties; i++) {
		const struct check_party *party = &f->parties[i];

		if (!party->site)
			continue;
		json_array_append_new(
			sites,
			json_pack("{s:s, s:i, s:s*, s:s, s:o, s:o*}", "file",
				  party->site->file, "line",
				  (int)party->site->line, "function",
				  or_none(party->function), "role",
				  check_role_name(party->role), "ranks",
				  ranks_json(f, in_party, i), "call",
				  party->call ? call_json(party->call) : NULL));
	}
	return sites;
}

static const char *state_of_rank(const struct check_slot *slot)
{
	if (slot->state != CHECK_RANK_UNKNOWN)
		return check_rank_states[slot->state];
	return slot->damaged ? "damaged" : "unknown";
}

static json_t *ranks_table(const struct check_finding *f)
{
	json_t *table = json_array();

	for (uint32_t i = 0; i < f->picture.num_cohorts; i++) {
		const struct check_cohort *c = &f->picture.cohorts[i];

		json_array_append_new(
			table, json_pack("{s:o, s:s, s:o*, s:o*}", "ranks",
					 ranks_json(f, in_cohort, i), "state",
					 state_of_rank(c->slot), "call",
					 c->call ? call_json(c->call) : NULL,
					 "waited_at",
					 c->waiting && !c->wait
						 ? site(&c->slot->wait_site)
						 : NULL));
	}
	return table;
}

/* The name of group, as its members call it. */
static const char *group_name(const struct check_finding *f,
			      const struct check_group *group)
{
	for (uint32_t i = 0; i < f->picture.num_cohorts; i++)
		if (f->picture.cohorts[i].group == group &&
		    f->picture.cohorts[i].call)
			return f->picture.cohorts[i].call->group;
	return group->id == 0 ? "default" : NULL;
}

static json_t *groups_json(const struct check_finding *f)
{
	const struct check_groups *groups = &f->picture.groups;
	json_t *array = json_array(), *members;

	for (size_t i = 0; i < groups->count; i++) {
		const struct check_group *group = &groups->all[i];

		members = json_array();
		for (uint32_t m = 0; m < group->num_members; m++)
			json_array_append_new(
				members,
				json_integer(check_group_member(group, m)));
		json_array_append_new(array, json_pack("{s:i, s:s*, s:o}", "id",
						       (int)group->id, "name",
						       group_name(f, group),
						       "ranks", members));
	}
	return array;
}

/* The last calls of the first culprits. */
static json_t *histories(const struct check_finding *f)
{
	json_t *all = json_array(), *calls;
	uint32_t num = 0;

	for (uint32_t rank = 0; rank < f->picture.world_size; rank++) {
		const struct check_slot *slot = &f->picture.board->slots[rank];
		uint32_t n =
			slot->calls > MOST_CALLS ? slot->calls - MOST_CALLS : 0;

		if (!check_is_culprit(f, rank) || num == MOST_HISTORIES)
			continue;
		num++;
		calls = json_array();
		while (n++ < slot->calls) {
			const struct check_call *call =
				check_call_find(slot, n);

			if (call) /* else it was being written */
				json_array_append_new(calls, call_json(call));
		}
		json_array_append_new(all,
				      json_pack("{s:i, s:o}", "rank", (int)rank,
						"calls", calls));
	}
	return all;
}

static json_t *remote_wait_json(const struct check_rpc_wait *wait)
{
	return json_pack("{s:s, s:s*, s:o*, s:o*}", "op", wait->op, "function",
			 or_none(wait->function), "worker",
			 number_or_none(wait->worker), "site",
			 site(&wait->site));
}

/* A call that rank serves or has queued. */
static json_t *serving_json(const struct check_finding *f, uint32_t rank,
			    const struct check_serving *serving)
{
	const struct check_picture *p = &f->picture;
	const struct check_rpc_wait *wait = NULL;
	int64_t for_ns = f->facts->now_ns - serving->since_ns;

	for (uint32_t i = 0; i < p->num_lanes; i++)
		if (p->lanes[i].serving == serving)
			wait = p->lanes[i].wait;
	return json_pack("{s:i, s:s, s:s, s:i, s:o*, s:o*}", "rank", (int)rank,
			 "state",
			 serving->state == CHECK_SERVING_QUEUED ? "queued"
			 : wait                                 ? "waiting"
								: "running",
			 "function", serving->function, "caller",
			 (int)serving->caller, "for_s", seconds_or_none(for_ns),
			 "waits_in", wait ? remote_wait_json(wait) : NULL);
}

/* The remote calls that ranks serve; NULL: there are none. */
static json_t *serving_table(const struct check_finding *f)
{
	json_t *table = json_array();

	for (uint32_t rank = 0; rank < f->picture.world_size; rank++) {
		const struct check_slot *slot = &f->board->slots[rank];

		for (uint32_t i = 0; check_serves(slot) && i < CHECK_SERVINGS;
		     i++)
			if (slot->remote.servings[i].state)
				json_array_append_new(
					table,
					serving_json(
						f, rank,
						&slot->remote.servings[i]));
	}
	if (json_array_size(table) > 0)
		return table;
	json_decref(table);
	return NULL;
}

/* What would have come of a timeout; NULL: not known. */
static json_t *forecast(const struct check_facts *facts)
{
	const struct check_forecast *f = &facts->forecast;

	if (!f->came_ns && !f->ended_ns && !f->stuck_ns)
		return NULL;
	return json_pack("{s:f, s:o*, s:o*, s:o*, s:o*}", "deadline_s",
			 (double)facts->now_ns / 1e9, "rank",
			 f->came_ns ? json_integer(f->rank) : NULL, "came_s",
			 seconds_or_none(f->came_ns), "finished_s",
			 seconds_or_none(f->ended_ns), "stuck_s",
			 seconds_or_none(f->stuck_ns));
}

/* The lines from number `from` on. */
static json_t *lines_json(const struct check_lines *lines, size_t from)
{
	json_t *array = json_array();

	for (; from < lines->num; from++) {
		const struct check_line *line = &lines->all[from];

		json_array_append_new(
			array, json_stringn_nocheck(lines->text + line->start,
						    line->end - line->start));
	}
	return array;
}

static json_t *explored_json(const struct check_explored *e)
{
	json_t *array = json_array();

	for (; e->p2p; e++)
		json_array_append_new(
			array,
			json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:s*}", "p2p",
				  e->p2p, "schedules", (json_int_t)e->runs,
				  "states", (json_int_t)e->states, "skewed",
				  (json_int_t)e->skewed, "late",
				  (json_int_t)e->late, "all", !e->left, "left",
				  e->left));
	return array;
}

static json_t *match_json(const struct check_race *race,
			  const struct check_match *match)
{
	return json_pack(
		"{s:o*, s:o*, s:o*, s:s, s:s}", "sender",
		race->look ? NULL : json_integer(match->sender), "send",
		match->send.op[0] ? call_json(&match->send) : NULL, "complete",
		race->look ? json_boolean(match->seen) : NULL, "outcome",
		match->outcome, "replay", match->replay);
}

static json_t *race_json(const struct check_race *race)
{
	return json_pack(
		"{s:i, s:o*, s:[o, o]}", "rank", (int)race->rank, "call",
		race->call.op[0] ? call_json(&race->call) : NULL, "matches",
		match_json(race, &race->other), match_json(race, &race->here));
}

static int exit_status_of(const struct check_job *job)
{
	if (job->facts->signal)
		return 128 + job->facts->signal;
	return job->facts->defect ? DIST_EXIT_INTERNAL
				  : check_exit_status(job->verdict);
}

json_t *check_document_json(const struct check_document *document)
{
	const struct check_job *job = document->job;
	const struct check_finding *f = document->finding;

	return json_pack(
		"{s:i, s:s, s:i, s:s, s:o*, s:s, s:i, s:s*, s:o*, s:o*, s:o*, "
		"s:s?, s:o*, s:o*, s:o, s:o, s:o, s:o, s:o*, s:o, s:o}",
		"version", CHECK_JSON_VERSION, "verdict",
		check_verdict_name(job->verdict->kind), "exit_status",
		exit_status_of(job), "summary", f->summary, "warnings",
		f->warnings.num ? lines_json(&f->warnings, 0) : NULL, "world",
		job->world, "world_size",
		job->board ? (int)job->board->world_size : 0, "fidelity",
		job->simulated ? job->simulated->fidelity : NULL, "collectives",
		job->simulated && job->simulated->by_messages
			? check_collectives_json(job->simulated)
			: NULL,
		"timeout_s", seconds_or_none(job->facts->timeout_ns),
		"forecast", forecast(job->facts), "replay", job->replay, "race",
		job->facts->race ? race_json(job->facts->race) : NULL,
		"explored", job->explored ? explored_json(job->explored) : NULL,
		"culprits", culprits_json(document), "sites", sites_json(f),
		"evidence", lines_json(&f->report, 1), "ranks", ranks_table(f),
		"serving", serving_table(f), "groups", groups_json(f),
		"last_calls", histories(f));
}
