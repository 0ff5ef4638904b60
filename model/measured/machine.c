#include "model/measured/machine.h"

#include <string.h>

#include "base/data.h"
#include "base/refuse.h"
#include "base/yaml_keys.h"
#include "model/library/transport.h"
#include "model/measured/machine_list.h"

/* ---- inside a node ---------------------------------------------------- */

static enum dist_error read_kind(const struct dist__yaml *yaml,
				 const struct dist__yaml_key *key,
				 const yaml_node_t *value, void *into)
{
	static const char *const kinds[] = {
		[MACHINE_NVSWITCH] = "nvswitch",
		[MACHINE_MESH] = "mesh",
		[MACHINE_PAIRS] = "pairs",
		[MACHINE_PCIE] = "pcie",
	};
	struct machine *machine = into;

	for (int i = MACHINE_NVSWITCH; i <= MACHINE_PCIE; i++)
		if (strcmp(kinds[i], dist__yaml_text(value)) == 0) {
			machine->intra = (enum machine_intra)i;
			return DIST_OK;
		}
	return dist__yaml_refuse_value(yaml, key->name, value,
				       "nvswitch, mesh, pairs or pcie");
}

static const struct dist__yaml_key pair_keys[] = {
	{YAML_KEY(struct machine_pair, dist__yaml_read_size, a),
	 .required = true},
	{YAML_KEY(struct machine_pair, dist__yaml_read_size, b),
	 .required = true},
	{YAML_KEY(struct machine_pair, dist__yaml_read_count, links),
	 .required = true},
	{.name = NULL},
};

static enum dist_error read_pairs(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *key,
				  const yaml_node_t *value, void *into)
{
	struct machine *machine = into;
	struct machine_list list = {pair_keys, machine->pairs,
				    sizeof machine->pairs[0],
				    MACHINE_MOST_PAIRS, &machine->num_pairs};

	return machine_read_list(yaml, key, value, &list);
}

static const struct dist__yaml_key intra_keys[] = {
	{.name = "kind", .read = read_kind, .required = true},
	{YAML_KEY(struct machine, dist__yaml_read_text, link),
	 .required = true},
	{YAML_KEY(struct machine, dist__yaml_read_count, links)},
	{YAML_KEY(struct machine, dist__yaml_read_double, link_GBps),
	 .required = true},
	{YAML_KEY(struct machine, dist__yaml_read_count, sockets)},
	{YAML_KEY(struct machine, dist__yaml_read_double, socket_GBps)},
	{.name = "pairs", .read = read_pairs},
	{.name = NULL},
};

static bool is_sound_pair(const struct machine *machine, size_t i)
{
	const struct machine_pair *pair = &machine->pairs[i];

	for (size_t k = 0; k < i; k++)
		if (machine->pairs[k].a == pair->a &&
		    machine->pairs[k].b == pair->b)
			return false;
	return pair->a < pair->b && pair->b < machine->gpus_per_node;
}

static enum dist_error read_intra(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *key,
				  const yaml_node_t *value, void *into)
{
	enum dist_error error = dist__yaml_read_mapping(yaml, intra_keys,
							key->name, value, into);
	const struct machine *machine = into;

	if (error)
		return error;
	if (machine->link_GBps <= 0)
		return dist__yaml_refuse(yaml, value,
					 "link_GBps: expected more than 0");
	if ((machine->intra == MACHINE_PAIRS) != (machine->num_pairs > 0))
		return dist__yaml_refuse(yaml, value,
					 "pairs: expected with kind pairs, and "
					 "with no other");
	if ((machine->intra == MACHINE_PAIRS) == (machine->links > 0))
		return dist__yaml_refuse(
			yaml, value, "links: expected, except with kind pairs");
	return DIST_OK;
}

/* ---- between nodes ---------------------------------------------------- */

static enum dist_error read_transport(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *value, void *into)
{
	if (!transport_is_known(dist__yaml_text(value)))
		return dist__yaml_refuse_value(yaml, key->name, value,
					       TRANSPORT_WORDS);
	return dist__yaml_read_text(yaml, key, value, into);
}

