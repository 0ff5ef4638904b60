/* Ranks that mpirun and srun started: place, master and port by their
 * variables, which are faked. */

#include <stdlib.h>
#include <string.h>

#include "realbackend/store/environment.h"
#include "realbackend/launch/launcher.h"
#include "tests/support/okay.h"

static struct dist__environment e;
static struct dist_message message;

static void forget(void)
{
	static const char *const names[] = {
		"RANK",           "WORLD_SIZE",    "LOCAL_WORLD_SIZE",
		"MASTER_ADDR",    "MASTER_PORT",   "OMPI_COMM_WORLD_RANK",
		"PMI_RANK",       "PMIX_RANK",     "PMIX_NAMESPACE",
		"SLURM_PROCID",   "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS",
		"SLURM_JOB_ID",   "SLURM_NTASKS",  "SLURM_STEP_NODELIST",
		"MPI_LOCALNRANKS"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

TestSuite(scheduler, .init = forget);

static void set(const char *name, const char *value)
{
	cr_assert_eq(setenv(name, value, 1), 0);
}

static enum dist_error read_environment(void)
{
	struct dist_init_options options = {.rank = 0};

	return dist__environment_read(&options, &e, &message);
}

static void set_open_mpi(void)
{
	set("OMPI_COMM_WORLD_RANK", "2");
	set("OMPI_COMM_WORLD_SIZE", "4");
	set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
	set("PMIX_NAMESPACE", "4711");
}

static void set_slurm(const char *list)
{
	set("SLURM_PROCID", "3");
	set("SLURM_STEP_NUM_TASKS", "8");
	set("SLURM_JOB_ID", "77");
	set("SLURM_STEP_ID", "0");
	set("SLURM_STEP_NODELIST", list);
}

Test(scheduler, open_mpi_on_one_machine)
{
	set_open_mpi();
	cr_assert(dist__job_is_rank());
	okay_or(read_environment(), message);
	cr_assert_eq(e.rank, 2);
	cr_assert_eq(e.world_size, 4);
	cr_assert_eq(e.local_world_size, 4);
	cr_assert_str_eq(e.master_addr, "127.0.0.1");
	cr_assert_geq(e.master_port, 15000);
	cr_assert_lt(e.master_port, 29000);
}

Test(scheduler, open_mpi_on_several_asks_for_the_master)
{
	set_open_mpi();
	set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
	refused_with(read_environment(), message, "MASTER_ADDR");
	set("MASTER_ADDR", "node1");
	set("MASTER_PORT", "1234");
	okay(read_environment());
	cr_assert_str_eq(e.master_addr, "node1");
	cr_assert_eq(e.master_port, 1234);
}

Test(scheduler, mpich)
{
	set("PMI_RANK", "1");
	set("PMI_SIZE", "3");
	set("MPI_LOCALNRANKS", "3");
	okay_or(read_environment(), message);
	cr_assert_eq(e.rank, 1);
	cr_assert_eq(e.world_size, 3);
	cr_assert_str_eq(e.master_addr, "127.0.0.1");
	cr_assert_eq(e.master_port, 29500);
}

Test(scheduler, pmix_under_srun)
{
	set_slurm("n1");
	unsetenv("SLURM_PROCID");
	set("PMIX_RANK", "5");
	okay_or(read_environment(), message);
	cr_assert_eq(e.rank, 5);
	cr_assert_eq(e.world_size, 8);
}

Test(scheduler, the_first_of_slurms_hosts)
{
	static const char *const lists[][2] = {{"node7", "node7"},
					       {"a,b", "a"},
					       {"gpu[003-007,9],x", "gpu003"},
					       {"gpu[12]", "gpu12"},
					       {"r[1,3]-ib,s1", "r1-ib"}};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		set_slurm(lists[i][0]);
		okay_or(read_environment(), message);
		cr_assert_eq(e.rank, 3);
		cr_assert_eq(e.world_size, 8);
		cr_assert_str_eq(e.master_addr, lists[i][1]);
	}
	set_slurm("broken[1-2");
	cr_assert_eq(read_environment(), DIST_ERR_INVALID_ARGUMENT);
}

Test(scheduler, a_port_for_every_step)
{
	int port;

	set_slurm("n1");
	okay(read_environment());
	port = e.master_port;
	okay(read_environment());
	cr_assert_eq(e.master_port, port, "the same on every rank");
	set("SLURM_STEP_ID", "1");
	okay(read_environment());
	cr_assert_neq(e.master_port, port);
}

Test(scheduler, a_batch_script_is_no_rank)
{
	set("SLURM_PROCID", "0");
	set("SLURM_NTASKS", "8");
	cr_assert_not(dist__job_is_rank());
	cr_assert_eq(read_environment(), DIST_ERR_INVALID_ARGUMENT);
}

Test(scheduler, one_process_may_launch_its_own)
{
	set_open_mpi();
	set("OMPI_COMM_WORLD_RANK", "0");
	set("OMPI_COMM_WORLD_SIZE", "1");
	cr_assert_not(dist__job_is_rank());
}

Test(scheduler, torchruns_variables_count_first)
{
	set_open_mpi();
	set("RANK", "0");
	set("WORLD_SIZE", "1");
	okay(read_environment());
	cr_assert_eq(e.rank, 0);
	cr_assert_eq(e.world_size, 1);
}
