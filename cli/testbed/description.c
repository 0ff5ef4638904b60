/* description.c - a test bed in words and numbers. */
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"

#include "cli/testbed/testbed.h"

/* What a veth or TAP device and two cores can be asked to carry. */
#define LEAST_BPS (1e6 / 8)
#define MOST_BPS  (100e9 / 8)
#define MOST_NS   INT64_C(1000000000)

void testbed_init(struct testbed *testbed)
{
	*testbed = (struct testbed){.name = "testbed",
				    .hosts = 2,
				    .bandwidth_Bps = 1e9 / 8,
				    .slow_factor = 1};
}

enum dist_error testbed_read_name(const char *text, struct testbed *testbed,
				  struct dist_message *message)
{
	static const char *const legal = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t length = strlen(text);

	if (length == 0 || length >= sizeof testbed->name ||
	    text[strspn(text, legal)] != '\0')
		return dist__refuse(message,
				    "--name: expected 1 to 15 small letters "
				    "and digits, not \"%.40s\"",
				    text);
	strcpy(testbed->name, text);
	return DIST_OK;
}

static enum dist_error read_rate(const char *option, const char *text,
				 double *Bps, struct dist_message *message)
{
	static const struct dist__unit units[] = {{"kbit", 1e3 / 8},
						  {"mbit", 1e6 / 8},
						  {"gbit", 1e9 / 8},
						  {NULL, 0}};

	if (dist__quantity_read(text, units, Bps) && *Bps >= LEAST_BPS &&
	    *Bps <= MOST_BPS)
		return DIST_OK;
	return dist__refuse(message,
			    "%s: expected 1mbit to 100gbit, as tc writes them, "
			    "not \"%.40s\"",
			    option, text);
}

enum dist_error testbed_read_bandwidth(const char *text,
				       struct testbed *testbed,
				       struct dist_message *message)
{
	return read_rate("--bandwidth", text, &testbed->bandwidth_Bps, message);
}

enum dist_error testbed_read_goodput(const char *text,
				     struct testbed_wire *wire,
				     struct dist_message *message)
{
	return read_rate("--goodput", text, &wire->goodput_Bps, message);
}

