/* Library profiles: what is read, and what is refused with which words. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coll/algorithm.h"
#include "tests/support/leaks.h"
#include "tests/support/okay.h"
#include "tests/support/text_file.h"

static struct dist__profile profile;
static struct dist_message message;
static char path[] = TEXT_FILE;

static enum dist_error load(const char *text)
{
	enum dist_error error;

	strcpy(path, TEXT_FILE);
	text_file(path, text);
	message.text[0] = '\0';
	error = dist__profile_load(&profile, path, &message);
	unlink(path);
	return error;
}

/* Refuses text with exactly "<path>:<line>: <words>". */
static void refused(const char *text, int line, const char *words)
{
	char want[sizeof message.text];

	cr_expect_eq(load(text), DIST_ERR_INVALID_ARGUMENT, "%s", text);
	snprintf(want, sizeof want, "%s:%d: %s", path, line, words);
	cr_expect_str_eq(message.text, want);
	cr_expect_str_eq(profile.name, "default");
	cr_expect_eq(profile.num_rules, 0);
	cr_expect_null(profile.rules);
	dist__profile_release(&profile);
}

Test(profile, a_full_one)
{
	const struct dist__rule *rule;

	okay_or(load("# a comment\n"
		     "name: lockstep-tcp\n"
		     "version: 1\n"
		     "source: lockstep calibrate, loopback\n"
		     "message_overhead_ns: 2500\n"
		     "reduce_Bps: 5.0e9\n"
		     "segment_bytes: 4096\n"
		     "intra: shm\n"
		     "selection:\n"
		     "  all_reduce:\n"
		     "    - {max_bytes: 32768, max_world_size: 8, "
		     "min_node_ranks: 2, algorithm: recursive_doubling}\n"
		     "    - {algorithm: ring}\n"
		     "  broadcast:\n"
		     "    - algorithm: binomial\n"
		     "      max_bytes: 0\n"
		     "      intra: shm\n"),
		message);
	cr_assert_str_eq(profile.name, "lockstep-tcp");
	cr_assert_str_eq(profile.version, "1");
	cr_assert_str_eq(profile.source, "lockstep calibrate, loopback");
	cr_assert_eq(profile.message_overhead_ns, 2500);
	cr_assert_eq(profile.reduce_Bps, 5e9);
	cr_assert_eq(profile.segment_bytes, 4096);
	cr_assert(profile.shares_memory);
	cr_assert_eq(profile.num_rules, 3);
	rule = profile.rules;
	cr_assert_eq(rule[0].algorithm->op, DIST__ALL_REDUCE);
	cr_assert_eq(rule[0].max_bytes, 32768);
	cr_assert_eq(rule[0].max_world_size, 8);
	cr_assert_eq(rule[0].min_node_ranks, 2);
	cr_assert_str_eq(rule[0].algorithm->name, "recursive_doubling");
	cr_assert_not(rule[0].in_memory);
	cr_assert_eq(rule[1].max_bytes, SIZE_MAX);
	cr_assert_eq(rule[1].max_world_size, INT_MAX);
	cr_assert_str_eq(rule[1].algorithm->name, "ring");
	cr_assert_eq(rule[2].algorithm->op, DIST__BROADCAST);
	cr_assert_eq(rule[2].max_bytes, 0);
	cr_assert(rule[2].in_memory);
	dist__profile_release(&profile);
	cr_assert_not(leaks_found());
}

static size_t eager_below(const char *words)
{
	char text[128];

	snprintf(text, sizeof text, "name: x\np2p: %s\n", words);
	cr_expect_eq(load(text), DIST_OK, "%s", message.text);
	return profile.p2p.eager_below;
}

