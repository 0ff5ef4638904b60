/* begin.c - begins MPI in this process, and ends it. */
#include "realbackend/mpi/begin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/refuse.h"
#include "realbackend/launch/cores.h"
#include "realbackend/mpi/folder.h"
#include "realbackend/mpi/pmi_server.h"
#include "realbackend/mpi/types.h"

/* A process is one rank. */
static struct dist__pmi_server *server;
static bool is_ours; /* MPI, to end */
static struct dist__folder folder = {.fd = -1};

/* ---- the manager -------------------------------------------------------- */

/* What tells MPI of it, and what would tell it of another. */
static const char *const names[] = {"PMI_FD",
				    "PMI_RANK",
				    "PMI_SIZE",
				    "FLUX_PMI_LIBRARY_PATH",
				    "PMI_PORT",
				    "OMPI_MCA_pmix",
				    "PMI_ID",
				    "FLUX_JOB_ID",
				    "OMPI_MCA_mpi_yield_when_idle",
				    "OMPI_MCA_orte_tmpdir_base",
				    "OMPI_MCA_btl_vader_backing_directory"};
#define NUM_NAMES (sizeof names / sizeof *names)

/* Sets a variable, NULL: to none. */
static void set(const char *name, const char *value)
{
	if (value)
		(void)setenv(name, value, 1);
	else
		(void)unsetenv(name);
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof text, "%d", number);
	(void)setenv(name, text, 1);
}

bool dist__mpi_has_room(const struct dist__place *place)
{
	int num = 0;

	for (int rank = 0; place->nodes && rank < place->world_size; rank++)
		num += place->nodes[rank] == place->nodes[place->rank];
	return num <= dist__cores();
}

static void make_folder(void)
{
	if (!dist__folder_open(&folder, dist__pmi_server_job(server)))
		return;
	set("OMPI_MCA_orte_tmpdir_base", folder.path);
	set("OMPI_MCA_btl_vader_backing_directory", folder.path);
}

static enum dist_error start_manager(const struct dist__mpi *mpi,
				     const struct dist__place *place,
				     struct dist_message *message)
{
	static const char *const places[] = {PMI_LIBRARY, "lib/" PMI_LIBRARY};
	char path[PATH_MAX];

	if (mpi->is_openmpi && !dist__data_above(places, path))
		return dist__refuse_as(message, DIST_ERR_UNAVAILABLE,
				       "no %s beside the library: try \"make\"",
				       PMI_LIBRARY);
	server = dist__pmi_server_new(place);
	if (!server)
		return dist__refuse_as(message, DIST_ERR_UNAVAILABLE,
				       "the ranks did not come to %s",
				       mpi->version);
	for (size_t i = 0; i < NUM_NAMES; i++)
		set(names[i], NULL);
	set_number("PMI_FD", dist__pmi_server_fd(server));
	set_number("PMI_RANK", place->rank);
	set_number("PMI_SIZE", place->world_size);
	if (mpi->is_openmpi) {
		set("FLUX_PMI_LIBRARY_PATH", path);
		/* A family of jobs, in 15 bits above 16, and the first of it.
		 */
		set_number("FLUX_JOB_ID",
			   (dist__pmi_server_job(server) & 0x7fff) << 16 | 1);
		/* Its own mpirun would say so, too. */
		if (!dist__mpi_has_room(place))
			set("OMPI_MCA_mpi_yield_when_idle", "1");
		make_folder();
		set("OMPI_MCA_pmix", "flux");
	}
	return DIST_OK;
}

/* Begins MPI, with the environment put back afterwards. */
static enum dist_error begin_managed(struct dist__mpi *mpi,
				     const struct dist__place *place,
				     int wanted, struct dist_message *message)
{
	char *before[NUM_NAMES];
	enum dist_error error;

	for (size_t i = 0; i < NUM_NAMES; i++) {
		before[i] = getenv(names[i]);
		before[i] = before[i] ? strdup(before[i]) : NULL;
	}
	error = start_manager(mpi, place, message);
	if (!error)
		error = dist__mpi_check(mpi, message, "MPI_Init_thread",
					mpi->call.Init_thread(NULL, NULL,
							      wanted,
							      &mpi->threads));
	for (size_t i = 0; i < NUM_NAMES; i++) {
		set(names[i], before[i]);
		free(before[i]);
	}
	return error ? DIST_ERR_UNAVAILABLE : DIST_OK;
}

