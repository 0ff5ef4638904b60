/* targets.c - the readers, each fed with bytes. */
#include "tests/fuzz/target.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "check/diagnosis.h"
#include "check/outputs.h"
#include "check/recorder/recorder.h"
#include "base/input.h"
#include "base/printable.h"
#include "coll/profile.h"
#include "model/llm/config.h"
#include "model/measured/collectives.h"
#include "model/measured/llm.h"
#include "model/measured/log.h"
#include "model/measured/machine.h"
#include "model/measured/steps.h"
#include "model/cluster/description.h"
#include "realbackend/wire/frame.h"
#include "realbackend/wire/transport.h"
#include "model/training/model.h"
#include "sim/platform/platform.h"
#include "cli/sweep/study.h"
#include "tests/support/board_fuzz.h"
#include "tests/support/dump_fuzz.h"
#include "tests/support/tcp_world.h"
#include "tests/support/wire_fuzz.h"
#include "trace/path.h"
#include "trace/points.h"
#include "trace/read.h"
#include "base/hash.h"

/* ---- what a reader may do ----------------------------------------------- */

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "fuzz: %s: %s\n", what, text);
	abort();
}

static const char *input_path(void)
{
	static char path[64];

	if (!path[0]) /* or of the parent, whose message it may be */
		snprintf(path, sizeof path, "/dev/shm/lockstep-fuzz-%ld.csv",
			 (long)getpid());
	return path;
}

static void write_input(const uint8_t *data, size_t size)
{
	FILE *out = fopen(input_path(), "wb");

	if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0)
		fail("no input", input_path());
}

/* What is refused is refused in one line that begins with the file, and that a
 * terminal only shows. */
static void check_refusal(enum dist_error error,
			  const struct dist_message *message)
{
	const char *path = input_path(), *text = message->text;
	struct dist_message shown = *message;
	size_t len = strlen(path);

	unlink(path);
	if (!error)
		return;
	if (error != DIST_ERR_INVALID_ARGUMENT && error != DIST_ERR_IO)
		fail(dist_error_string(error), text);
	if (strncmp(text, path, len) != 0 || text[len] != ':')
		fail("no file", text);
	if (strcmp(dist__printable(shown.text), text) != 0)
		fail("not a line of text", shown.text);
}

/* A target that loads the input into a `type`, and releases it as said. */
#define READER(read, type, load, release)                                      \
	static int read(const uint8_t *data, size_t size)                      \
	{                                                                      \
		struct dist_message message = {""};                            \
		/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */       \
		type into;                                                     \
		enum dist_error error;                                         \
                                                                               \
		write_input(data, size);                                       \
		error = load(&into, input_path(), &message);                   \
		if (!error)                                                    \
			(release);                                             \
		check_refusal(error, &message);                                \
		return 0;                                                      \
	}

/* ---- YAML --------------------------------------------------------------- */

static int read_profile(const uint8_t *data, size_t size)
{
	struct dist_message message = {""};
	struct dist__profile profile;
	enum dist_error error;

	write_input(data, size);
	dist__profile_init(&profile);
	error = dist__profile_load(&profile, input_path(), &message);
	dist__profile_release(&profile);
	check_refusal(error, &message);
	return 0;
}

READER(read_machine, struct machine, machine_load, (void)0)
READER(read_study, struct study, study_load, study_release(&into))

/* ---- tables ------------------------------------------------------------- */

READER(read_model, struct model, model_load, model_release(&into))
READER(read_collectives, struct collectives, collectives_load,
       dist__tsv_release(&into.tsv))
READER(read_steps, struct steps, steps_load, dist__tsv_release(&into.tsv))
READER(read_llm, struct llm_rows, llm_rows_load, dist__tsv_release(&into.tsv))
READER(read_recipes, struct llm_recipes, llm_recipes_load,
       dist__tsv_release(&into.tsv))
READER(read_config, struct llm_architecture, llm_config_read, (void)0)

static int read_log(const uint8_t *data, size_t size)
{
	static const struct log_facts facts = {
		.machine = "dgx-a100", .transport = "nccl", .library = "nccl"};
	struct dist_message message = {""};
	struct collectives table;
	struct log_notes notes;
	enum dist_error error;

	write_input(data, size);
	error = collectives_load_log(&table, input_path(), &facts, &notes,
				     &message);
	if (!error) {
		collectives_give_away(&table);
		dist__tsv_release(&table.tsv);
	}
	check_refusal(error, &message);
	return 0;
}

/* ---- traces ------------------------------------------------------------- */