Test(profile, when_a_send_ends)
{
	struct dist__p2p_mode mode;
	char text[32];

	cr_expect_eq(eager_below("rendezvous"), 0);
	cr_expect_eq(eager_below("buffered"), SIZE_MAX);
	cr_expect_eq(eager_below("eager:0"), 1);
	cr_expect_eq(eager_below("eager:65536"), 65537);
	dist__p2p_mode_print(&profile.p2p, text, sizeof text);
	cr_expect_str_eq(text, "eager:65536");
	cr_expect(dist__p2p_mode_parse(&mode, "eager:18446744073709551613"));
	cr_expect_not(
		dist__p2p_mode_parse(&mode, "eager:18446744073709551614"));
	cr_expect_not(
		dist__p2p_mode_parse(&mode, "eager:99999999999999999999"));
	refused("name: x\np2p: eager\n", 2,
		"p2p: expected rendezvous, buffered or eager:BYTES, not "
		"\"eager\"");
	refused("name: x\np2p: [buffered]\n", 2,
		"p2p: expected rendezvous, buffered or eager:BYTES, not a "
		"list");
}

/* A message of so many bytes, in a call that walks through walked, counts want
 * bytes. */
static void loads(enum dist__traffic traffic, size_t bytes, size_t walked,
		  double want)
{
	double got = dist__profile_load_bytes(&profile, traffic, bytes, walked);

	cr_assert_float_eq(got, want, 1e-9 * want + 1e-12, "%zu: %g, not %g",
			   bytes, got, want);
}

static const char bad_rates[] =
	"rates: expected bytes above those of the rate before, and shares "
	"above 0";

Test(profile, rates_by_size)
{
	char text[64];

	okay_or(load("name: x\nwindow_bytes: 65536\nrates:\n"
		     "  - {bytes: 1024, share: 4}\n"
		     "  - {bytes: 4096, share: 2}\n"),
		message);
	cr_assert_eq(profile.window_bytes, 65536);
	loads(DIST__LOAD, 0, 0, 0);
	loads(DIST__LOAD, 512, 0, 128);
	loads(DIST__LOAD, 1024, 0, 256);
	loads(DIST__LOAD, 2048, 0, 2048 / 3.0);
	loads(DIST__LOAD, 4096, 0, 2048);
	loads(DIST__LOAD, 8192, 0, 4096);
	dist__profile_rates_print(&profile, text, sizeof text);
	cr_assert_str_eq(text, "1024:4 4096:2");
	refused("name: x\nrates: 2\n", 2,
		"rates: expected a list of up to 16 rates, not \"2\"");
	refused("name: x\nrates:\n  - {bytes: 8, share: 1}\n"
		"  - {bytes: 8, share: 2}\n",
		4, bad_rates);
	refused("name: x\nrates: [{bytes: 8, share: 0}]\n", 2, bad_rates);
	refused("name: x\nrates: [{bytes: 8}]\n", 2,
		"expected a key \"share\" in a rate");
}

Test(profile, messages_between_ranks_of_a_core_have_a_share)
{
	char text[64];

	okay_or(load("name: x\nrates:\n"
		     "  - {bytes: 1024, share: 4}\n"
		     "  - {bytes: 4096, share: 2, core_share: 8}\n"),
		message);
	loads(DIST__CORE_LOAD, 1024, 0, 256);
	loads(DIST__CORE_LOAD, 4096, 0, 512);
	loads(DIST__LOAD, 4096, 0, 2048);
	dist__profile_rates_print(&profile, text, sizeof text);
	cr_assert_str_eq(text, "1024:4 4096:2 core 8");
	refused("name: x\nrates: [{bytes: 8, share: 1, core_share: 0}]\n", 2,
		bad_rates);
	refused("name: x\nrates: [{bytes: 8, share: 1, core_share: nan}]\n", 2,
		"core_share: expected a number of 0 or more, not \"nan\"");
}

Test(profile, sums_of_what_came_have_a_share)
{
	char text[64];

	okay_or(load("name: x\nrates:\n"
		     "  - {bytes: 1024, share: 4}\n"
		     "  - {bytes: 4096, share: 2, sum_share: 0.5}\n"),
		message);
	loads(DIST__SUM, 1024, 0, 1024);
	loads(DIST__SUM, 2048, 0, 2048 / 0.75);
	loads(DIST__SUM, 4096, 0, 8192);
	dist__profile_rates_print(&profile, text, sizeof text);
	cr_assert_str_eq(text, "1024:4 4096:2 sum 0.5");
	refused("name: x\nrates: [{bytes: 8, share: 1, sum_share: 0}]\n", 2,
		bad_rates);
}

