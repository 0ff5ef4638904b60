/*
 * main.c - fuzz TARGET|all|list [--seconds N] [--runs N] [--seed S]
 * [FILE|DIR...]
 *
 * Runs the target on every file of its corpus (of FILE and DIR, if given) as it
 * is, and then on mutated ones, for N seconds a target (10), or N runs. Every
 * input has a second of computing time (three with sanitizers), 20 s in all,
 * and 2 GiB of memory. One that crashes, hangs or makes its reader do what it
 * must not is kept in build/fuzz, with the command that repeats it. To be run
 * from the root of the repository. The status is 0 if nothing was found.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/target.h"
#include "base/random.h"

#define MOST_BYTES ((size_t)1 << 20)
#define MOST_FINDS 5
#define FINDS      "build/fuzz"

#ifdef __SANITIZE_ADDRESS__
#define CPU_SECONDS 3
#else
#define CPU_SECONDS 1
#endif

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "abort_on_error=1:hard_rss_limit_mb=2048:"
	       "max_allocation_size_mb=1024:allocator_may_return_null=1:"
	       "detect_leaks=1:color=never";
}

struct entry {
	uint8_t *data;
	size_t size;
};

struct corpus {
	struct entry *entries;
	size_t num;
};

/* What the process that runs the target tells the one that watches it. */
struct stage {
	size_t size; /* of the input that is being read */
	uint64_t runs;
	size_t next; /* file of the corpus to be run as it is */
	uint8_t data[MOST_BYTES];
};

struct options {
	double seconds;
	uint64_t runs; /* 0: as many as there is time for */
	uint64_t seed;
	bool as_they_are; /* no mutants */
	char **files;
	int num_files;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- the corpus --------------------------------------------------------- */

static void add_bytes(struct corpus *corpus, const void *data, size_t size)
{
	struct entry *grown =
		realloc(corpus->entries, (corpus->num + 1) * sizeof *grown);

	if (!grown)
		abort();
	corpus->entries = grown;
	grown[corpus->num].data = malloc(size + 1);
	if (!grown[corpus->num].data)
		abort();
	memcpy(grown[corpus->num].data, data, size);
	grown[corpus->num++].size = size;
}

static void add_file(struct corpus *corpus, const char *path)
{
	static uint8_t bytes[MOST_BYTES];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		return;
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	if (size < sizeof bytes)
		add_bytes(corpus, bytes, size);
}

static void add_pattern(struct corpus *corpus, const char *pattern)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat status;
		char inside[4096];

		if (stat(found.gl_pathv[i], &status) != 0)
			continue;
		if (S_ISREG(status.st_mode))
			add_file(corpus, found.gl_pathv[i]);
		snprintf(inside, sizeof inside, "%.4000s/*", found.gl_pathv[i]);
		if (S_ISDIR(status.st_mode))
			add_pattern(corpus, inside);
	}
	globfree(&found);
}

static struct corpus gather(const struct fuzz_target *target,
			    const struct options *options)
{
	struct corpus corpus = {NULL, 0};
	char own[256];

	snprintf(own, sizeof own, "tests/fuzz/corpus/%s/*", target->name);
	for (int i = 0; i < options->num_files; i++)
		add_pattern(&corpus, options->files[i]);
	if (options->num_files == 0) {
		add_pattern(&corpus, own);
		if (target->corpus && *target->corpus)
			add_pattern(&corpus, target->corpus);
	}
	if (corpus.num == 0)
		add_bytes(&corpus, "0", 1);
	return corpus;
}

static void release(struct corpus *corpus)
{
	for (size_t i = 0; i < corpus->num; i++)
		free(corpus->entries[i].data);
	free(corpus->entries);
}

/* ---- mutants ------------------------------------------------------------ */

static size_t below(uint64_t *state, size_t n)
{
	return n ? (size_t)(dist__random_next(state) % n) : 0;
}

/* Puts len bytes in place of cut ones at `at`, as far as there is room. */
static void splice(struct stage *stage, size_t at, size_t cut,
		   const void *bytes, size_t len)
{
	if (stage->size - cut + len > MOST_BYTES)
		return;
	memmove(stage->data + at + len, stage->data + at + cut,
		stage->size - at - cut);
	memcpy(stage->data + at, bytes, len);
	stage->size += len - cut;
}