enum dist_error testbed_read_delay(const char *text, struct testbed *testbed,
				   struct dist_message *message)
{
	static const struct dist__unit units[] = {
		{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
	double ns;

	if (!dist__quantity_read(text, units, &ns) || ns < 0 ||
	    ns > (double)MOST_NS)
		return dist__refuse(message,
				    "--delay: expected 0us to 1s, with its "
				    "unit, not \"%.40s\"",
				    text);
	testbed->delay_ns = (int64_t)ns;
	return DIST_OK;
}

enum dist_error testbed_read_topology(const char *text, struct testbed *testbed,
				      struct dist_message *message)
{
	static const char *const prefix = "oversubscribed";
	size_t length = strlen(prefix);

	testbed->ratio = 1;
	testbed->leaf_hosts = 2;
	if (strcmp(text, "star") == 0) {
		testbed->topology = TESTBED_STAR;
		testbed->leaf_hosts = 0;
		return DIST_OK;
	}
	if (strcmp(text, "tree") == 0) {
		testbed->topology = TESTBED_TREE;
		return DIST_OK;
	}
	testbed->topology = TESTBED_OVERSUBSCRIBED;
	testbed->ratio = 2;
	if (strcmp(text, prefix) == 0)
		return DIST_OK;
	if (strncmp(text, prefix, length) == 0 && text[length] == ':' &&
	    dist__number_read(text + length + 1, &testbed->ratio) &&
	    testbed->ratio >= 1 && testbed->ratio <= 64)
		return DIST_OK;
	return dist__refuse(
		message,
		"--topology: expected star, tree, oversubscribed or "
		"oversubscribed:RATIO with a ratio of 1 to 64, not \"%.40s\"",
		text);
}

enum dist_error testbed_read_slow(const char *text, struct testbed *testbed,
				  struct dist_message *message)
{
	const char *next = text;
	uint64_t host;
	double factor;

	if (dist__digits_step(&next, TESTBED_HOSTS - 1, &host) &&
	    *next++ == ':' && dist__number_read(next, &factor) &&
	    factor >= 0.01 && factor <= 1) {
		testbed->slow_host = (int)host;
		testbed->slow_factor = factor;
		return DIST_OK;
	}
	return dist__refuse(message,
			    "--slow: expected HOST:FACTOR, a host from 0 on "
			    "and a factor of 0.01 to 1, not \"%.40s\"",
			    text);
}

enum dist_error testbed_read_switch(const char *text, struct testbed *testbed,
				    struct dist_message *message)
{
	static const char *const names[] = {"auto", "kernel", "user"};

	for (int i = 0; i < 3; i++)
		if (strcmp(text, names[i]) == 0) {
			testbed->by = (enum testbed_switch)i;
			return DIST_OK;
		}
	return dist__refuse(
		message,
		"--switch: expected auto, kernel or user, not \"%.40s\"", text);
}

enum dist_error testbed_check(const struct testbed *testbed,
			      struct dist_message *message)
{
	if (testbed->hosts < 2 || testbed->hosts > TESTBED_HOSTS)
		return dist__refuse(message,
				    "--hosts: expected a number from 2 to %d",
				    TESTBED_HOSTS);
	if (testbed->slow_host >= testbed->hosts)
		return dist__refuse(message,
				    "--slow: expected a host from 0 to %d",
				    testbed->hosts - 1);
	if (testbed->mtu != 0 && (testbed->mtu < 1280 || testbed->mtu > 65535))
		return dist__refuse(message, "--mtu: expected 1280 to 65535");
	if (testbed->topology != TESTBED_STAR &&
	    testbed->hosts <= testbed->leaf_hosts)
		return dist__refuse(message,
				    "--topology: leaves of %d hosts need more "
				    "than %d hosts",
				    testbed->leaf_hosts, testbed->leaf_hosts);
	return DIST_OK;
}

int testbed_leaves(const struct testbed *testbed)
{
	if (testbed->topology == TESTBED_STAR)
		return 1;
	return (testbed->hosts + testbed->leaf_hosts - 1) / testbed->leaf_hosts;
}

double testbed_host_Bps(const struct testbed *testbed, int i)
{
	return testbed->bandwidth_Bps *
	       (i == testbed->slow_host ? testbed->slow_factor : 1);
}

double testbed_uplink_Bps(const struct testbed *testbed)
{
	return testbed->bandwidth_Bps * testbed->leaf_hosts / testbed->ratio;
}

void testbed_print(const struct testbed *testbed, FILE *out)
{
	static const char *const by[] = {"", "the kernel: veth, tbf",
					 "a process of Lockstep: TAP devices"};
	char address[16], name[TESTBED_NAME];

	fprintf(out, "%-10s %s\n", "test bed", testbed->name);
	fprintf(out, "%-10s %g Mbit/s each way, %g us from host to host\n",
		"links", testbed->bandwidth_Bps * 8e-6,
		(double)testbed->delay_ns * 1e-3);
	if (testbed->slow_factor < 1)
		fprintf(out, "%-10s host %d: %g Mbit/s\n", "slow",
			testbed->slow_host,
			testbed_host_Bps(testbed, testbed->slow_host) * 8e-6);
	if (testbed->topology != TESTBED_STAR)
		fprintf(out,
			"%-10s %d leaves of %d hosts, an uplink of %g Mbit/s\n",
			"tree", testbed_leaves(testbed), testbed->leaf_hosts,
			testbed_uplink_Bps(testbed) * 8e-6);
	fprintf(out, "%-10s %s%s\n", "shaped by", by[testbed->by],
		testbed->by == TESTBED_KERNEL && testbed->delay_ns > 0
			? ", netem"
			: "");
	for (int i = 0; i < testbed->hosts; i++) {
		testbed_address(i, address);
		testbed_namespace(testbed, i, name);
		fprintf(out, "host %-5d %-12s %s\n", i, address, name);
	}
}
