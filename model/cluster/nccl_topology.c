/*
 * nccl_topology.c - a node as NCCL saw it, from the XML that it writes to
 * NCCL_TOPO_DUMP_FILE.
 *
 * The file says which links there are, not how fast they are for a library;
 * that is NCCL's own reckoning (github.com/NVIDIA/nccl, src/graph/topo.h and
 * topo.cc): so much for an NVLink by the GPU's generation, 0.09375 GB/s for
 * each GT/s and lane of PCIe, so much between sockets by the processor.
 */
#include "model/cluster/description.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "base/input.h"
#include "base/refuse.h"

#define DEPTH         32
#define BUSID_SIZE    32
#define PCIE_BPS      0.09375e9
#define NVSWITCH      "0x068000" /* PCI class of a bridge */
#define MOST_PARTNERS PLATFORM_MESH_GPUS

/* Expat that has a line number of 64 bits deprecates the other. */
#ifdef XML_ATTR_DEPRECATED
#define LINE_NUMBER XML_GetCurrentLineNumber64
#else
#define LINE_NUMBER XML_GetCurrentLineNumber
#endif

struct gpu {
	char busid[BUSID_SIZE];
	int dev, sm, socket;
	double pcie_Bps;
	int switch_links;
	struct {
		char busid[BUSID_SIZE];
		int links;
	} partners[MOST_PARTNERS];
	int num_partners;
};

struct reader {
	XML_Parser parser;
	const char *path;
	struct dist_message *message;
	enum dist_error error;
	int sockets;
	double socket_Bps;
	struct {
		char busid[BUSID_SIZE];
		double Bps; /* the narrowest from here to the processor */
	} pci[DEPTH];
	int depth; /* of nested <pci> */
	struct gpu gpus[PLATFORM_GPUS];
	int num_gpus;
	int nics;
	double nic_Bps; /* the slowest */
};

/* ---- elements --------------------------------------------------------- */

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return "";
}

static void refuse(struct reader *r, const char *expected)
{
	if (r->error)
		return;
	r->error =
		dist__refuse(r->message, "%s:%lu: %s", r->path,
			     (unsigned long)LINE_NUMBER(r->parser), expected);
	XML_StopParser(r->parser, XML_FALSE);
}

/* What NCCL reckons between two sockets of these processors. */
static double between_sockets_Bps(const char **a)
{
	const char *arch = attribute(a, "arch");
	int model = atoi(attribute(a, "modelid"));

	if (strcmp(arch, "ppc64") == 0)
		return 32e9;
	if (strcmp(arch, "x86_64") != 0)
		return 6e9;
	if (strcmp(attribute(a, "vendor"), "AuthenticAMD") == 0)
		return 16e9;
	return model >= 143 ? 22e9 : model >= 85 ? 10e9 : 6e9;
}

static void begin_pci(struct reader *r, const char **a)
{
	double Bps = PCIE_BPS * atof(attribute(a, "link_speed")) *
		     atof(attribute(a, "link_width"));
	double above = r->depth ? r->pci[r->depth - 1].Bps : 0;

	if (r->depth == DEPTH) {
		refuse(r, "expected at most 32 <pci> in each other");
		return;
	}
	if (above > 0 && (Bps <= 0 || Bps > above))
		Bps = above;
	snprintf(r->pci[r->depth].busid, BUSID_SIZE, "%s",
		 attribute(a, "busid"));
	r->pci[r->depth].Bps = Bps;
	r->depth++;
}

static void begin_gpu(struct reader *r, const char **a)
{
	struct gpu *gpu = &r->gpus[r->num_gpus];

	if (r->num_gpus == PLATFORM_GPUS || r->depth == 0 || r->sockets == 0) {
		refuse(r, "expected <gpu> in a <pci> in a <cpu>, at most 256");
		return;
	}
	memset(gpu, 0, sizeof *gpu);
	gpu->dev = atoi(attribute(a, "dev"));
	gpu->sm = atoi(attribute(a, "sm"));
	gpu->socket = r->sockets - 1;
	gpu->pcie_Bps = r->pci[r->depth - 1].Bps;
	memcpy(gpu->busid, r->pci[r->depth - 1].busid, BUSID_SIZE);
	if (!(gpu->pcie_Bps > 0))
		refuse(r,
		       "a GPU whose <pci> have no link_speed and link_width");
	r->num_gpus++;
}

