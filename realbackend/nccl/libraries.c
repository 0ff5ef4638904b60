#include "realbackend/nccl/libraries.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/variable.h"

/* Where one function of a library goes, in the table of that library. */
struct function {
	const char *name;
	size_t offset;
};

#define NCCL(type, name, ...)                                                  \
	{"nccl" #name, offsetof(struct dist__nccl_functions, name)},
#define CUDA(type, name, ...)                                                  \
	{"cuda" #name, offsetof(struct dist__cuda_functions, name)},
#define KERNEL(type, name, ...)                                                \
	{"cuda" #name, offsetof(struct dist__kernel_functions, name)},
static const struct function nccl_functions[] = {DIST__NCCL_FUNCTIONS(NCCL)};
static const struct function cuda_functions[] = {DIST__CUDA_FUNCTIONS(CUDA)};
static const struct function kernel_functions[] = {
	DIST__KERNEL_FUNCTIONS(KERNEL)};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A library, and the names it may go by. */
struct wanted {
	const char *name; /* for people */
	const char *variable;
	const char *least; /* the version that has all we need */
	const char *const *files;
	const struct function *functions;
	size_t num_functions;
};

static const struct wanted wanted_nccl = {
	"NCCL",
	"LOCKSTEP_NCCL_LIBRARY",
	"2.14",
	(const char *const[]){"libnccl.so.2", "libnccl.so", NULL},
	nccl_functions,
	COUNT(nccl_functions),
};

static const struct wanted wanted_cuda = {
	"CUDA runtime",
	"LOCKSTEP_CUDART_LIBRARY",
	"11.2",
	(const char *const[]){"libcudart.so.13", "libcudart.so.12",
			      "libcudart.so.11.0", "libcudart.so", NULL},
	cuda_functions,
	COUNT(cuda_functions),
};

/* The file that a library came from. */
struct path {
	char text[96];
};

/* ---- finding ----------------------------------------------------------- */

/* What was tried so far, as "libnccl.so.2, libnccl.so". */
struct search {
	char tried[320];
	char error[160]; /* the loader's about the last of them */
};

static void *try_file(struct search *search, const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (library)
		return library;
	snprintf(search->error, sizeof search->error, "%s", dlerror());
	(void)dist__append(search->tried, sizeof search->tried, "%s%s",
			   *search->tried ? ", " : "", file);
	return NULL;
}

/* By the loader's own rules, then where CUDA installs itself. */
static void *find(struct search *search, const struct wanted *wanted,
		  struct path *path)
{
	const char *home = dist__variable("CUDA_HOME");
	void *library = NULL;

	for (int i = 0; wanted->files[i] && !library; i++) {
		snprintf(path->text, sizeof path->text, "%s", wanted->files[i]);
		library = try_file(search, path->text);
	}
	if (!library) {
		snprintf(path->text, sizeof path->text, "%s/lib64/%s",
			 home ? home : "/usr/local/cuda", wanted->files[0]);
		library = try_file(search, path->text);
	}
	return library;
}

static void *open_library(const struct wanted *wanted, struct path *path,
			  struct dist_message *why)
{
	const char *given = dist__variable(wanted->variable);
	struct search search = {"", ""};
	void *library;

	if (given) {
		snprintf(path->text, sizeof path->text, "%s", given);
		library = try_file(&search, given);
	} else {
		library = find(&search, wanted, path);
	}
	if (!library)
		snprintf(why->text, sizeof why->text,
			 "no %s: looked for %s (%s)", wanted->name,
			 search.tried, search.error);
	return library;
}

/* ---- loading ----------------------------------------------------------- */

/* Fills table; returns the name of a function that is missing, or NULL. */
static const char *resolve(void *library, const struct function *functions,
			   size_t count, void *table)
{
	for (size_t i = 0; i < count; i++) {
		void *address = dlsym(library, functions[i].name);

		if (!address)
			return functions[i].name;
		memcpy((char *)table + functions[i].offset, &address,
		       sizeof address);
	}
	return NULL;
}

/* Returns the library, having filled table; NULL: why says it. */
static void *load(const struct wanted *wanted, void *table, struct path *path,
		  struct dist_message *why)
{
	void *library = open_library(wanted, path, why);
	const char *missing;

	if (!library)
		return NULL;
	missing = resolve(library, wanted->functions, wanted->num_functions,
			  table);
	if (!missing)
		return library;
	snprintf(why->text, sizeof why->text,
		 "the %s that was found (%s) has no %s: expected version %s "
		 "or newer",
		 wanted->name, path->text, missing, wanted->least);
	return NULL;
}

enum dist_error dist__libraries_load(struct dist__libraries *l,
				     struct dist_message *why)
{
	struct path path;
	int version = 0;
	void *cuda;

	memset(l, 0, sizeof *l);
	cuda = load(&wanted_cuda, &l->cuda, &path, why);
	if (!cuda)
		return DIST_ERR_UNAVAILABLE;
	if (resolve(cuda, kernel_functions, COUNT(kernel_functions),
		    &l->kernel))
		memset(&l->kernel, 0, sizeof l->kernel);
	(void)l->cuda.RuntimeGetVersion(&version);
	snprintf(l->cuda_text, sizeof l->cuda_text, "CUDA %d.%d (%s)",
		 version / 1000, version % 1000 / 10, path.text);
	if (!load(&wanted_nccl, &l->nccl, &path, why))
		return DIST_ERR_UNAVAILABLE;
	(void)l->nccl.GetVersion(&version);
	l->nccl_version = version;
	snprintf(l->nccl_text, sizeof l->nccl_text, "NCCL %d.%d.%d (%s)",
		 version / 10000, version % 10000 / 100, version % 100,
		 path.text);
	return DIST_OK;
}