/* The number or word around `at`: where it begins, and its length. */
static size_t word_at(const struct stage *stage, size_t at, size_t *len)
{
	static const char inner[] = "0123456789.eE+-_abcdfghijklmnopqrstuvwxyz";
	size_t begin = at, end = at;

	while (begin > 0 && stage->data[begin - 1] &&
	       strchr(inner, stage->data[begin - 1]))
		begin--;
	while (end < stage->size && stage->data[end] &&
	       strchr(inner, stage->data[end]))
		end++;
	*len = end - begin;
	return begin;
}

/* What readers stumble over. */
static const char *const text[] = {"0",
				   "-1",
				   "1",
				   "2147483647",
				   "4294967295",
				   "1e308",
				   "1e-308",
				   "nan",
				   "inf",
				   "",
				   "18446744073709551615",
				   "[",
				   "{",
				   "\"",
				   "\xff",
				   "\033[2J",
				   "&a",
				   "*a",
				   "\t",
				   "\n",
				   "null",
				   "true",
				   "<a>",
				   "-",
				   "0x10",
				   "9e99",
				   "\\u0000",
				   "\xef\xbb\xbf"};

static void mutate_once(uint64_t *state, struct stage *stage,
			const struct corpus *corpus)
{
	static uint8_t piece[MOST_BYTES];
	const struct entry *other = &corpus->entries[below(state, corpus->num)];
	const char *word = text[below(state, sizeof text / sizeof *text)];
	size_t at = below(state, stage->size + 1), len, from;

	switch (below(state, 10)) {
	case 0: /* a bit */
		if (at < stage->size)
			stage->data[at] ^= (uint8_t)(1u << below(state, 8));
		break;
	case 1: /* a byte */
		if (at < stage->size)
			stage->data[at] = (uint8_t)dist__random_next(state);
		break;
	case 2: /* cut off */
		if (below(state, 4) == 0)
			stage->size = at;
		break;
	case 3: /* a piece left out */
		len = below(state, 64);
		if (at + len <= stage->size)
			splice(stage, at, len, "", 0);
		break;
	case 4: /* a piece again, elsewhere */
		from = below(state, stage->size + 1);
		len = below(state, stage->size - from + 1);
		len = below(state, 4) ? len % 64 : len;
		memcpy(piece, stage->data + from, len);
		splice(stage, at, 0, piece, len);
		break;
	case 5: /* a piece of another */
		/* NOLINTNEXTLINE: gather() leaves one entry at least */
		from = below(state, other->size + 1);
		len = below(state, other->size - from + 1);
		len = below(state, 4) ? len % 128 : len;
		splice(stage, at, 0, other->data + from, len);
		break;
	case 6: /* a word put in */
		splice(stage, at, 0, word, strlen(word));
		break;
	case 7: /* the same many times */
		if (below(state, 16) || !*word)
			break;
		len = below(state, 65536);
		for (size_t i = 0; i < len; i++)
			piece[i] = (uint8_t)word[i % strlen(word)];
		splice(stage, at, 0, piece, len);
		break;
	default: /* a word in place of another */
		from = word_at(stage, at, &len);
		splice(stage, from, len, word, strlen(word));
	}
}

static void mutate(uint64_t *state, struct stage *stage,
		   const struct corpus *corpus)
{
	const struct entry *entry = &corpus->entries[below(state, corpus->num)];
	size_t times = 1 + below(state, below(state, 4) ? 3 : 16);

	memcpy(stage->data, entry->data, entry->size);
	stage->size = entry->size;
	for (size_t i = 0; i < times; i++)
		mutate_once(state, stage, corpus);
}

/* ---- running ------------------------------------------------------------ */

static void run_one(const struct fuzz_target *target, const struct stage *stage)
{
	const struct itimerval cpu = {.it_value.tv_sec = CPU_SECONDS};
	const struct itimerval none = {.it_value.tv_sec = 0};
	/* A copy of its own, so that a read past its end is seen. */
	uint8_t *data = malloc(stage->size ? stage->size : 1);

	if (!data)
		abort();
	memcpy(data, stage->data, stage->size);
	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm(20);
	(void)target->run(data, stage->size);
	alarm(0);
	setitimer(ITIMER_PROF, &none, NULL);
	free(data);
}