/* ---- beginning ---------------------------------------------------------- */

static int threads_wanted(void)
{
	const char *text = getenv("LOCKSTEP_MPI_THREADS");

	return text && strcmp(text, "funneled") == 0 ? DIST__MPI_FUNNELED
						     : DIST__MPI_SERIALIZED;
}

/* An all-reduce in place, nonblocking, is a reduce and a broadcast of the whole
 * in Open MPI (nbc_iallreduce.c), which takes twice the time of Rabenseifner's
 * from 32 KiB on; that is number 3. Unless somebody chose. Returns whether it
 * is to be put back. */
static const char choice[] = "OMPI_MCA_coll_libnbc_iallreduce_algorithm";

static bool choose_all_reduce(const struct dist__mpi *mpi)
{
	if (!mpi->is_openmpi || getenv(choice))
		return false;
	set(choice, "3");
	return true;
}

static enum dist_error begin(struct dist__mpi *mpi,
			     const struct dist__place *place,
			     struct dist_message *message)
{
	int flag = 0, wanted = threads_wanted();
	enum dist_error error;
	bool chosen;

	(void)mpi->call.Finalized(&flag);
	if (flag)
		return dist__refuse_as(
			message, DIST_ERR_UNAVAILABLE,
			"%s has ended: a process can join it once",
			mpi->version);
	(void)mpi->call.Initialized(&flag);
	is_ours = !flag;
	chosen = is_ours && choose_all_reduce(mpi);
	if (flag)
		error = dist__mpi_check(mpi, message, "MPI_Query_thread",
					mpi->call.Query_thread(&mpi->threads));
	else if (dist__mpi_launched())
		error = dist__mpi_check(mpi, message, "MPI_Init_thread",
					mpi->call.Init_thread(NULL, NULL,
							      wanted,
							      &mpi->threads));
	else
		error = begin_managed(mpi, place, wanted, message);
	if (chosen)
		set(choice, NULL);
	if (mpi->threads > wanted)
		mpi->threads = wanted;
	return error;
}

static enum dist_error check_place(const struct dist__mpi *mpi,
				   const struct dist__place *place,
				   struct dist_message *message)
{
	int rank = -1, size = -1;

	(void)mpi->call.Comm_rank(mpi->is.comm_world, &rank);
	(void)mpi->call.Comm_size(mpi->is.comm_world, &size);
	if (rank == place->rank && size == place->world_size)
		return DIST_OK;
	return dist__refuse_as(
		message, DIST_ERR_UNAVAILABLE,
		"rank %d of %d is rank %d of %d of %s: expected the same",
		place->rank, place->world_size, rank, size, mpi->version);
}

enum dist_error dist__mpi_begin(struct dist__mpi *mpi,
				const struct dist__place *place,
				struct dist_message *message)
{
	enum dist_error error = begin(mpi, place, message);

	if (!error && mpi->threads < DIST__MPI_FUNNELED)
		error = dist__refuse_as(
			message, DIST_ERR_UNAVAILABLE,
			"%s was begun by MPI_Init: expected "
			"MPI_Init_thread with MPI_THREAD_FUNNELED",
			mpi->version);
	if (!error)
		error = check_place(mpi, place, message);
	if (!error)
		(void)mpi->call.Comm_set_errhandler(mpi->is.comm_world,
						    mpi->is.errors_return);
	return error ? error : dist__mpi_types_make(mpi, message);
}

void dist__mpi_end(struct dist__mpi *mpi, bool is_well)
{
	is_well = is_well && !mpi->is_poisoned;
	if (is_well)
		dist__mpi_types_free(mpi);
	if (is_well && is_ours)
		(void)mpi->call.Finalize();
	/* MPICH says at exit() alone, from 4.2 on, that it has ended. */
	dist__pmi_server_part(server);
	dist__folder_close(&folder);
}
