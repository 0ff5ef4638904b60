/* Reading descriptions of measured machines, and that every table has one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/measured/collectives.h"
#include "model/measured/machine.h"
#include "model/measured/steps.h"
#include "tests/support/data_files.h"
#include "tests/support/text_file.h"

#define ABOUT "title: t\nsource: s\n"
#define GPUS  ABOUT "gpu: V100\ngpus_per_node: 4\n"

TEXT_LOADER(load_text, machine_load, struct machine)

Test(machine, what_is_left_out_is_not_known)
{
	struct dist_message message;
	struct machine machine;

	okay_or(load_text(ABOUT, &machine, &message), message);
	cr_assert_str_eq(machine.title, "t");
	cr_assert_eq(machine.nodes, 0);
	cr_assert_eq(machine.gpus_per_node, 0);
	cr_assert_eq(machine.intra, MACHINE_UNKNOWN);
	cr_assert_eq(machine.num_networks, 0);
	cr_assert_null(machine_network_find(&machine, "ib"));
}

Test(machine, links_and_networks_are_read)
{
	struct dist_message message;
	const struct machine_network *network;
	struct machine machine;

	okay_or(load_text("networks:\n"
			  "  - {transport: tcp}\n"
			  "  - {transport: ib, cards: 2, card_Gbps: 100,\n"
			  "     latency_us: 3.5, card_nodes: 2,\n"
			  "     topology: fat tree}\n"
			  "intra: {kind: pairs, link: NVLink 2,\n"
			  "  link_GBps: 25, pairs: [{a: 0, b: 1, links: 2},\n"
			  "  {a: 0, b: 3, links: 1}]}\n"
			  "nodes: 2\n" GPUS,
			  &machine, &message),
		message);
	cr_assert_eq(machine.nodes, 2);
	cr_assert_eq(machine.gpus_per_node, 4);
	cr_assert_eq(machine.intra, MACHINE_PAIRS);
	cr_assert_str_eq(machine.link, "NVLink 2");
	cr_assert_eq(machine.link_GBps, 25);
	cr_assert_eq(machine.num_pairs, 2);
	cr_assert_eq(machine.pairs[1].b, 3);
	cr_assert_eq(machine.pairs[0].links, 2);
	network = machine_network_find(&machine, "ib");
	cr_assert_not_null(network);
	cr_assert_eq(network->cards, 2);
	cr_assert_eq(network->card_nodes, 2);
	cr_assert_eq(network->latency_us, 3.5);
	cr_assert_eq(network->card_Gbps, 100);
	cr_assert_str_eq(network->topology, "fat tree");
	cr_assert_eq(machine_network_find(&machine, "tcp")->cards, 0);
}

struct bad {
	const char *text;
	const char *words; /* of the message */
};

