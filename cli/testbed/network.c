/* network.c - a test bed made and removed, by iproute2's ip and tc. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/refuse.h"
#include "cli/testbed/process.h"

#define SPACES "/run/netns"

/* Words of one command. */
#define MOST_WORDS 24

void testbed_address(int host, char *address)
{
	snprintf(address, 16, "10.77.0.%d", (host + 1) & 0xff);
}

void testbed_namespace(const struct testbed *testbed, int host, char *name)
{
	if (host < 0)
		snprintf(name, TESTBED_NAME, "lockstep-%s-net", testbed->name);
	else
		snprintf(name, TESTBED_NAME, "lockstep-%s-%d", testbed->name,
			 host);
}

/* Runs a command given as one text, words apart by spaces. */
__attribute__((format(printf, 2, 3))) static enum dist_error
run(struct dist_message *message, const char *format, ...)
{
	const char *words[MOST_WORDS + 1];
	char text[512], *rest = NULL;
	size_t n = 0;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (char *word = strtok_r(text, " ", &rest); word && n < MOST_WORDS;
	     word = strtok_r(NULL, " ", &rest))
		words[n++] = word;
	words[n] = NULL;
	return testbed_command(words, message);
}

/* ---- what it was made as ------------------------------------------------- */

static void state_path(const char *name, char *path, size_t size)
{
	snprintf(path, size, "/run/lockstep-testbed.%s", name);
}

static enum dist_error save(const struct testbed *testbed,
			    struct dist_message *message)
{
	char path[64];
	FILE *file;

	state_path(testbed->name, path, sizeof path);
	file = fopen(path, "w");
	if (file) {
		bool wrote = fwrite(testbed, sizeof *testbed, 1, file) == 1;

		if (fclose(file) == 0 && wrote)
			return DIST_OK;
	}
	return dist__refuse_as(message, DIST_ERR_IO, "%s: %s", path,
			       strerror(errno));
}

/* Whether a test bed of that name was begun: its first namespace is there. */
static bool is_begun(const char *name)
{
	char path[sizeof SPACES + TESTBED_NAME];

	snprintf(path, sizeof path, SPACES "/lockstep-%s-net", name);
	return access(path, F_OK) == 0;
}

enum dist_error testbed_find(const char *name, struct testbed *testbed,
			     struct dist_message *message)
{
	bool found = false;
	char path[64];
	FILE *file;

	state_path(name, path, sizeof path);
	file = fopen(path, "r");
	if (file) {
		found = fread(testbed, sizeof *testbed, 1, file) == 1;
		fclose(file);
	}
	if (found && strcmp(testbed->name, name) == 0)
		return DIST_OK;
	return dist__refuse(message,
			    is_begun(name)
				    ? "test bed \"%s\" was not finished: "
				      "lockstep testbed down removes it"
				    : "there is no test bed \"%s\": lockstep "
				      "testbed up makes one",
			    name);
}

/* ---- down ---------------------------------------------------------------- */

/* Ends what runs in a namespace: the switch, and commands left behind. */
static void kill_all(const char *space)
{
	char command[320];
	FILE *list;
	long pid;

	snprintf(command, sizeof command, "ip netns pids %s", space);
	list = popen(command, "r"); /* NOLINT(cert-env33-c) */
	if (!list)
		return;
	while (fscanf(list, "%ld", &pid) == 1)
		(void)kill((pid_t)pid, SIGKILL);
	pclose(list);
}

enum dist_error testbed_down(const char *name, bool *found,
			     struct dist_message *message)
{
	char prefix[TESTBED_NAME], path[64];
	enum dist_error error = DIST_OK;
	struct dirent *entry;
	DIR *spaces;

	*found = false;
	snprintf(prefix, sizeof prefix, "lockstep-%s-", name);
	spaces = opendir(SPACES);
	while (spaces && (entry = readdir(spaces))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		*found = true;
		kill_all(entry->d_name);
		if (!error)
			error = run(message, "ip netns del %s", entry->d_name);
	}
	if (spaces)
		closedir(spaces);
	state_path(name, path, sizeof path);
	(void)remove(path);
	return error;
}

/* ---- up ------------------------------------------------------------------ */

/* Shapes a device: a burst is a millisecond, or the longest packet that the
 * kernel passes whole. The delay is the sender's alone. */
static enum dist_error shape(const char *space, const char *device,
			     double bandwidth_Bps, int64_t delay_ns,
			     struct dist_message *message)
{
	double burst = bandwidth_Bps * 1e-3;
	enum dist_error error;

	if (burst < 66000)
		burst = 66000;
	error = run(message,
		    "tc -n %s qdisc add dev %s root handle 1: tbf rate %.0fbit "
		    "burst %.0f latency 50ms",
		    space, device, bandwidth_Bps * 8, burst);
	if (!error && delay_ns > 0)
		error = run(message,
			    "tc -n %s qdisc add dev %s parent 1:1 handle 10: "
			    "netem delay %.3fus limit 100000",
			    space, device, (double)delay_ns * 1e-3);
	return error;
}

/* A bridge for every leaf and, in a tree, one above them. */
static enum dist_error make_bridges(const struct testbed *testbed,
				    const char *net,
				    struct dist_message *message)
{
	enum dist_error error = run(message, "ip -n %s link set lo up", net);
	int leaves = testbed_leaves(testbed);