static int read_trace(const uint8_t *data, size_t size)
{
	struct dist_message message = {""};
	struct dist__points points = {NULL};
	struct dist__trace trace;
	enum dist_error error;

	write_input(data, size);
	error = dist__trace_read(input_path(), &trace, &message);
	if (!error) {
		if (dist__points_of(&trace, &points) != DIST_OK)
			fail("points", "no memory");
		dist__points_release(&points);
		dist__trace_release(&trace);
	}
	check_refusal(error, &message);
	return 0;
}

/* Packed first, so that what is mutated is the text. */
static int read_packed_trace(const uint8_t *data, size_t size)
{
	static uint8_t packed[2 << 20];
	uLongf len = sizeof packed;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): zlib writes nothing */
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
		      .avail_in = (uInt)size,
		      .next_out = packed,
		      .avail_out = (uInt)len};

	if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		fail("zlib", "no memory");
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		z.total_out = 0;
	len = z.total_out;
	deflateEnd(&z);
	/* Now and then the packed bytes are damaged, too. */
	if (len > 20 && size % 4 == 0)
		packed[10 + data[size / 2] % (len - 10)] ^= 1;
	return read_trace(packed, len);
}

static int read_points(const uint8_t *data, size_t size)
{
	struct dist_message message = {""};
	struct dist__points points;
	enum dist_error error;

	write_input(data, size);
	error = dist__points_read(input_path(), &points, &message);
	dist__points_release(&points);
	check_refusal(error, &message);
	return 0;
}

/* ---- records ------------------------------------------------------------ */

static void judge(struct check_diagnosis *diagnosis)
{
	const struct check_outputs outputs = {.json = "/dev/null",
					      .sarif = "/dev/null"};
	struct check_verdict verdict = check_diagnose(diagnosis);
	const struct check_job job = {.board = diagnosis->board,
				      .facts = &diagnosis->facts,
				      .verdict = &verdict,
				      .world = diagnosis->world,
				      .outputs = &outputs};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	check_conclude(out, &job, NULL);
	fclose(out);
	if (dist__input_odd(text, len) != len)
		fail("not text", text);
	if (strstr(text, "/dev/null: cannot be written"))
		fail("outputs", text);
	free(text);
}

static int read_dump(const uint8_t *data, size_t size)
{
	struct check_diagnosis diagnosis = {.board = NULL};
	struct check_dump *dump = malloc(sizeof *dump);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): opened to be read */
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	char message[256] = "";

	if (dump && in && check_dump_read(in, dump, message) &&
	    check_diagnosis_add(&diagnosis, dump, message))
		judge(&diagnosis);
	else if (!message[0] || strchr(message, '\n'))
		fail("not a line", message);
	check_diagnosis_release(&diagnosis);
	if (in)
		fclose(in);
	free(dump);
	return 0;
}

/* The same bytes as the dumps of several ranks; of three in the default group,
 * two have them. */
static int read_recording(const uint8_t *data, size_t size)
{
	struct check_recorder *recorder = check_recorder_new();
	struct check_diagnosis diagnosis = {.board = NULL};
	int taken = 0;

	for (uint32_t rank = 0; recorder && rank < 2; rank++) {
		char message[256] = "";

		(void)check_recorder_knows((const char *)data, size);
		if (check_recorder_add(recorder, rank, (const char *)data, size,
				       INT64_MAX, message))
			taken++;
		else if (!message[0] ||
			 strcmp(dist__printable(message), message) != 0)
			fail("not a line", message);
	}
	if (taken > 0 && check_recorder_fill(recorder, &diagnosis))
		judge(&diagnosis);
	check_diagnosis_release(&diagnosis);
	check_recorder_free(recorder);
	return 0;
}

static int read_dumps(const uint8_t *data, size_t size)
{
	if (dump_fuzz_job(dist__hash_bytes(DIST__HASH_BEGIN, data, size)) < 0)
		fail("dumps", "a good one was refused");
	return 0;
}

static int read_board(const uint8_t *data, size_t size)
{
	const char *failure =
		board_fuzz_job(dist__hash_bytes(DIST__HASH_BEGIN, data, size));

	if (failure)
		fail("board", failure);
	return 0;
}

/* ---- the wire ----------------------------------------------------------- */

static int read_store(const uint8_t *data, size_t size)
{
	const char *failure = wire_fuzz_session(
		dist__hash_bytes(DIST__HASH_BEGIN, data, size));

	if (failure)
		fail("store", failure);
	return 0;
}

static int read_file_store(const uint8_t *data, size_t size)
{
	const char *failure = wire_fuzz_file(
		dist__hash_bytes(DIST__HASH_BEGIN, data, size), input_path());

	unlink(input_path());
	if (failure)
		fail("file store", failure);
	return 0;
}

