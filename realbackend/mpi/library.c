/* library.c - finds MPI, Open MPI's or MPICH's, and its constants. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "realbackend/mpi/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A variable that is set and not empty, or NULL. */
static const char *text_of(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

/* ---- functions --------------------------------------------------------- */

#define MPI(name, ...)                                                         \
	{"MPI_" #name, offsetof(struct dist__mpi_functions, name)},

static const struct {
	const char *name;
	size_t offset;
} functions[] = {DIST__MPI_FUNCTIONS(MPI)};

/* ---- constants of MPICH ------------------------------------------------ */

/* tests/mpi/header_check.c holds them against its header. */
static const struct dist__mpi_constants mpich_constants = {
	.comm_world = DIST__MPICH_COMM_WORLD,
	.errors_return = DIST__MPICH_ERRORS_RETURN,
	.types =
		{
			[DIST_FLOAT32] = DIST__MPICH_FLOAT,
			[DIST_FLOAT64] = DIST__MPICH_DOUBLE,
			[DIST_INT8] = DIST__MPICH_INT8,
			[DIST_INT16] = DIST__MPICH_INT16,
			[DIST_INT32] = DIST__MPICH_INT32,
			[DIST_INT64] = DIST__MPICH_INT64,
			[DIST_UINT8] = DIST__MPICH_UINT8,
			[DIST_UINT16] = DIST__MPICH_UINT16,
			[DIST_UINT32] = DIST__MPICH_UINT32,
			[DIST_UINT64] = DIST__MPICH_UINT64,
		},
	.ops =
		{
			[DIST_MAX] = DIST__MPICH_MAX,
			[DIST_MIN] = DIST__MPICH_MIN,
			[DIST_SUM] = DIST__MPICH_SUM,
			[DIST_PRODUCT] = DIST__MPICH_PROD,
			[DIST_BAND] = DIST__MPICH_BAND,
			[DIST_BOR] = DIST__MPICH_BOR,
			[DIST_BXOR] = DIST__MPICH_BXOR,
		},
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): its header has a number */
	.in_place = (void *)-1,
	.status_ignore = (void *)1,
	.handle_bytes = sizeof(int),
};

/* ---- constants of Open MPI --------------------------------------------- */

/* Its handles are addresses of these. */
static const struct {
	const char *name;
	size_t offset;
} openmpi_symbols[] = {
#define IS(symbol, member)                                                     \
	{                                                                      \
		"ompi_mpi_" symbol,                                            \
			offsetof(struct dist__mpi_constants, member)           \
	}
	IS("comm_world", comm_world),       IS("errors_return", errors_return),
	IS("float", types[DIST_FLOAT32]),   IS("double", types[DIST_FLOAT64]),
	IS("int8_t", types[DIST_INT8]),     IS("int16_t", types[DIST_INT16]),
	IS("int32_t", types[DIST_INT32]),   IS("int64_t", types[DIST_INT64]),
	IS("uint8_t", types[DIST_UINT8]),   IS("uint16_t", types[DIST_UINT16]),
	IS("uint32_t", types[DIST_UINT32]), IS("uint64_t", types[DIST_UINT64]),
	IS("op_max", ops[DIST_MAX]),        IS("op_min", ops[DIST_MIN]),
	IS("op_sum", ops[DIST_SUM]),        IS("op_prod", ops[DIST_PRODUCT]),
	IS("op_band", ops[DIST_BAND]),      IS("op_bor", ops[DIST_BOR]),
	IS("op_bxor", ops[DIST_BXOR]),
#undef IS
};

static const char *openmpi_constants(void *library,
				     struct dist__mpi_constants *is)
{
	memset(is, 0, sizeof *is);
	for (size_t i = 0; i < COUNT(openmpi_symbols); i++) {
		uintptr_t at =
			(uintptr_t)dlsym(library ? library : RTLD_DEFAULT,
					 openmpi_symbols[i].name);

		if (!at)
			return openmpi_symbols[i].name;
		memcpy((char *)is + openmpi_symbols[i].offset, &at, sizeof at);
	}
	is->in_place = (void *)1;
	is->status_ignore = NULL;
	is->handle_bytes = sizeof(void *);
	return NULL;
}

/* ---- which ------------------------------------------------------------- */

/* The two, in the order in which they are looked for. */
enum which { OPENMPI, MPICH, NEITHER };

static const struct {
	const char *word; /* LOCKSTEP_MPI's */
	const char *name;
	const char *const files[3];
} both[] = {
	[OPENMPI] = {"openmpi", "Open MPI", {"libmpi.so.40"}},
	[MPICH] = {"mpich", "MPICH", {"libmpich.so.12", "libmpi.so.12"}},
};

static bool is_number(const char *name, const char *other)
{
	const char *a = text_of(name), *b = text_of(other);

	return a && (!b || strcmp(a, b) == 0);
}

/* The mpirun that started this process as the rank that it is. */
static enum which launcher(void)
{
	if (is_number("OMPI_COMM_WORLD_RANK", "RANK") &&
	    is_number("OMPI_COMM_WORLD_SIZE", "WORLD_SIZE"))
		return OPENMPI;
	if (is_number("PMI_RANK", "RANK") &&
	    is_number("PMI_SIZE", "WORLD_SIZE"))
		return MPICH;
	return NEITHER;
}

bool dist__mpi_launched(void)
{
	return launcher() != NEITHER;
}

/* The library called word; NEITHER: that is none. */
static enum which find_word(const char *word)
{
	enum which which = OPENMPI;

	while (which < NEITHER && strcmp(word, both[which].word) != 0)
		which++;
	return which;
}

bool dist__mpi_is_set_well(struct dist_message *why)
{
	const char *word = text_of("LOCKSTEP_MPI");
	const char *threads = text_of("LOCKSTEP_MPI_THREADS");

	if (word && find_word(word) == NEITHER) {
		snprintf(why->text, sizeof why->text,
			 "LOCKSTEP_MPI is \"%.64s\": expected openmpi or mpich",
			 word);
		return false;
	}
	if (!threads || strcmp(threads, "serialized") == 0 ||
	    strcmp(threads, "funneled") == 0)
		return true;
	snprintf(why->text, sizeof why->text,
		 "LOCKSTEP_MPI_THREADS is \"%.64s\": expected serialized or "
		 "funneled",
		 threads);
	return false;
}

/* What is asked for; false: that is against the mpirun. */
static bool choose(enum which *which, struct dist_message *why)
{
	const char *word = text_of("LOCKSTEP_MPI");
	enum which asked = word ? find_word(word) : NEITHER;

	*which = launcher();
	if (asked == NEITHER || asked == *which)
		return true;
	if (*which == NEITHER) {
		*which = asked;
		return true;
	}
	snprintf(why->text, sizeof why->text,
		 "LOCKSTEP_MPI is %s, but the mpirun of %s started this rank",
		 word, both[*which].name);
	return false;
}

/* ---- loading ----------------------------------------------------------- */

/* SimGrid brings an MPI of its own, for simulations: not the one that is meant,
 * nor to be called by the one that is. */
static bool has_simgrid(void)
{
	return dlsym(RTLD_DEFAULT, "SMPI_app_instance_register") != NULL;
}

/* Open MPI's plugins look for what is theirs among the global names. */
static void *open_one(enum which which, char *tried, size_t size)
{
	int flags =
		RTLD_NOW | RTLD_GLOBAL | (has_simgrid() ? RTLD_DEEPBIND : 0);
	void *library = NULL;

	for (int i = 0; i < 3 && both[which].files[i] && !library; i++) {
		library = dlopen(both[which].files[i], flags);
		if (!library)
			(void)dist__append(tried, size, "%s%s",
					   *tried ? ", " : "",
					   both[which].files[i]);
	}
	return library;
}

/* Whether the Open MPI of that version has no process manager but PMIx, which
 * is its mpirun's. */
static bool is_late(const char *version)
{
	return version[strcspn(version, "0123456789")] > '4';
}

/* Whether the Open MPI that is there, if any, begins under its own mpirun
 * alone. Its names stay its own. */
static bool needs_mpirun(void)
{
	void *library = dlopen(both[OPENMPI].files[0], RTLD_LAZY | RTLD_LOCAL);
	int (*get)(char *, int *) = NULL;
	void *address =
		library ? dlsym(library, "MPI_Get_library_version") : NULL;
	char text[8192] = "";
	int len = 0;

	memcpy(&get, &address, sizeof get);
	if (get)
		(void)get(text, &len);
	if (library)
		dlclose(library);
	return is_late(text);
}

/* Stores the library, NULL for the program's own names; false: why says it. */
static bool open_library(enum which *which, void **library,
			 struct dist_message *why)
{
	char tried[128] = "";
	enum which asked;

	*library = NULL;
	if (!has_simgrid() && dlsym(RTLD_DEFAULT, "MPI_Init_thread")) {
		*which = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") ? OPENMPI
								    : MPICH;
		return true;
	}
#ifdef __SANITIZE_ADDRESS__
	/* Its realloc() moves what Open MPI 4.1.4 still reads
	 * (opal_pmix_base_partial_commit_packed). */
	snprintf(why->text, sizeof why->text,
		 "no MPI with the address sanitizer, under which Open MPI "
		 "fails");
	return false;
#endif
	if (!choose(&asked, why))
		return false;
	if (asked == NEITHER && needs_mpirun()) {
		*which = MPICH;
		*library = open_one(MPICH, tried, sizeof tried);
		tried[0] = '\0';
	}
	for (enum which i = OPENMPI; i < NEITHER && !*library; i++)
		if (asked == NEITHER || asked == i) {
			*which = i;
			*library = open_one(i, tried, sizeof tried);
		}
	if (!*library)
		snprintf(why->text, sizeof why->text,
			 "no %s: looked for %s; try \"apt-get install %s\"",
			 asked == NEITHER ? "MPI" : both[asked].name, tried,
			 asked == MPICH ? "libmpich12" : "libopenmpi3");
	return *library != NULL;
}

/* Its first line, cut at a comma or tab: "Open MPI v4.1.4", "MPICH Version:
 * 4.0.2". */
static void read_version(struct dist__mpi *mpi)
{
	char text[8192] = "";
	const char *number;
	int len = 0;

	(void)mpi->call.Get_library_version(text, &len);
	number = text + strcspn(text, "0123456789\n");
	snprintf(mpi->version, sizeof mpi->version, "%s %.*s", mpi->name,
		 (int)strspn(number, "0123456789.abcrc"), number);
}

static bool load(struct dist__mpi *mpi, struct dist_message *why)
{
	enum which which = NEITHER;
	void *library, *address;
	const char *missing = NULL;

	if (!open_library(&which, &library, why))
		return false;
	for (size_t i = 0; i < COUNT(functions) && !missing; i++) {
		address = dlsym(library ? library : RTLD_DEFAULT,
				functions[i].name);
		if (!address)
			missing = functions[i].name;
		memcpy((char *)&mpi->call + functions[i].offset, &address,
		       sizeof address);
	}
	mpi->is_openmpi = which == OPENMPI;
	mpi->name = both[which].name;
	mpi->is = mpich_constants;
	if (!missing && mpi->is_openmpi)
		missing = openmpi_constants(library, &mpi->is);
	if (missing) {
		snprintf(why->text, sizeof why->text,
			 "the %s that was found has no %s: expected MPI 3.1 or "
			 "newer",
			 mpi->name, missing);
		return false;
	}
	read_version(mpi);
	if (library && mpi->is_openmpi && is_late(mpi->version) &&
	    !dist__mpi_launched()) {
		snprintf(why->text, sizeof why->text,
			 "%s begins under its own mpirun alone: try "
			 "\"mpirun -n 4 lockstep run --backend mpi ...\", or "
			 "LOCKSTEP_MPI=mpich",
			 mpi->version);
		return false;
	}
	/* Ubuntu 24.04's, which its own mpirun starts as jobs of one rank. */
	if (library && !mpi->is_openmpi && dlsym(library, "PMIx_Init") &&
	    !dist__mpi_launched()) {
		snprintf(
			why->text, sizeof why->text,
			"%s was built for PMIx: it begins under a launcher "
			"that has it alone, such as srun --mpi=pmix: try that, "
			"or LOCKSTEP_MPI=openmpi",
			mpi->version);
		return false;
	}
	return true;
}

struct dist__mpi *dist__mpi_load(struct dist_message *why)
{
	static struct dist__mpi mpi = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	static bool is_loaded;

	why->text[0] = '\0';
	if (!is_loaded)
		is_loaded = load(&mpi, why);
	return is_loaded ? &mpi : NULL;
}

enum dist_error dist__mpi_check(const struct dist__mpi *mpi,
				struct dist_message *text, const char *call,
				int status)
{
	char said[512] = "";
	int len = 0;

	if (status == 0)
		return DIST_OK;
	(void)mpi->call.Error_string(status, said, &len);
	snprintf(text->text, sizeof text->text, "%s of %s: %.300s", call,
		 mpi->version, said);
	return DIST_ERR_IO;
}
