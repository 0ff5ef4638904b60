/* NCCL's picture of a node, read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/cluster/description.h"
#include "tests/support/okay.h"
#include "tests/support/text_file.h"

#define CPU(id, inside)                                                        \
	"<cpu numaid=\"" id "\" arch=\"x86_64\" vendor=\"AuthenticAMD\" "      \
	"familyid=\"143\" modelid=\"49\">\n" inside "</cpu>\n"
#define PCI(busid, speed, inside)                                              \
	"<pci busid=\"" busid "\" class=\"0x060400\" link_speed=\"" speed      \
	" GT/s PCIe\" link_width=\"16\">" inside "</pci>\n"
#define GPU(dev, sm, inside)                                                   \
	"<gpu dev=\"" dev "\" sm=\"" sm "\" rank=\"" dev "\">" inside "</gpu>"
#define NVLINK(target, count, class)                                           \
	"<nvlink target=\"" target "\" count=\"" count                         \
	"\" tclass=\"" class "\"/>"
#define TO_SWITCH NVLINK("0000:c4:00.0", "12", "0x068000")
#define NET(name, speed)                                                       \
	"<nic><net name=\"" name "\" speed=\"" speed "\" port=\"1\"/></nic>"
#define SYSTEM(inside) "<system version=\"1\">\n" inside "</system>\n"

/* Reads text as if it were a file. */
static enum dist_error read_text(const char *text, struct platform_nodes *node,
				 struct dist_message *message)
{
	enum dist_error error;

	with_text_file(text, path,
		       error = platform_read_nccl(path, node, message));
	return error;
}

static struct platform_nodes read_good(const char *text)
{
	struct platform_nodes node = {.count = 3};
	struct dist_message message = {""};

	okay_or(read_text(text, &node, &message), message);
	cr_expect_eq(node.count, 3);
	return node;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

Test(nccl_topology, nvswitch_and_rails)
{
	struct platform_nodes n = read_good(SYSTEM(
		CPU("0",
		    PCI("0000:07:00.0", "16.0",
			PCI("0000:0a:00.0", "16.0", GPU("0", "80", TO_SWITCH))
				PCI("0000:0c:00.0", "16.0",
				    NET("mlx5_0", "200000"))))
			CPU("1", PCI("0000:47:00.0", "16.0",
				     GPU("1", "80", TO_SWITCH))
					 PCI("0000:4c:00.0", "16.0",
					     NET("mlx5_1", "200000")))));

	cr_expect_eq(n.gpus, 2);
	cr_expect_eq(n.intra.kind, PLATFORM_NVSWITCH);
	cr_expect(near(n.intra.gpu.bandwidth_Bps, 240e9));
	cr_expect_eq(n.inter.nics, 2);
	cr_expect(near(n.inter.nic.bandwidth_Bps, 25e9));
	cr_expect(near(n.inter.pcie_Bps, 24e9));
}

/* GPUs come by number; the narrowest link above a GPU counts. */
Test(nccl_topology, pcie_on_two_sockets)
{
	struct platform_nodes n = read_good(SYSTEM(
		CPU("0",
		    PCI("0000:18:00.0", "16.0", GPU("0", "80", "")) PCI(
			    "0000:3a:00.0", "8.0",
			    PCI("0000:3b:00.0", "16.0", GPU("1", "80", ""))))
			CPU("1", PCI("0000:af:00.0", "16.0", GPU("3", "80", ""))
					 PCI("0000:86:00.0", "16.0",
					     GPU("2", "80", "")))));

	cr_expect_eq(n.gpus, 4);
	cr_expect_eq(n.intra.kind, PLATFORM_PCIE);
	cr_expect_eq(n.intra.sockets, 2);
	cr_expect(near(n.intra.gpu.bandwidth_Bps, 12e9));
	cr_expect(near(n.intra.socket.bandwidth_Bps, 16e9));
	cr_expect_str_eq(n.inter.fabric, "");
}

Test(nccl_topology, nvlinks_between_pairs)
{
	struct platform_nodes n = read_good(SYSTEM(CPU(
		"0",
		PCI("0000:06:00.0", "8.0",
		    GPU("0", "70", NVLINK("0000:07:00.0", "2", "0x030200")))
			PCI("0000:07:00.0", "8.0",
			    GPU("1", "70",
				NVLINK("0000:06:00.0", "2", "0x030200"))))));

	cr_expect_eq(n.intra.kind, PLATFORM_MESH);
	cr_expect_eq(n.intra.links[0][1], 2);
	cr_expect_eq(n.intra.links[1][0], 2);
	cr_expect(near(n.intra.gpu.bandwidth_Bps, 20e9));
}

Test(nccl_topology, what_is_none_is_refused)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "no element found"},
		{"hello", ":1: "},
		{"<system>\n<cpu>\n", ":3: "},
		{SYSTEM(""), "no <gpu> in it"},
		{SYSTEM(GPU("0", "80", "")), ":2: expected <gpu> in a <pci>"},
		{SYSTEM(CPU("0",
			    "<pci busid=\"a\">" GPU("0", "80", "") "</pci>")),
		 ":3: a GPU whose <pci>"},
		{SYSTEM(TO_SWITCH), "expected <nvlink> in a <gpu>"},
		{SYSTEM(NET("mlx5_0", "fast")), "its speed in Mbit/s"},
		{SYSTEM(CPU("0", PCI("a", "16", GPU("0", "80", ""))
					 PCI("b", "16", GPU("1", "80", "")))
				CPU("1", PCI("c", "16", GPU("2", "80", "")))),
		 "equal shares"},
	};
	struct dist_message message;
	struct platform_nodes node;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		cr_expect_eq(read_text(bad[i].text, &node, &message),
			     DIST_ERR_INVALID_ARGUMENT, "%s", bad[i].text);
		cr_expect_not_null(strstr(message.text, bad[i].says), "%s: %s",
				   bad[i].text, message.text);
	}
	cr_expect_eq(platform_read_nccl("/no/such/file", &node, &message),
		     DIST_ERR_INVALID_ARGUMENT);
}