Test(profile, copies_have_a_share)
{
	char text[64];

	okay_or(load("name: x\nrates:\n"
		     "  - {bytes: 1024, share: 4, copy_share: 2}\n"
		     "  - {bytes: 4096, share: 2}\n"),
		message);
	loads(DIST__COPY, 512, 0, 256);
	loads(DIST__COPY, 8192, 0, 8192);
	dist__profile_rates_print(&profile, text, sizeof text);
	cr_assert_str_eq(text, "1024:4 copy 2 4096:2");
	refused("name: x\nrates: [{bytes: 8, share: 1, copy_share: 0}]\n", 2,
		bad_rates);
}

Test(profile, what_a_call_walks_through)
{
	char text[64];

	okay_or(load("name: x\nrates:\n"
		     "  - {bytes: 1024, share: 4}\n"
		     "  - {bytes: 4096, share: 2}\n"
		     "rates_ranks: 4\ncache_bytes: 8192\n"),
		message);
	loads(DIST__LOAD, 1024, 8191, 256);
	loads(DIST__LOAD, 1024, 8192, 1024 / 3.0);
	loads(DIST__LOAD, 1024, 65536, 512);
	loads(DIST__LOAD, 4096, 8192, 2048);
	profile.shares_memory = true;
	loads(DIST__LOAD, 1024, 8191, 256);
	loads(DIST__LOAD, 1024, 65536, 512);
	loads(DIST__LOAD, 4096, 8192, 4096 / 3.0);
	loads(DIST__LOAD, 4096, 4096, 1024);
	loads(DIST__LOAD, 4096, 0, 2048);
	dist__profile_rates_print(&profile, text, sizeof text);
	cr_assert_str_eq(text,
			 "1024:4 4096:2 in a ring of 4, cache_bytes 8192");
	refused("name: x\nrates_ranks: 0\n", 2,
		"rates_ranks: expected a whole number of 1 or more, not \"0\"");
}

Test(profile, cores_of_a_machine)
{
	okay_or(load("name: x\nreceive_overhead_ns: 1000\ncores: 2\n"
		     "call_ns: 400\nwait_ns: 900\n"
		     "send_Bps: 8e9\nreceive_Bps: 16e9\n"
		     "copy_Bps: 8e9\n"),
		message);
	cr_assert_eq(profile.send_Bps, 8e9);
	cr_assert_eq(profile.receive_Bps, 16e9);
	cr_assert_eq(profile.receive_overhead_ns, 1000);
	cr_assert_eq(profile.call_ns, 400);
	cr_assert_eq(profile.wait_ns, 900);
	cr_assert_eq(profile.cores, 2);
	cr_assert_eq(profile.copy_Bps, 8e9);
	refused("name: x\ncores: 0\n", 2,
		"cores: expected a whole number of 1 or more, not \"0\"");
	refused("name: x\ncores: 1.5\n", 2,
		"cores: expected a whole number of 1 or more, not \"1.5\"");
	refused("name: x\nreceive_overhead_ns: -1\n", 2,
		"receive_overhead_ns: expected a number of 0 or more, not "
		"\"-1\"");
}