Test(machine, bad_descriptions_are_refused)
{
	static const struct bad bad[] = {
		{"title: t\n", "source"},
		{ABOUT "speed: 1\n", ":3: unknown key \"speed\""},
		{ABOUT "nodes: 0\n", ":3: nodes"},
		{GPUS "intra: {kind: bus, link: x, links: 1, link_GBps: 1}\n",
		 ":5: kind: expected nvswitch, mesh, pairs or pcie"},
		{GPUS "intra: {kind: mesh, link: x, links: 1, link_GBps: 0}\n",
		 ":5: link_GBps: expected more than 0"},
		{GPUS "intra: {kind: mesh, link: x, link_GBps: 1}\n",
		 ":5: links: expected"},
		{GPUS "intra: {kind: mesh, link: x, links: 1}\n", "link_GBps"},
		{GPUS "intra: {kind: pairs, link: x, link_GBps: 1}\n",
		 ":5: pairs: expected with kind pairs"},
		{GPUS "intra: {kind: pairs, link: x, link_GBps: 1, "
		      "pairs: []}\n",
		 ":5: pairs: expected a list of 1 to 32"},
		{GPUS "intra: {kind: pairs, link: x, link_GBps: 1, "
		      "pairs: [{a: 0, b: 4, links: 1}]}\n",
		 "pairs of two GPUs"},
		{GPUS "intra: {kind: pairs, link: x, link_GBps: 1, "
		      "pairs: [{a: 1, b: 0, links: 1}]}\n",
		 "a < b"},
		{GPUS "intra: {kind: pairs, link: x, link_GBps: 1, pairs: "
		      "[{a: 0, b: 1, links: 1}, {a: 0, b: 1, links: 1}]}\n",
		 "each pair once"},
		{ABOUT "intra: {kind: mesh, link: x, links: 1, link_GBps: 1}\n",
		 "gpus_per_node of 2 or more"},
		{ABOUT "networks: ib\n", ":3: networks: expected a list"},
		{ABOUT "networks: [{cards: 1}]\n", "transport"},
		{ABOUT "networks:\n  - {transport: ethernet}\n",
		 ":4: transport: expected ib, roce, rdma, opa, efa, slingshot, "
		 "tcp, tcpx, tcpxo or nvlink"},
		{ABOUT "networks: [{transport: ib4}]\n",
		 ":3: transport: expected ib, roce"},
		{ABOUT "networks: [{transport: ib}, {transport: ib}]\n",
		 ":3: transport: expected \"ib\" once"},
	};
	struct dist_message message;
	struct machine machine;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(load_text(bad[i].text, &machine, &message),
			     DIST_ERR_INVALID_ARGUMENT, "case %zu", i);
		cr_assert(strstr(message.text, bad[i].words), "case %zu: %s", i,
			  message.text);
		cr_assert_not(strchr(message.text, '\n'));
		cr_assert_eq(machine.title[0], '\0');
	}
}

/* ---- those of the project --------------------------------------------- */

/* What a row claims of its machine. */
struct claim {
	const char *machine, *transport;
	int nodes, gpus;
};

/* Nodes, GPUs and the network between nodes are those of the description. */
static void check_claim(const struct claim *claim, const char *path)
{
	struct dist_message message;
	struct machine machine;
	char file[256];

	snprintf(file, sizeof(file), "scenarios/machines/%s.yaml",
		 claim->machine);
	cr_assert_eq(machine_load(&machine, file, &message), DIST_OK, "%s: %s",
		     path, message.text);
	cr_assert_leq(claim->nodes, machine.nodes, "%s", path);
	if (claim->nodes > 0)
		cr_assert_leq((size_t)(claim->gpus / claim->nodes),
			      machine.gpus_per_node, "%s", path);
	if (claim->nodes > 1)
		cr_assert_not_null(
			machine_network_find(&machine, claim->transport),
			"%s: %s", path, claim->transport);
}

static void check_collectives(const char *kind)
{
	struct dist__files files = data_files(kind, ".tsv");

	for (size_t i = 0; i < files.num; i++) {
		struct dist_message message;
		struct collectives table;

		okay_or(collectives_load(&table, files.paths[i], &message),
			message);
		for (size_t k = 0; k < table.tsv.num_rows; k++) {
			const struct collective_row *row = &table.rows[k];
			bool on_gpus = row->memory &&
				       strcmp(row->memory, "device") == 0;
			struct claim claim = {row->machine, row->transport,
					      row->nodes,
					      on_gpus ? row->ranks : 0};

			check_claim(&claim, files.paths[i]);
		}
		dist__tsv_release(&table.tsv);
	}
	dist__files_release(&files);
}

Test(machine, every_table_of_collectives_has_its_machine)
{
	check_collectives("measured/collectives");
	check_collectives("measured/collectives-unseen");
}

Test(machine, every_table_of_steps_has_its_machine)
{
	struct dist__files files = data_files("measured/steps", ".tsv");

	for (size_t i = 0; i < files.num; i++) {
		const char *path = files.paths[i];
		struct dist_message message;
		struct steps table;

		okay_or(steps_load(&table, path, &message), message);
		for (size_t k = 0; k < table.tsv.num_rows; k++) {
			const struct step_row *row = &table.rows[k];
			struct claim claim = {row->machine, row->transport,
					      row->nodes, row->gpus};

			if (row->machine)
				check_claim(&claim, path);
		}
		dist__tsv_release(&table.tsv);
	}
	dist__files_release(&files);
}