/* Rank 1 of two waits for messages of a rank 0 that says, after a HELLO, what
 * the input is: frames, or anything. It dials rank 0, too, which does not
 * answer there: of two dials the lower rank's counts. */
static int read_frames(const uint8_t *data, size_t size)
{
	const struct dist__frame hello = {.kind = DIST__FRAME_HELLO,
					  .group = DIST__WIRE_VERSION,
					  .step = 2,
					  .fingerprint = 7};
	/* No memory is shared. */
	const struct dist__frame no = {.kind = DIST__FRAME_ANSWER};
	unsigned char bytes[DIST__FRAME_BYTES], payload[64];
	struct dist__message m = {.group = 1, .data = payload, .bytes = 16};
	struct dist__address addresses[2];
	struct dist__endpoint endpoint = {
		.rank = 1,
		.world_size = 2,
		.token = 7,
		.addresses = addresses,
		.secret = getenv("LOCKSTEP_SECRET"),
	};
	struct dist__transport *t;
	struct dist__request *request;
	struct dist_message message;
	char text[DIST__ADDRESS_TEXT];
	int fd, deaf;

	if (dist__socket_listen("127.0.0.1", 0, &deaf, &message) ||
	    dist__socket_listen("127.0.0.1", 0, &endpoint.listener, &message))
		fail("no listener", message.text);
	snprintf(text, sizeof text, "127.0.0.1 %d", dist__socket_port(deaf));
	fd = tcp_dial(dist__socket_port(endpoint.listener));
	if (fd < 0 || !dist__address_parse(text, &addresses[0]) ||
	    !dist__address_parse(text, &addresses[1]) ||
	    dist__tcp_transport_new(&endpoint, &t) != DIST_OK)
		fail("no world", text);
	dist__frame_encode(&hello, bytes);
	(void)!send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
	dist__frame_encode(&no, bytes);
	(void)!send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
	(void)!send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	for (int i = 0; i < 2; i++) {
		int64_t until_ns = t->ops->now_ns(t) + 2000000;

		if (t->ops->irecv(t, &m, &request) == DIST_OK)
			(void)t->ops->wait(t, request, until_ns);
	}
	close(fd);
	close(deaf);
	t->ops->free(t);
	return 0;
}

/* ---- platforms ---------------------------------------------------------- */

static int read_topology(const uint8_t *data, size_t size)
{
	struct platform_nodes node = {.count = 1};
	struct dist_message message = {""};
	enum dist_error error;

	write_input(data, size);
	error = platform_read_nccl(input_path(), &node, &message);
	check_refusal(error, &message);
	return 0;
}

/* SimGrid loads one platform a process. */
static int read_platform(const uint8_t *data, size_t size)
{
	struct dist__platform *platform = NULL;
	struct dist_message message = {""};
	enum dist_error error;
	int status;
	pid_t pid;

	write_input(data, size);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		error = dist__platform_open(input_path(), 2, NULL, false,
					    &platform, &message);
		check_refusal(error, &message);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		fail("platform", "its reader died");
	unlink(input_path());
	return 0;
}

/* ---- all of them -------------------------------------------------------- */

const struct fuzz_target fuzz_targets[] = {
	{"profile", read_profile, "scenarios/profiles/*.yaml"},
	{"machine", read_machine, "scenarios/machines/*.yaml"},
	{"study", read_study, "scenarios/studies/*.yaml"},
	{"model", read_model, "scenarios/models/*.csv"},
	{"collectives", read_collectives,
	 "scenarios/measured/collectives/*.tsv"},
	{"steps", read_steps, "scenarios/measured/steps/*.tsv"},
	{"llm", read_llm, "scenarios/measured/llm/*.tsv"},
	{"recipes", read_recipes, "scenarios/measured/llm-recipes/*.tsv"},
	{"config", read_config, "tests/support/tiny_*.json"},
	{"log", read_log, ""},
	{"trace", read_trace, ""},
	{"trace-gz", read_packed_trace, "tests/fuzz/corpus/trace/*"},
	{"expect", read_points, ""},
	{"dump", read_dump, ""},
	{"recorder", read_recording, ""},
	{"topology", read_topology, ""},
	{"platform", read_platform, "scenarios/platforms/*.xml"},
	{"dumps", read_dumps, NULL},
	{"board", read_board, NULL},
	{"store", read_store, NULL},
	{"file-store", read_file_store, NULL},
	{"frames", read_frames, ""},
	{NULL, NULL, NULL},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name = getenv("FUZZ_TARGET");

	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		if (name && strcmp(name, t->name) == 0)
			return t->run(data, size);
	fprintf(stderr, "fuzz: FUZZ_TARGET: expected the name of a target\n");
	exit(2);
}