static void begin_nvlink(struct reader *r, const char **a)
{
	struct gpu *gpu;
	int links = atoi(attribute(a, "count"));

	if (r->num_gpus == 0 || links < 1 || links > 64) {
		refuse(r, "expected <nvlink> in a <gpu>, with a count of 1 to "
			  "64");
		return;
	}
	gpu = &r->gpus[r->num_gpus - 1];
	if (strcmp(attribute(a, "tclass"), NVSWITCH) == 0) {
		gpu->switch_links += links;
		return;
	}
	if (gpu->num_partners == MOST_PARTNERS) {
		refuse(r, "expected NVLinks to at most 16 GPUs");
		return;
	}
	snprintf(gpu->partners[gpu->num_partners].busid, BUSID_SIZE, "%s",
		 attribute(a, "target"));
	gpu->partners[gpu->num_partners++].links = links;
}

/* A card's speed is in Mbit/s. */
static void begin_net(struct reader *r, const char **a)
{
	double Bps = atof(attribute(a, "speed")) * 125e3;

	if (!(Bps > 0) || r->nics == PLATFORM_NICS) {
		refuse(r, "expected at most 256 <net>, each with its speed in "
			  "Mbit/s");
		return;
	}
	if (r->nics++ == 0 || Bps < r->nic_Bps)
		r->nic_Bps = Bps;
}

static void begin(void *arg, const char *name, const char **a)
{
	struct reader *r = arg;

	if (strcmp(name, "cpu") == 0) {
		r->sockets++;
		r->socket_Bps = between_sockets_Bps(a);
	} else if (strcmp(name, "pci") == 0) {
		begin_pci(r, a);
	} else if (strcmp(name, "gpu") == 0) {
		begin_gpu(r, a);
	} else if (strcmp(name, "nvlink") == 0) {
		begin_nvlink(r, a);
	} else if (strcmp(name, "net") == 0) {
		begin_net(r, a);
	}
}

static void end(void *arg, const char *name)
{
	struct reader *r = arg;

	if (strcmp(name, "pci") == 0 && r->depth > 0)
		r->depth--;
}

/* ---- what it comes to ------------------------------------------------- */

static double nvlink_Bps(int sm)
{
	if (sm >= 100)
		return 40.1e9;
	if (sm >= 90)
		return 20.6e9;
	if (sm == 86)
		return 12e9;
	return sm >= 70 ? 20e9 : 18e9;
}

static int by_dev(const void *a, const void *b)
{
	const struct gpu *x = a, *y = b;

	return (x->dev > y->dev) - (x->dev < y->dev);
}

/* Fills in the NVLinks between GPUs; returns how many pairs have some. */
static int fill_mesh(const struct reader *r, struct platform_intra *intra)
{
	int pairs = 0;

	for (int i = 0; i < r->num_gpus && i < PLATFORM_MESH_GPUS; i++)
		for (int k = 0; k < r->gpus[i].num_partners; k++)
			for (int j = 0;
			     j < r->num_gpus && j < PLATFORM_MESH_GPUS; j++)
				if (strcmp(r->gpus[j].busid,
					   r->gpus[i].partners[k].busid) == 0) {
					intra->links[i][j] =
						(unsigned char)r->gpus[i]
							.partners[k]
							.links;
					pairs++;
				}
	return pairs;
}