Test(profile, only_the_name_is_needed)
{
	okay(load("name: x\n"));
	cr_assert_str_eq(profile.name, "x");
	cr_assert_str_eq(profile.source, "");
	cr_assert_eq(profile.message_overhead_ns, 0);
	cr_assert_eq(profile.receive_overhead_ns, 0);
	cr_assert_eq(profile.call_ns, 0);
	cr_assert_eq(profile.wait_ns, 0);
	cr_assert_eq(profile.cores, 0);
	cr_assert_eq(profile.send_Bps, 0);
	cr_assert_eq(profile.receive_Bps, 0);
	cr_assert_eq(profile.copy_Bps, 0);
	cr_assert_eq(profile.reduce_Bps, 0);
	cr_assert_eq(profile.segment_bytes, DIST__SEGMENT_BYTES);
	cr_assert_eq(profile.window_bytes, SIZE_MAX);
	cr_assert_eq(profile.num_rates, 0);
	cr_assert_eq(profile.num_rules, 0);
	dist__profile_release(&profile);
	cr_assert_not(leaks_found());
}

#define KEYS                                                                   \
	"name, version, source, call_ns, message_overhead_ns, "                \
	"receive_overhead_ns, wait_ns, "                                       \
	"cores, send_Bps, receive_Bps, reduce_Bps, copy_Bps, segment_bytes, "  \
	"intra, p2p, window_bytes, rates, rates_ranks, cache_bytes, library, " \
	"constants, selection"

Test(profile, keys_are_checked)
{
	refused("name: x\nspeed: 3\n", 2,
		"unknown key \"speed\" of a profile: expected one of " KEYS);
	refused("version: 1\n", 1, "expected a key \"name\" in a profile");
	refused("name: x\nversion: 1\nname: y\n", 3,
		"expected \"name\" only once");
	refused("", 1, "expected a profile: a mapping with the keys " KEYS);
	refused("# nothing\n", 1,
		"expected a profile: a mapping with the keys " KEYS);
	refused("- name\n", 1,
		"expected a profile: a mapping with the keys " KEYS);
	refused("name: x\n---\nname: y\n", 3,
		"expected nothing after a profile");
	cr_assert_not(leaks_found());
}

Test(profile, values_are_checked)
{
	refused("name: [x]\n", 1, "name: expected a text, not a list");
	refused("name: ''\n", 1, "name: expected a text, not \"\"");
	refused("name: x\nversion: a version of which the number is long\n", 2,
		"version: expected 31 bytes at most, not 37");
	refused("name: x\nmessage_overhead_ns: -1\n", 2,
		"message_overhead_ns: expected a number of 0 or more, not "
		"\"-1\"");
	refused("name: x\nmessage_overhead_ns: 1e300\n", 2,
		"message_overhead_ns: expected at most 1e12 (1000 s), not "
		"\"1e300\"");
	refused("name: x\nwait_ns: 1000000000001\n", 2,
		"wait_ns: expected at most 1e12 (1000 s), not "
		"\"1000000000001\"");
	refused("name: x\nsegment_bytes: 0\n", 2,
		"segment_bytes: expected a whole number of 1 or more, not "
		"\"0\"");
	refused("name: x\nreduce_Bps: fast\n", 2,
		"reduce_Bps: expected a number of 0 or more, not \"fast\"");
	refused("name: x\nreduce_Bps: '1'\n", 2,
		"reduce_Bps: expected a number of 0 or more, not \"1\"");
	refused("name: x\nreduce_Bps: .inf\n", 2,
		"reduce_Bps: expected a number of 0 or more, not \".inf\"");
	refused("name: x\nreduce_Bps: 1e999\n", 2,
		"reduce_Bps: expected a number of 0 or more, not \"1e999\"");
	refused("name: x\nreduce_Bps: {a: 1}\n", 2,
		"reduce_Bps: expected a number of 0 or more, not a mapping");
	refused("name: x\nreduce_Bps:\n", 2,
		"reduce_Bps: expected a number of 0 or more, not \"\"");
	cr_assert_not(leaks_found());
}

Test(profile, intra_is_a_word)
{
	okay_or(load("name: x\nintra: tcp\n"), message);
	cr_assert_not(profile.shares_memory);
	dist__profile_release(&profile);
	refused("name: x\nintra: pcie\n", 2,
		"intra: expected shm or tcp, not \"pcie\"");
	refused("name: x\nselection:\n  gather:\n"
		"    - {algorithm: linear, intra: tcp}\n",
		4, "intra: expected shm, not \"tcp\"");
	refused("name: x\nselection:\n  all_reduce:\n"
		"    - {algorithm: ring, intra: shm}\n",
		4,
		"intra: expected none in a rule of all_reduce, whose sums are "
		"the same by every transport");
	cr_assert_not(leaks_found());
}

