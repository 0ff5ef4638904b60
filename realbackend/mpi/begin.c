/*
 * begin.c - begins MPI in this process, and ends it.
 *
 * Where no mpirun removes what killed ranks leave, Open MPI 4 keeps the files
 * of a job on this node in a folder of ours. Each rank holds a shared lock on
 * it. A process that gets the exclusive lock is the last one and removes it: a
 * rank of the job that ends, or a rank of a later job that finds it.
 */
#define _XOPEN_SOURCE   700 /* nftw */
#define _DEFAULT_SOURCE     /* flock */
#include "realbackend/mpi/begin.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data.h"
#include "base/refuse.h"
#include "realbackend/launch/cores.h"
#include "realbackend/mpi/pmi_server.h"
#include "realbackend/mpi/types.h"

/* ---- the folder of a job ------------------------------------------------- */

struct folder {
	int fd; /* -1: there is none */
	char path[64];
};

#define PREFIX "/dev/shm/lockstep-mpi-"

static int open_path(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	(void)remove(path);
	return 0;
}

static void remove_if_last(int fd, const char *path)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Those of jobs of which every rank was killed; another user's stay. */
static void remove_stale(void)
{
	glob_t found;
	int fd;

	if (glob(PREFIX "*", GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			fd = open_path(found.gl_pathv[i]);
			if (fd < 0)
				continue;
			remove_if_last(fd, found.gl_pathv[i]);
			close(fd);
		}
	globfree(&found);
}

/* Whether the folder that fd holds is still the one at path. */
static bool is_there(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Makes or finds the folder of a job, after removing those
 * that no process uses; false: the system refused, and Open MPI chooses the
 * place of its files. */
static bool folder_open(struct folder *folder, int job)
{
	remove_stale();
	snprintf(folder->path, sizeof folder->path, PREFIX "%d", job);
	for (;;) {
		folder->fd = -1;
		if (mkdir(folder->path, 0700) != 0 && errno != EEXIST)
			return false;
		folder->fd = open_path(folder->path);
		/* Between the two calls it may have been taken for nobody's. */
		if (folder->fd < 0 && errno == ENOENT)
			continue;
		if (folder->fd < 0)
			return false;
		if (flock(folder->fd, LOCK_SH) == 0 &&
		    is_there(folder->fd, folder->path))
			return true;
		close(folder->fd);
	}
}

/* Ends the use of it; allowed if there is none. */
static void folder_close(struct folder *folder)
{
	if (folder->fd < 0)
		return;
	remove_if_last(folder->fd, folder->path);
	close(folder->fd);
	folder->fd = -1;
}

/* A process is one rank. */
static struct dist__pmi_server *server;
static bool is_ours; /* MPI, to end */
static struct folder folder = {.fd = -1};

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
	if (!folder_open(&folder, dist__pmi_server_job(server)))
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
	folder_close(&folder);
}