static void fill_intra(const struct reader *r, struct platform_intra *intra)
{
	int links = r->gpus[0].switch_links;
	double nvlink = nvlink_Bps(r->gpus[0].sm), pcie = r->gpus[0].pcie_Bps;

	memset(intra, 0, sizeof *intra);
	for (int i = 1; i < r->num_gpus; i++) {
		if (r->gpus[i].switch_links < links)
			links = r->gpus[i].switch_links;
		if (r->gpus[i].pcie_Bps < pcie)
			pcie = r->gpus[i].pcie_Bps;
	}
	if (links > 0) {
		intra->kind = PLATFORM_NVSWITCH;
		intra->gpu = (struct platform_wire){links * nvlink,
						    PLATFORM_NVLINK_HOP_S / 2};
	} else if (fill_mesh(r, intra) > 0) {
		intra->kind = PLATFORM_MESH;
		intra->gpu =
			(struct platform_wire){nvlink, PLATFORM_NVLINK_HOP_S};
	} else if (r->num_gpus > 1) {
		intra->kind = PLATFORM_PCIE;
		intra->gpu =
			(struct platform_wire){pcie, PLATFORM_PCIE_HOP_S / 2};
		intra->sockets =
			r->gpus[r->num_gpus - 1].socket - r->gpus[0].socket + 1;
		intra->socket = (struct platform_wire){r->socket_Bps,
						       PLATFORM_PCIE_HOP_S / 2};
	}
}

/* Whether the GPUs in their order share out evenly among their sockets. */
static bool shares_out(const struct reader *r, int sockets)
{
	for (int i = 0; i < r->num_gpus; i++)
		if (r->num_gpus % sockets != 0 ||
		    r->gpus[i].socket - r->gpus[0].socket !=
			    i / (r->num_gpus / sockets))
			return false;
	return true;
}

static void fill_inter(const struct reader *r, struct platform_inter *inter)
{
	memset(inter, 0, sizeof *inter);
	if (r->nics == 0)
		return;
	strcpy(inter->fabric, "ib");
	inter->nics = r->nics;
	inter->nic = (struct platform_wire){r->nic_Bps, PLATFORM_IB_HOP_S / 2};
	inter->pcie_Bps = r->gpus[0].pcie_Bps;
}

static enum dist_error fill_node(struct reader *r, struct platform_nodes *node)
{
	if (r->num_gpus == 0)
		return dist__refuse(r->message,
				    "%s: no <gpu> in it: expected the XML "
				    "that NCCL writes to NCCL_TOPO_DUMP_FILE",
				    r->path);
	qsort(r->gpus, (size_t)r->num_gpus, sizeof(struct gpu), by_dev);
	node->gpus = r->num_gpus;
	fill_intra(r, &node->intra);
	if (node->intra.kind == PLATFORM_PCIE &&
	    (node->intra.sockets < 1 || !shares_out(r, node->intra.sockets)))
		return dist__refuse(r->message,
				    "%s: expected GPUs, in order of dev, in "
				    "equal shares on their sockets",
				    r->path);
	fill_inter(r, &node->inter);
	return DIST_OK;
}

/* ---- the file --------------------------------------------------------- */

static enum dist_error parse(struct reader *r, FILE *in)
{
	char text[4096];
	bool last;

	do {
		size_t len = fread(text, 1, sizeof text, in);

		last = len < sizeof text;
		if (ferror(in))
			return dist__refuse(r->message, "%s: %s", r->path,
					    strerror(errno));
		if (!XML_Parse(r->parser, text, (int)len, last) && !r->error) {
			snprintf(text, sizeof text,
				 "expected XML of NCCL_TOPO_DUMP_FILE: %s",
				 XML_ErrorString(XML_GetErrorCode(r->parser)));
			refuse(r, text);
		}
	} while (!last && !r->error);
	return r->error;
}

static enum dist_error read_file(struct reader *r, FILE *in,
				 struct platform_nodes *node)
{
	enum dist_error error;

	r->parser = XML_ParserCreate(NULL);
	if (!r->parser)
		return DIST_ERR_NO_MEMORY;
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, begin, end);
	error = parse(r, in);
	XML_ParserFree(r->parser);
	return error ? error : fill_node(r, node);
}

enum dist_error platform_read_nccl(const char *path,
				   struct platform_nodes *node,
				   struct dist_message *message)
{
	struct reader *r = calloc(1, sizeof *r);
	FILE *in = dist__input_open(path);
	enum dist_error error;

	if (!r)
		error = DIST_ERR_NO_MEMORY;
	else if (!in)
		error = dist__refuse(message, "%s: %s", path, strerror(errno));
	else {
		r->path = path;
		r->message = message;
		error = read_file(r, in, node);
	}
	if (in)
		fclose(in);
	free(r);
	return error;
}
