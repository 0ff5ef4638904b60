/* write.c - the whole file: head, network model, the zones. */
#include "model/cluster/writer.h"

#include <string.h>

#include "base/refuse.h"
#include "model/library/fabric.h"

/* ---- the head -------------------------------------------------------- */

#define INDENT  5
#define COLUMNS 80

/* Words inside an XML comment, which must not hold two dashes in a row; broken
 * into lines. */
static void write_comment(FILE *out, const char *text)
{
	size_t column = INDENT;

	for (char last = ' '; *text; last = *text++) {
		bool is_space = *text == ' ' || *text == '\n';
		size_t word = is_space ? strcspn(text + 1, " \n") : 0;

		if (*text == '\n' || (is_space && column + word >= COLUMNS)) {
			fputs("\n     ", out);
			column = INDENT;
			continue;
		}
		if (last == '-' && *text == '-')
			fputc(' ', out);
		fputc(*text, out);
		column++;
	}
}

static void write_summary(FILE *out, const struct platform_description *d)
{
	static const char *const kinds[] = {
		[PLATFORM_ALONE] = "",
		[PLATFORM_NVSWITCH] = " under NVSwitch",
		[PLATFORM_MESH] = " in a mesh of NVLinks",
		[PLATFORM_PCIE] = " over PCIe"};

	for (int i = 0; i < d->kinds; i++) {
		const struct platform_nodes *n = &d->nodes[i];

		fprintf(out, "%s%d node%s of %d GPU%s%s", i ? "; " : "",
			n->count, n->count > 1 ? "s" : "", n->gpus,
			n->gpus > 1 ? "s" : "", kinds[n->intra.kind]);
	}
}

/* An attribute's value. */
static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '"')
			fputs("&quot;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else
			fputc(*text, out);
}

static const char model[] =
	"     The network model is stated, not assumed: CM02 with all factors "
	"1 and no\n"
	"     TCP corrections, so that a message alone on its route takes\n"
	"     latency + bytes / bandwidth. One host is one rank. -->\n"
	"<platform version=\"4.1\">\n"
	"  <config id=\"General\">\n"
	"    <prop id=\"network/model\" value=\"CM02\"/>\n"
	"    <prop id=\"network/crosstraffic\" value=\"0\"/>\n"
	"    <prop id=\"network/TCP-gamma\" value=\"0\"/>\n"
	"    <prop id=\"network/latency-factor\" value=\"1\"/>\n"
	"    <prop id=\"network/bandwidth-factor\" value=\"1\"/>\n"
	"    <prop id=\"network/weight-S\" value=\"0\"/>\n"
	"  </config>\n";

/* Where latencies come from that no option states. */
static const char defaults[] =
	"Latencies that no option states: over NVLink 0.6 us and over PCIe 1.0 "
	"us from GPU to GPU, NCCL's for a hop of its LL protocol "
	"(github.com/NVIDIA/nccl, src/graph/tuning.cc), half of it a link; "
	"from card to card 1.7 us over InfiniBand and RoCE and 21.2 us over "
	"TCP, what MPI shows for 4 bytes "
	"(github.com/dexhunter/allreduce-experiments, 100g-latency.txt and "
	"10g-latency.txt), half of it a card; a link between switches 0.13 us "
	"(NVIDIA, QM8700 data sheet).\nA switch's links up are one link of "
	"their bandwidth together: traffic is spread evenly over them.";

static void write_property(FILE *out, const char *name, const char *value)
{
	fprintf(out, "    <prop id=\"%s\" value=\"", name);
	write_escaped(out, value);
	fputs("\"/>\n", out);
}

/* One by one: calibration0, ... */
static void write_calibrations(FILE *out, const struct platform_nodes *n)
{
	char text[CALIBRATION_TEXT], name[32];
	int written = 0;

	for (size_t i = 0; i < n->num_calibrations; i++) {
		const struct calibration *c = &n->calibrations[i];

		if ((c->transport[0] &&
		     strcmp(c->transport, n->inter.fabric) != 0) ||
		    !library_calibration_print(c, text))
			continue;
		snprintf(name, sizeof name, "calibration%d", written++);
		write_property(out, name, text);
	}
}

/* What links do not tell, for models of libraries: of the first sort of node.
 */
static void write_kinds(FILE *out, const struct platform_nodes *n)
{
	static const char *const kinds[] = {[PLATFORM_NVSWITCH] = "nvswitch",
					    [PLATFORM_MESH] = "nvlink",
					    [PLATFORM_PCIE] = "pcie"};

	if (n->gpu[0])
		write_property(out, "gpu", n->gpu);
	if (n->gpus > 1)
		write_property(out, "intra", kinds[n->intra.kind]);
	if (n->intra.reached)
		write_property(out, "reached", "yes");
	write_calibrations(out, n);
	if (n->guessed)
		write_property(out, "guessed", "yes");
	if (!n->inter.fabric[0])
		return;
	write_property(out, "transport", n->inter.fabric);
	fprintf(out, "    <prop id=\"cards_per_link\" value=\"%d\"/>\n",
		n->inter.nics / platform_count_bundles(n));
	if (n->inter.card_nodes > 0)
		fprintf(out, "    <prop id=\"card_nodes\" value=\"%d\"/>\n",
			n->inter.card_nodes);
}

/* ---- the whole ------------------------------------------------------- */

static enum dist_error check_slow(const struct platform_description *d,
				  struct dist_message *message)
{
	int nodes = platform_count_nodes(d);

	for (int i = 0; i < d->num_slow; i++) {
		const char *name = d->slow[i].name;
		char number[16];
		int node;

		if (sscanf(name, "node%9d", &node) == 1 && node >= 0 &&
		    node < nodes) {
			snprintf(number, sizeof number, "node%d", node);
			if (strcmp(number, name) == 0)
				continue;
		}
		return dist__refuse(
			message, "--slow: no \"%s\": expected node0 to node%d",
			name, nodes - 1);
	}
	return DIST_OK;
}

enum dist_error platform_write(const struct platform_description *d,
			       const char *note, const char *command, FILE *out,
			       struct dist_message *message)
{
	struct platform_writer w = {.out = out, .description = d};
	enum dist_error error = check_slow(d, message);

	if (error)
		return error;
	fputs("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
	      "\"https://simgrid.org/simgrid.dtd\">\n<!-- ",
	      out);
	if (note)
		write_comment(out, note);
	else
		write_summary(out, d);
	fputs("\n     ", out);
	write_comment(out, defaults);
	fprintf(out, "\n%s", model);
	fputs("  <zone id=\"cluster\" routing=\"Full\">\n"
	      "    <prop id=\"command\" value=\"",
	      out);
	write_escaped(out, command);
	fputs("\"/>\n", out);
	if (d->any_nodes)
		write_property(out, "nodes", "any");
	if (d->queues)
		write_property(out, "queues", "fifo");
	write_kinds(out, &d->nodes[0]);
	platform_write_fabric(&w);
	fputs("  </zone>\n</platform>\n", out);
	for (int i = 0; i < d->num_degraded; i++)
		if (!w.degraded[i])
			return dist__refuse(
				message,
				"--degrade: no link \"%s\": expected one that "
				"`lockstep platform show` lists, such as "
				"node0.nic0",
				d->degraded[i].name);
	return ferror(out) ? DIST_ERR_IO : DIST_OK;
}
