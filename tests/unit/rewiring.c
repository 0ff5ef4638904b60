/* Platforms whose links are made faster or slower. */
#include <math.h>
#include <string.h>

#include "cli/rewiring.h"
#include "tests/support/okay.h"

#define PLATFORM(name) "scenarios/platforms/" name ".xml"

/* Cards of 24.575 GB/s, 2.7 us from one to the other; NVSwitch within, 235.3
 * GB/s and 0.6 us. */
#define NODES PLATFORM("fat-tree-hdr-16x8")

static struct fabric survey(const char *path,
			    const struct dist__link_overrides *terms)
{
	struct dist_message message = {""};
	struct dist__platform *platform;
	struct fabric fabric;

	okay_or(dist__platform_open(path, 128, terms, false, &platform,
				    &message),
		message);
	okay(dist__platform_fabric(platform, NULL, 128, &fabric));
	dist__platform_close(platform);
	return fabric;
}

static void expect_near(double got, double wanted)
{
	cr_expect(fabs(got - wanted) <= 1e-9 * wanted, "%g, not %g", got,
		  wanted);
}

static void expect_fabric(const struct dist__link_overrides *terms,
			  double card_Bps, double inter_ns, double intra_Bps,
			  double intra_ns)
{
	struct fabric fabric = survey(NODES, terms);

	cr_expect_eq(fabric.nodes, 16);
	expect_near(fabric.card_Bps, card_Bps);
	expect_near(fabric.inter_latency_ns, inter_ns);
	expect_near(fabric.intra_Bps, intra_Bps);
	expect_near(fabric.intra_latency_ns, intra_ns);
}

Test(rewiring, without_terms_nothing_changes)
{
	const struct dist__link_overrides terms = {.name = ""};

	expect_fabric(&terms, 24.575e9, 2700, 235.3e9, 600);
}

Test(rewiring, links_between_nodes_get_what_is_asked_for)
{
	const struct dist__link_overrides terms = {
		.inter = {.bandwidth = {.value = 50e9},
			  .latency = {.value = 5e-6}}};

	expect_fabric(&terms, 50e9, 5000, 235.3e9, 600);
}

Test(rewiring, links_within_nodes_are_others)
{
	const struct dist__link_overrides terms = {
		.intra = {.bandwidth = {0.5, true}, .latency = {3, true}}};

	expect_fabric(&terms, 24.575e9, 2700, 0.5 * 235.3e9, 1800);
}

/* Where PCIe held up a ring before, cards do now. */
Test(rewiring, every_link_of_the_kind_changes)
{
	const struct dist__link_overrides terms = {
		.inter = {.bandwidth = {0.25, true}}};
	struct dist__narrowest narrowest;
	struct dist__platform *platform;
	struct dist_message message;

	okay(dist__platform_open(PLATFORM("leaf-spine-roce-16x4"), 64, &terms,
				 false, &platform, &message));
	okay(dist__platform_narrowest(platform, 64, &narrowest));
	dist__platform_close(platform);
	expect_near(narrowest.hop_Bps, 12.5e9 / 4);
	cr_expect_eq(narrowest.links, 32);
}

/* ---- what is refused ---------------------------------------------------- */

static void expect_refused(const char *path,
			   const struct dist__link_overrides *terms,
			   const char *text)
{
	struct dist_message message = {""};
	char gpu[64];
	int hosts;

	refused_with(
		dist__platform_gpu(path, terms, &hosts, NULL, gpu, &message),
		message, text);
}

Test(rewiring, there_must_be_such_links)
{
	const struct dist__link_overrides inter = {
		.inter = {.latency = {2, true}}};
	const struct dist__link_overrides intra = {
		.intra = {.bandwidth = {.value = 1e9}}};

	expect_refused(PLATFORM("h100-nvswitch-8"), &inter,
		       "has no links between nodes: expected hosts on several");
	expect_refused(PLATFORM("star-8"), &intra,
		       "has no links within nodes: expected hosts that share");
}

/* Reads a word for one of the four. */
static bool reads(int option, const char *word)
{
	struct rewiring_arguments arguments = {{NULL}};
	struct dist__link_overrides terms = {.name = ""};
	struct dist__refusal refusal;
	char text[64], links[DIST__LINKS_SIZE];

	snprintf(text, sizeof text, "%s", word);
	arguments.text[option] = text;
	return rewiring_read(&arguments, &terms, links, &refusal) == DIST_OK;
}

static void expect_change(struct dist__change got, double value, bool is_factor)
{
	cr_expect_float_eq(got.value, value, 1e-9 * value);
	cr_expect_eq(got.is_factor, is_factor);
}

/* What options say, variables can: the words that come of them are read. */
Test(rewiring, words_of_options_are_read_again)
{
	char inter[] = "100G", intra[] = "x0.5", links[DIST__LINKS_SIZE];
	struct rewiring_arguments arguments = {.text = {inter, [3] = intra}};
	struct dist__link_overrides terms = {.name = ""}, again;
	struct dist_message message = {""};
	struct dist__refusal refusal;

	okay(rewiring_read(&arguments, &terms, links, &refusal));
	cr_expect_str_eq(links, "inter-bandwidth 100G, intra-latency x0.5");
	okay(dist__link_overrides_read(&again, links, &message));
	expect_change(again.inter.bandwidth, 12.5e9, false);
	expect_change(again.inter.latency, 0, false);
	expect_change(again.intra.bandwidth, 0, false);
	expect_change(again.intra.latency, 0.5, true);
}

Test(rewiring, words_are_refused_that_say_nothing)
{
	static const char *const none[] = {
		"fast",
		"inter-bandwidth",
		"inter-bandwidth 5",
		"inter-bandwidth=5G",
		"inter-latency 5us intra-latency 5us",
	};
	struct dist_message message;
	struct dist__link_overrides terms;
	char zeros[300] = "inter-bandwidth ";

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		cr_expect_eq(
			dist__link_overrides_read(&terms, none[i], &message),
			DIST_ERR_INVALID_ARGUMENT, "%s", none[i]);
	memset(zeros + strlen(zeros), '0', sizeof zeros - strlen(zeros) - 1);
	cr_expect_eq(dist__link_overrides_read(&terms, zeros, &message),
		     DIST_ERR_INVALID_ARGUMENT);
}

Test(rewiring, quantities_have_units_and_bounds)
{
	static const char *const bandwidths[] = {"100G", "12.5GB/s", "x2",
						 "x0.001", "x1000"};
	static const char *const none[] = {
		"",    "100",   "0G", "-1G", "1e9G", "x",    "x0",
		"x2G", "x1001", "2x", "x-1", "nan",  "xnan", "100 G"};

	for (size_t i = 0; i < sizeof bandwidths / sizeof *bandwidths; i++)
		cr_expect(reads(0, bandwidths[i]), "%s", bandwidths[i]);
	for (int option = 0; option < REWIRING_OPTIONS; option++)
		for (size_t i = 0; i < sizeof none / sizeof *none; i++)
			cr_expect_not(reads(option, none[i]), "%s", none[i]);
	cr_expect(reads(1, "5us"));
	cr_expect_not(reads(1, "5"));
	cr_expect_not(reads(1, "100G"));
	cr_expect_not(reads(1, "11s"));
	cr_expect_not(reads(2, "5us"));
}