Test(profile, constants_are_numbers_by_name)
{
	okay_or(load("name: x\nlibrary: nccl\nconstants:\n"
		     "  launch_us: 4.5\n  efficiency: 0.9\n"),
		message);
	cr_assert_str_eq(profile.library, "nccl");
	cr_assert_eq(profile.num_constants, 2);
	cr_assert_eq(dist__profile_constant(&profile, "launch_us", 1), 4.5);
	cr_assert_eq(dist__profile_constant(&profile, "missing", 7), 7);
	okay(dist__profile_set(&profile, "launch_us", 5));
	cr_assert_eq(profile.num_constants, 2);
	cr_assert_eq(dist__profile_constant(&profile, "launch_us", 1), 5);
	dist__profile_release(&profile);
	refused("name: x\nconstants: 3\n", 2,
		"constants: expected a mapping of numbers, not \"3\"");
	refused("name: x\nconstants:\n  a: 1\n  a: 2\n", 4,
		"expected \"a\" only once");
	refused("name: x\nconstants:\n  a: fast\n", 3,
		"a: expected a number of 0 or more, not \"fast\"");
	cr_assert_not(leaks_found());
}

Test(profile, selection_is_checked)
{
#define HEAD "name: x\nselection:\n"
	refused("name: x\nselection: ring\n", 2,
		"selection: expected a mapping from operations to lists of "
		"rules, not \"ring\"");
	refused(HEAD "  gossip: []\n", 3,
		"unknown operation \"gossip\": expected one of all_reduce, "
		"reduce, broadcast, barrier, monitored_barrier, all_gather, "
		"reduce_scatter, all_to_all, gather, scatter");
	refused(HEAD "  send: []\n", 3,
		"unknown operation \"send\": expected one of all_reduce, "
		"reduce, broadcast, barrier, monitored_barrier, all_gather, "
		"reduce_scatter, all_to_all, gather, scatter");
	refused(HEAD "  reduce: []\n  reduce: []\n", 4,
		"expected \"reduce\" only once");
	refused(HEAD "  reduce: binomial\n", 3,
		"reduce: expected a list of rules, not \"binomial\"");
	refused(HEAD "  all_reduce:\n    - ring\n", 4,
		"expected a rule: a mapping with the keys max_bytes, "
		"max_world_size, min_node_ranks, max_nodes, intra, algorithm");
	refused(HEAD "  all_reduce:\n    - {max_bytes: 3}\n", 4,
		"expected a key \"algorithm\" in a rule");
	refused(HEAD "  all_reduce:\n    - {algorithm: ring}\n"
		     "    - {algorithm: square}\n",
		5,
		"algorithm: expected an algorithm of all_reduce (ring, "
		"recursive_doubling, halving_doubling, one_shot, "
		"binomial_tree, double_tree, hierarchical), not "
		"\"square\"");
	refused(HEAD "  barrier:\n    - {algorithm: ring}\n", 4,
		"algorithm: expected an algorithm of barrier (dissemination, "
		"one_shot, binomial_tree, hierarchical), "
		"not \"ring\"");
	refused(HEAD "  reduce:\n    - {algorithm: binomial, max_bytes: -5}\n",
		4,
		"max_bytes: expected a whole number of 0 or more, not \"-5\"");
	refused(HEAD "  reduce:\n    - {algorithm: binomial, max_bytes: "
		     "99999999999999999999}\n",
		4,
		"max_bytes: expected a whole number of 0 or more, not "
		"\"99999999999999999999\"");
	refused(HEAD "  reduce:\n    - algorithm: binomial\n"
		     "      max_world_size: 0\n",
		5,
		"max_world_size: expected a whole number of 1 or more, not "
		"\"0\"");
	cr_assert_not(leaks_found());
}