/* Runs until time or the number of runs is over, or an input ends it. */
static void serve(const struct fuzz_target *target, const struct corpus *corpus,
		  const struct options *options, struct stage *stage,
		  double until)
{
	const struct rlimit no_core = {0, 0};
	uint64_t state = options->seed + stage->runs;

	setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_AS,
		  &(struct rlimit){(rlim_t)2 << 30, (rlim_t)2 << 30});
#endif
	while (stage->next < corpus->num) {
		const struct entry *entry = &corpus->entries[stage->next++];

		memcpy(stage->data, entry->data, entry->size);
		stage->size = entry->size;
		stage->runs++;
		run_one(target, stage);
	}
	while (!options->as_they_are && now() < until &&
	       (!options->runs || stage->runs < options->runs)) {
		mutate(&state, stage, corpus);
		stage->runs++;
		run_one(target, stage);
	}
}

static void keep(const struct fuzz_target *target, const struct stage *stage,
		 int status, const char *program)
{
	char path[256];
	FILE *out;

	mkdir("build", 0777);
	mkdir(FINDS, 0777);
	snprintf(path, sizeof path, FINDS "/%s-%llu", target->name,
		 (unsigned long long)stage->runs);
	out = fopen(path, "wb");
	if (!out || fwrite(stage->data, 1, stage->size, out) != stage->size ||
	    fclose(out) != 0)
		printf("fuzz: %s cannot be written\n", path);
	if (!WIFSIGNALED(status))
		printf("fuzz: %s: ended with %d", target->name,
		       WEXITSTATUS(status));
	else if (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM)
		printf("fuzz: %s: takes too long", target->name);
	else
		printf("fuzz: %s: signal %d", target->name, WTERMSIG(status));
	printf("; again: %s %s --as-they-are %s\n", program, target->name,
	       path);
}

/* Returns how many inputs were found. */
static int fuzz(const struct fuzz_target *target, const struct options *options,
		const char *program, struct stage *stage)
{
	struct corpus corpus = gather(target, options);
	double until = now() + options->seconds;
	int finds = 0, status;
	bool over = false;

	stage->runs = stage->next = 0;
	while (!over && finds < MOST_FINDS) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			serve(target, &corpus, options, stage, until);
			release(&corpus);
			exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			abort();
		over = status == 0;
		if (over)
			break;
		keep(target, stage, status, program);
		finds++;
	}
	printf("fuzz: %s: %llu inputs, %d finds\n", target->name,
	       (unsigned long long)stage->runs, finds);
	release(&corpus);
	return finds;
}

/* ---- the command -------------------------------------------------------- */

static int usage(void)
{
	fputs("usage: fuzz TARGET|all [--seconds N] [--runs N] [--seed S] "
	      "[--as-they-are] [FILE|DIR...]\ntargets:",
	      stderr);
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		fprintf(stderr, " %s", t->name);
	fputc('\n', stderr);
	return 2;
}

static int list(void)
{
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		puts(t->name);
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = {.seconds = 10, .seed = 1};
	struct stage *stage = mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i = 2, finds = 0;
	bool any = false;

	if (argc < 2 || stage == MAP_FAILED)
		return usage();
	if (strcmp(argv[1], "list") == 0)
		return list();
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		const char *value = argv[i + 1];

		if (strcmp(argv[i], "--as-they-are") == 0)
			options.as_they_are = true;
		else if (!value)
			return usage();
		else if (strcmp(argv[i], "--seconds") == 0)
			options.seconds = strtod(argv[++i], NULL);
		else if (strcmp(argv[i], "--runs") == 0)
			options.runs = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--seed") == 0)
			options.seed = strtoull(argv[++i], NULL, 10);
		else
			return usage();
	}
	options.files = argv + i;
	options.num_files = argc - i;
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++) {
		if (strcmp(argv[1], "all") != 0 &&
		    strcmp(argv[1], t->name) != 0)
			continue;
		any = true;
		finds += fuzz(t, &options, argv[0], stage);
	}
	return any ? finds > 0 : usage();
}
