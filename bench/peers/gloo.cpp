/*
 * gloo.cpp - the collectives of Gloo over TCP, on the loopback.
 *
 * RANK and WORLD_SIZE say who the rank is, PEER_STORE names an empty folder in
 * which ranks find each other, PEER_ALGORITHM is bcube for that all-reduce
 * instead of the ring, Gloo's default.
 */
#include "bench/peers/peer.h"

#include <cstdlib>
#include <memory>
#include <string>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

using Reduction = void (*)(void *, const void *, const void *, size_t);

static std::shared_ptr<gloo::rendezvous::Context> context;
static auto algorithm = gloo::AllreduceOptions::Algorithm::RING;

static std::string variable(const char *name)
{
	const char *value = std::getenv(name);

	return value ? value : "";
}

struct peer peer_start(int *, char ***)
{
	struct peer peer = {std::stoi(variable("RANK")),
			    std::stoi(variable("WORLD_SIZE"))};
	gloo::rendezvous::FileStore store(variable("PEER_STORE"));
	gloo::transport::tcp::attr place;

	place.iface = "lo";
	auto device = gloo::transport::tcp::CreateDevice(place);
	context = std::make_shared<gloo::rendezvous::Context>(peer.rank,
							      peer.world_size);
	context->connectFullMesh(store, device);
	if (variable("PEER_ALGORITHM") == "bcube")
		algorithm = gloo::AllreduceOptions::Algorithm::BCUBE;
	return peer;
}

bool peer_has(enum peer_collective collective)
{
	return collective <= PEER_ALL_GATHER || collective == PEER_ALLTOALL;
}

template <typename T>
static void all_reduce(T *data, size_t num, Reduction reduction)
{
	gloo::AllreduceOptions options(context);

	options.setOutput(data, num);
	options.setReduceFunction(reduction);
	options.setAlgorithm(algorithm);
	gloo::allreduce(options);
}

static void broadcast(float *data, size_t num)
{
	gloo::BroadcastOptions options(context);

	options.setOutput(data, num);
	options.setRoot(0);
	gloo::broadcast(options);
}

static void reduce(float *data, size_t num)
{
	gloo::ReduceOptions options(context);

	options.setOutput(data, num);
	options.setRoot(0);
	options.setReduceFunction(static_cast<Reduction>(&gloo::sum<float>));
	gloo::reduce(options);
}

static void all_gather(float *data, size_t num)
{
	gloo::AllgatherOptions options(context);

	options.setOutput(data, num);
	gloo::allgather(options);
}

static void all_to_all(float *data, float *apart, size_t num)
{
	gloo::AlltoallOptions options(context);

	options.setInput(data, num);
	options.setOutput(apart, num);
	gloo::alltoall(options);
}

void peer_call(const struct peer *, enum peer_collective collective,
	       float *data, float *apart, size_t num)
{
	switch (collective) {
	case PEER_ALL_REDUCE:
		all_reduce(data, num,
			   static_cast<Reduction>(&gloo::sum<float>));
		break;
	case PEER_BROADCAST:
		broadcast(data, num);
		break;
	case PEER_REDUCE:
		reduce(data, num);
		break;
	case PEER_ALL_GATHER:
		all_gather(data, num);
		break;
	case PEER_ALLTOALL:
		all_to_all(data, apart, num);
		break;
	default:
		std::abort(); /* peer_has said no */
	}
}

void peer_barrier(const struct peer *)
{
	gloo::BarrierOptions options(context);

	gloo::barrier(options);
}

void peer_max(const struct peer *, double *values, size_t num)
{
	all_reduce(values, num, static_cast<Reduction>(&gloo::max<double>));
}

void peer_stop(const struct peer *peer)
{
	/* Whoever closes its connections first is not to be missed. */
	peer_barrier(peer);
	context.reset();
}