static const struct dist__yaml_key network_keys[] = {
	{YAML_KEY(struct machine_network, read_transport, transport),
	 .required = true},
	{YAML_KEY(struct machine_network, dist__yaml_read_count, cards)},
	{YAML_KEY(struct machine_network, dist__yaml_read_double, card_Gbps)},
	{YAML_KEY(struct machine_network, dist__yaml_read_double, latency_us)},
	{YAML_KEY(struct machine_network, dist__yaml_read_count, card_nodes)},
	{YAML_KEY(struct machine_network, dist__yaml_read_text, topology)},
	{.name = NULL},
};

static enum dist_error read_networks(const struct dist__yaml *yaml,
				     const struct dist__yaml_key *key,
				     const yaml_node_t *value, void *into)
{
	struct machine *machine = into;
	struct machine_list list = {
		network_keys, machine->networks, sizeof machine->networks[0],
		MACHINE_MOST_NETWORKS, &machine->num_networks};
	enum dist_error error = machine_read_list(yaml, key, value, &list);

	for (size_t i = 0; i < machine->num_networks && !error; i++)
		if (machine_network_find(machine,
					 machine->networks[i].transport) !=
		    &machine->networks[i])
			error = dist__yaml_refuse(
				yaml, value, "transport: expected \"%s\" once",
				machine->networks[i].transport);
	return error;
}

const struct machine_network *
machine_network_find(const struct machine *machine, const char *transport)
{
	for (size_t i = 0; i < machine->num_networks; i++)
		if (strcmp(machine->networks[i].transport, transport) == 0)
			return &machine->networks[i];
	return NULL;
}

/* ---- the file --------------------------------------------------------- */

static const struct dist__yaml_key machine_keys[] = {
	{YAML_KEY(struct machine, dist__yaml_read_text, title),
	 .required = true},
	{YAML_KEY(struct machine, dist__yaml_read_text, source),
	 .required = true},
	{YAML_KEY(struct machine, dist__yaml_read_text, note)},
	{YAML_KEY(struct machine, dist__yaml_read_count, nodes)},
	{YAML_KEY(struct machine, dist__yaml_read_text, gpu)},
	{YAML_KEY(struct machine, dist__yaml_read_size, gpus_per_node)},
	{.name = "intra", .read = read_intra},
	{.name = "networks", .read = read_networks},
	{.name = "calibrations", .read = machine_read_calibrations},
	{.name = NULL},
};

/* What no key alone can see, for keys may come in any order. */
static enum dist_error check(const struct machine *machine, const char *path,
			     struct dist_message *message)
{
	const char *wrong = NULL;

	if (machine->intra != MACHINE_UNKNOWN && machine->gpus_per_node < 2)
		wrong = "gpus_per_node of 2 or more with intra";
	for (size_t i = 0; i < machine->num_pairs && !wrong; i++)
		if (!is_sound_pair(machine, i))
			wrong = "pairs of two GPUs of the node, a < b, each "
				"pair once";
	if (!wrong)
		return DIST_OK;
	return dist__refuse(message, "%.200s: expected %s", path, wrong);
}

enum dist_error machine_load(struct machine *machine, const char *path,
			     struct dist_message *message)
{
	enum dist_error error;

	memset(machine, 0, sizeof *machine);
	error = dist__yaml_load(path, machine_keys, "a machine", machine,
				message);
	if (!error)
		error = check(machine, path, message);
	if (error)
		memset(machine, 0, sizeof *machine);
	return error;
}

enum dist_error machine_find(struct machine *machine, const char *name,
			     struct dist_message *message)
{
	char path[4096];
	enum dist_error error = dist__data_find("machines", name, ".yaml", path,
						sizeof path, message);

	return error ? error : machine_load(machine, path, message);
}

/* The words of a part's name with a number in it, "H100" of "H100 80GB", are
 * among those that the driver says: "NVIDIA H100 80GB HBM3". Of others nothing
 * is known. */
bool machine_has_gpu(const struct machine *machine, const char *said)
{
	const char *described = machine->gpu;
	size_t begin = 0, len = 0;
	const char *at = said;

	for (; described[begin]; begin += len + !!described[begin + len]) {
		len = strcspn(described + begin, " -");
		if (strcspn(described + begin, "0123456789") < len)
			break;
	}
	if (!described[begin] || !said[strcspn(said, "0123456789")])
		return true;
	for (; *at; at += !!*at) {
		size_t word = strcspn(at, " -");

		if (word == len && strncmp(at, described + begin, len) == 0)
			return true;
		at += word;
	}
	return false;
}