Test(profile, syntax_is_refused_with_its_line)
{
	char want[64];

	cr_assert_eq(load("name: x\nversion: [1\n"), DIST_ERR_INVALID_ARGUMENT);
	snprintf(want, sizeof want, "%s:3: expected YAML: ", path);
	cr_assert_eq(strncmp(message.text, want, strlen(want)), 0, "%s",
		     message.text);
	cr_assert_eq(load("name: x\n\tversion: 1\n"),
		     DIST_ERR_INVALID_ARGUMENT);
	snprintf(want, sizeof want, "%s:2: expected YAML: ", path);
	cr_assert_eq(strncmp(message.text, want, strlen(want)), 0, "%s",
		     message.text);
	cr_assert_not(leaks_found());
}

Test(profile, a_file_that_cannot_be_read)
{
	cr_assert_eq(
		dist__profile_load(&profile, "/nonexistent/p.yaml", &message),
		DIST_ERR_IO);
	cr_assert_eq(strncmp(message.text, "/nonexistent/p.yaml: ", 21), 0);
	cr_assert_eq(dist__profile_load(&profile, "/", &message), DIST_ERR_IO);
	cr_assert_str_eq(profile.name, "default");
	cr_assert_not(leaks_found());
}

Test(profile, forcing)
{
	const struct dist__layout four = {.world_size = 4, .num_nodes = 4};

	okay(load("name: x\nselection:\n  all_reduce:\n"
		  "    - {algorithm: binomial_tree}\n"));
	okay(dist__profile_force(&profile, NULL, "ring", &message));
	cr_assert_eq(profile.num_rules, 2);
	cr_assert_str_eq(
		dist__select(&profile, DIST__ALL_REDUCE, &four, 1)->name,
		"ring");
	okay(dist__profile_force(
		&profile, NULL,
		"broadcast=binomial,all_reduce=halving_doubling", &message));
	cr_assert_eq(profile.num_rules, 4);
	cr_assert_str_eq(
		dist__select(&profile, DIST__ALL_REDUCE, &four, 1)->name,
		"halving_doubling");
	dist__profile_release(&profile);
	cr_assert_not(leaks_found());
}

static void not_forced(const char *text, const char *want)
{
	dist__profile_init(&profile);
	cr_expect_eq(dist__profile_force(&profile, NULL, text, &message),
		     DIST_ERR_INVALID_ARGUMENT, "%s", text);
	cr_expect_str_eq(message.text, want);
	cr_expect_eq(profile.num_rules, 0);
	dist__profile_release(&profile);
}

Test(profile, forcing_needs_legal_names)
{
#define ALL_REDUCE                                                             \
	"ring, recursive_doubling, halving_doubling, one_shot, "               \
	"binomial_tree, double_tree, hierarchical"
	not_forced("square", "unknown algorithm \"square\" of all_reduce: "
			     "expected one of " ALL_REDUCE);
	not_forced("", "unknown algorithm \"\" of all_reduce: expected one "
		       "of " ALL_REDUCE);
	not_forced("ring,", "unknown algorithm \"\" of all_reduce: expected "
			    "one of " ALL_REDUCE);
	not_forced("reduce=ring", "unknown algorithm \"ring\" of reduce: "
				  "expected one of binomial, rabenseifner, "
				  "double_tree, chain, linear, hierarchical");
	not_forced("ring,gossip=ring",
		   "unknown operation \"gossip\": expected one of all_reduce, "
		   "reduce, broadcast, barrier, monitored_barrier, all_gather, "
		   "reduce_scatter, all_to_all, gather, scatter");
	not_forced("recv=ring",
		   "unknown operation \"recv\": expected one of all_reduce, "
		   "reduce, broadcast, barrier, monitored_barrier, all_gather, "
		   "reduce_scatter, all_to_all, gather, scatter");
	cr_assert_not(leaks_found());
}
