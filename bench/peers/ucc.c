/* ucc.c - the collectives of UCC. Open MPI starts the ranks and carries what
 * they need to find each other; what is timed is UCC's. */
#include "bench/peers/peer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>
#include <ucc/api/ucc.h>

#define WORLD MPI_COMM_WORLD

static ucc_context_h context;
static ucc_team_h team;

static void expect_ok(ucc_status_t status, const char *call)
{
	if (status == UCC_OK)
		return;
	fprintf(stderr, "%s: %s\n", call, ucc_status_string(status));
	exit(1);
}

/* ---- how ranks find each other ------------------------------------------ */

static ucc_status_t begin_gathering(void *from, void *to, size_t size,
				    void *info, void **request)
{
	MPI_Request *begun = malloc(sizeof *begun);

	(void)info;
	if (!begun)
		return UCC_ERR_NO_MEMORY;
	MPI_Iallgather(from, (int)size, MPI_BYTE, to, (int)size, MPI_BYTE,
		       WORLD, begun);
	*request = begun;
	return UCC_OK;
}

static ucc_status_t test_gathering(void *request)
{
	int is_over;

	MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
	return is_over ? UCC_OK : UCC_INPROGRESS;
}

static ucc_status_t free_gathering(void *request)
{
	free(request);
	return UCC_OK;
}

static void open_context(const ucc_oob_coll_t *meeting)
{
	ucc_lib_params_t of_library = {.mask = UCC_LIB_PARAM_FIELD_THREAD_MODE,
				       .thread_mode = UCC_THREAD_SINGLE};
	ucc_context_params_t of_context = {.mask = UCC_CONTEXT_PARAM_FIELD_OOB,
					   .oob = *meeting};
	ucc_context_config_h context_config;
	ucc_lib_config_h config;
	ucc_lib_h library;

	expect_ok(ucc_lib_config_read(NULL, NULL, &config), "ucc_lib_config");
	expect_ok(ucc_init(&of_library, config, &library), "ucc_init");
	ucc_lib_config_release(config);
	expect_ok(ucc_context_config_read(library, NULL, &context_config),
		  "ucc_context_config");
	expect_ok(ucc_context_create(library, &of_context, context_config,
				     &context),
		  "ucc_context_create");
	ucc_context_config_release(context_config);
}

struct peer peer_start(int *argc, char ***argv)
{
	ucc_oob_coll_t meeting = {.allgather = begin_gathering,
				  .req_test = test_gathering,
				  .req_free = free_gathering};
	ucc_team_params_t of_team = {
		.mask = UCC_TEAM_PARAM_FIELD_OOB | UCC_TEAM_PARAM_FIELD_EP |
			UCC_TEAM_PARAM_FIELD_EP_RANGE,
		.ep_range = UCC_COLLECTIVE_EP_RANGE_CONTIG};
	ucc_status_t status;
	struct peer peer;

	MPI_Init(argc, argv);
	MPI_Comm_rank(WORLD, &peer.rank);
	MPI_Comm_size(WORLD, &peer.world_size);
	meeting.n_oob_eps = (uint32_t)peer.world_size;
	meeting.oob_ep = (uint32_t)peer.rank;
	open_context(&meeting);
	of_team.ep = (uint64_t)peer.rank;
	of_team.oob = meeting;
	expect_ok(ucc_team_create_post(&context, 1, &of_team, &team),
		  "ucc_team_create_post");
	while ((status = ucc_team_create_test(team)) == UCC_INPROGRESS)
		ucc_context_progress(context);
	expect_ok(status, "ucc_team_create_test");
	return peer;
}

/* ---- the calls ---------------------------------------------------------- */

static void wait_for(ucc_coll_args_t *call)
{
	ucc_coll_req_h request;
	ucc_status_t status;

	expect_ok(ucc_collective_init(call, &request, team),
		  "ucc_collective_init");
	expect_ok(ucc_collective_post(request), "ucc_collective_post");
	while ((status = ucc_collective_test(request)) > 0)
		ucc_context_progress(context);
	expect_ok(status, "ucc_collective_test");
	ucc_collective_finalize(request);
}

bool peer_has(enum peer_collective collective)
{
	return collective != PEER_SENDRECV;
}

static ucc_coll_buffer_info_t floats(float *data, size_t num)
{
	return (ucc_coll_buffer_info_t){.buffer = data,
					.count = num,
					.datatype = UCC_DT_FLOAT32,
					.mem_type = UCC_MEMORY_TYPE_HOST};
}

static ucc_coll_type_t type_of(enum peer_collective collective)
{
	switch (collective) {
	case PEER_ALL_REDUCE:
		return UCC_COLL_TYPE_ALLREDUCE;
	case PEER_BROADCAST:
		return UCC_COLL_TYPE_BCAST;
	case PEER_REDUCE:
		return UCC_COLL_TYPE_REDUCE;
	case PEER_ALL_GATHER:
		return UCC_COLL_TYPE_ALLGATHER;
	case PEER_REDUCE_SCATTER:
		return UCC_COLL_TYPE_REDUCE_SCATTER;
	case PEER_ALLTOALL:
		return UCC_COLL_TYPE_ALLTOALL;
	case PEER_GATHER:
		return UCC_COLL_TYPE_GATHER;
	case PEER_SCATTER:
	case PEER_SENDRECV:
		break;
	}
	return UCC_COLL_TYPE_SCATTER;
}

/* What is in place has all in one of the two; roots do gather, scatter and
 * reduce in place. */
void peer_call(const struct peer *peer, enum peer_collective collective,
	       float *data, float *apart, size_t num)
{
	size_t part = num / (size_t)peer->world_size;
	float *own = data + part * (size_t)peer->rank;
	bool is_root = peer->rank == 0;
	ucc_coll_args_t call = {.coll_type = type_of(collective),
				.op = UCC_OP_SUM,
				.src.info = floats(data, num),
				.dst.info = floats(data, num)};
	bool in_place = false;

	switch (collective) {
	case PEER_ALL_REDUCE:
	case PEER_ALL_GATHER:
		in_place = true;
		break;
	case PEER_REDUCE:
		in_place = is_root;
		break;
	case PEER_GATHER:
		in_place = is_root;
		call.src.info = floats(own, part);
		break;
	case PEER_SCATTER:
		in_place = is_root;
		call.dst.info = floats(own, part);
		break;
	case PEER_REDUCE_SCATTER:
		call.dst.info = floats(apart + part * (size_t)peer->rank, part);
		break;
	case PEER_ALLTOALL:
		call.dst.info = floats(apart, num);
		break;
	case PEER_BROADCAST:
	case PEER_SENDRECV:
		break;
	}
	if (in_place) {
		call.mask = UCC_COLL_ARGS_FIELD_FLAGS;
		call.flags = UCC_COLL_ARGS_FLAG_IN_PLACE;
	}
	wait_for(&call);
}

void peer_barrier(const struct peer *peer)
{
	ucc_coll_args_t call = {.coll_type = UCC_COLL_TYPE_BARRIER};

	(void)peer;
	wait_for(&call);
}

void peer_max(const struct peer *peer, double *values, size_t num)
{
	(void)peer;
	MPI_Allreduce(MPI_IN_PLACE, values, (int)num, MPI_DOUBLE, MPI_MAX,
		      WORLD);
}

static void leave(int number)
{
	(void)number;
	_exit(0);
}

/* The team is left to the end of the process. */
void peer_stop(const struct peer *peer)
{
	(void)peer;
	signal(SIGALRM, leave);
	alarm(2);
	MPI_Finalize();
}