	for (int leaf = 0; leaf < leaves && !error; leaf++) {
		error = run(message, "ip -n %s link add leaf%d type bridge",
			    net, leaf);
		if (!error)
			error = run(message, "ip -n %s link set leaf%d up", net,
				    leaf);
	}
	if (leaves == 1 || error)
		return error;
	error = run(message, "ip -n %s link add root type bridge", net);
	if (!error)
		error = run(message, "ip -n %s link set root up", net);
	for (int leaf = 0; leaf < leaves && !error; leaf++) {
		char up[16], down[16];

		snprintf(up, sizeof up, "up%d", leaf);
		snprintf(down, sizeof down, "down%d", leaf);
		error = run(message,
			    "ip -n %s link add %s type veth peer name %s", net,
			    up, down);
		if (!error)
			error = run(message,
				    "ip -n %s link set %s master leaf%d up",
				    net, up, leaf);
		if (!error)
			error = run(message,
				    "ip -n %s link set %s master root up", net,
				    down);
		if (!error)
			error = shape(net, up, testbed_uplink_Bps(testbed), 0,
				      message);
		if (!error)
			error = shape(net, down, testbed_uplink_Bps(testbed), 0,
				      message);
	}
	return error;
}

/* Gives host i its device by the kernel. */
static enum dist_error plug_in(const struct testbed *testbed, int i,
			       const char *net, struct dist_message *message)
{
	int leaf =
		testbed->topology == TESTBED_STAR ? 0 : i / testbed->leaf_hosts;
	char space[TESTBED_NAME], port[16];
	enum dist_error error;

	testbed_namespace(testbed, i, space);
	snprintf(port, sizeof port, "port%d", i);
	error = run(message,
		    "ip -n %s link add %s mtu %d type veth peer name net0 mtu "
		    "%d netns %s",
		    net, port, testbed->mtu, testbed->mtu, space);
	if (!error)
		error = run(message, "ip -n %s link set %s master leaf%d up",
			    net, port, leaf);
	if (!error)
		error = shape(net, port, testbed_host_Bps(testbed, i), 0,
			      message);
	if (!error)
		error = shape(space, "net0", testbed_host_Bps(testbed, i),
			      testbed->delay_ns, message);
	return error;
}

static enum dist_error configure(const struct testbed *testbed, int i,
				 struct dist_message *message)
{
	char space[TESTBED_NAME], address[16];
	enum dist_error error;

	testbed_namespace(testbed, i, space);
	testbed_address(i, address);
	error = run(message, "ip -n %s link set lo up", space);
	if (!error)
		error = run(message, "ip -n %s addr add %s/24 dev net0", space,
			    address);
	if (!error)
		error = run(message,
			    "ip -n %s link set net0 mtu %d txqueuelen 10000 up",
			    space, testbed->mtu);
	return error;
}

/* Makes the namespaces, the devices by what testbed->by says, addresses. */
static enum dist_error make(struct testbed *testbed,
			    struct dist_message *message)
{
	bool kernel = testbed->by == TESTBED_KERNEL;
	char net[TESTBED_NAME], space[TESTBED_NAME];
	enum dist_error error;

	if (testbed->mtu == 0)
		testbed->mtu = kernel ? 1500 : 9000;
	testbed_namespace(testbed, -1, net);
	error = run(message, "ip netns add %s", net);
	for (int i = 0; i < testbed->hosts && !error; i++) {
		testbed_namespace(testbed, i, space);
		error = run(message, "ip netns add %s", space);
	}
	if (!error)
		error = kernel ? make_bridges(testbed, net, message)
			       : testbed_switch_start(testbed, message);
	for (int i = 0; i < testbed->hosts && !error; i++) {
		if (kernel)
			error = plug_in(testbed, i, net, message);
		if (!error)
			error = configure(testbed, i, message);
	}
	return error ? error : save(testbed, message);
}

/* Whether the kernel has a queueing discipline, on a device of the switch. */
static bool kernel_has(const char *net, const char *discipline)
{
	struct dist_message message;
	enum dist_error error = run(
		&message, "tc -n %s qdisc add dev lo root %s", net, discipline);

	if (!error)
		(void)run(&message, "tc -n %s qdisc del dev lo root", net);
	return !error;
}

/* Tries what the machine has, in a namespace that goes at once. */
static enum dist_error choose(struct testbed *testbed,
			      struct dist_message *message)
{
	char net[TESTBED_NAME];
	bool kernel;

	testbed_namespace(testbed, -1, net);
	if (run(message, "ip netns add %s", net))
		return DIST_ERR_UNAVAILABLE;
	kernel = kernel_has(net, "tbf rate 1gbit burst 66000 latency 50ms") &&
		 (testbed->delay_ns == 0 || kernel_has(net, "netem delay 1ms"));
	(void)run(message, "ip netns del %s", net);
	if (testbed->by == TESTBED_KERNEL && !kernel)
		return dist__refuse_as(
			message, DIST_ERR_UNAVAILABLE,
			"this kernel has no %s: try --switch user",
			testbed->delay_ns ? "tbf or netem" : "tbf");
	if (testbed->by == TESTBED_AUTO)
		testbed->by = kernel && access("/dev/net/tun", F_OK) != 0
				      ? TESTBED_KERNEL
				      : TESTBED_USER;
	return DIST_OK;
}

enum dist_error testbed_up(struct testbed *testbed,
			   struct dist_message *message)
{
	struct dist_message ignored;
	struct testbed other;
	enum dist_error error;
	bool found;

	if (geteuid() != 0)
		return dist__refuse_as(message, DIST_ERR_UNAVAILABLE,
				       "network namespaces need root");
	if (testbed_find(testbed->name, &other, &ignored) == DIST_OK)
		return dist__refuse(message,
				    "test bed \"%s\" is up: lockstep testbed "
				    "down removes it",
				    testbed->name);
	/* What a crash has left behind. */
	error = testbed_down(testbed->name, &found, message);
	if (!error)
		error = choose(testbed, message);
	if (!error) {
		error = make(testbed, message);
		if (error)
			(void)testbed_down(testbed->name, &found, &ignored);
	}
	return error;
}
