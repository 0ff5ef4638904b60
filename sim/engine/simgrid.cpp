/*
 * simgrid.cpp - SimGrid as an engine.
 *
 * A path is a mailbox: SimGrid matches the ends in the order in which they are
 * posted, as the caller does. What is carried has an actor that waits for it.
 */
#include "sim/engine/simgrid.h"

#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/link.h>
#include <simgrid/mailbox.h>
#include <simgrid/s4u.hpp>
#include <simgrid/semaphore.h>
#include <simgrid/version.h>
#include <xbt/config.h>

#include "sim/engine/engine.h"

#if SIMGRID_VERSION < 33600
#include <simgrid/simix.hpp>
#define WAITING_TEARS /* a transfer when the time is up */
/* 3.35 announces the end of what 3.32 waits with. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#else
#include <simgrid/simcall.hpp>
#endif

namespace
{

std::vector<sg_host_t> hosts;
std::vector<sg_comm_t> reaped; /* of reapers: released after the run */
bool is_running;
void *sink; /* SimGrid writes payload pointers here; never read */

/* SimGrid looks at the actor's last call when it begins to wait for any of
 * several transfers, and that is gone if it threw. A call of nothing is not. */
void forget_failed_call()
{
	simgrid::kernel::actor::simcall_answered([] {});
}

sg_comm_t comm_of(const struct dist__engine_end *end)
{
	return static_cast<sg_comm_t>(end->transfer);
}

/* ---- actors ------------------------------------------------------------ */

void spawn_function(uint32_t host, size_t stack_bytes,
		    const std::function<void()> &body, void *arg)
{
	sg_actor_t actor = sg_actor_init("actor", hosts[host]);

	sg_actor_set_data(actor, arg);
	if (stack_bytes > 0)
		sg_actor_set_stacksize(
			actor, static_cast<unsigned>(stack_bytes / 1024));
	actor->start(body);
}

void spawn(uint32_t host, size_t stack_bytes, void (*body)(void *arg),
	   void *arg)
{
	spawn_function(
		host, stack_bytes, [body, arg] { body(arg); }, arg);
}

/* ---- the clock --------------------------------------------------------- */

void run(void (*advanced)(void *arg), void *arg)
{
	simgrid::s4u::Engine::on_time_advance_cb(
		[advanced, arg](double) { advanced(arg); });
	is_running = true;
	simgrid_run();
	is_running = false;
	for (auto *comm : reaped)
		comm->unref();
	reaped.clear();
}

/* A timer: those of an instant are looked at when all actors have run. */
void at(double time_s, void (*call)(void *arg), void *arg)
{
	simgrid::kernel::actor::simcall_answered([time_s, call, arg] {
		simgrid::kernel::timer::Timer::set(time_s,
						   [call, arg] { call(arg); });
	});
}

/* ---- gates ------------------------------------------------------------- */

/* Most ranks wait nowhere most of the time, and a semaphore takes more memory
 * than what waits there. */
bool wait_at(struct dist__engine_gate *gate, double seconds)
{
	sg_sem_t sem = sg_sem_init(0);
	bool is_open = true;

	gate->waiter = sem;
	if (sg_sem_acquire_timeout(sem, seconds)) {
		is_open = gate->waiter != sem;
		/* Opened in the very instant in which the time is up: who does
		 * it still has the semaphore in hand. */
		if (is_open)
			sg_sem_acquire(sem);
		else
			gate->waiter = nullptr;
	}
	sg_sem_destroy(sem);
	return is_open;
}

void open(struct dist__engine_gate *gate)
{
	auto *sem = static_cast<sg_sem_t>(gate->waiter);

	gate->waiter = nullptr;
	sg_sem_release(sem);
}

/* ---- transfers --------------------------------------------------------- */

/* Making a mailbox lets other actors run: who finds the path half open asks for
 * the same name. */
void open_path(struct dist__engine_path *path)
{
	char name[32];

	snprintf(name, sizeof name, "%p", static_cast<void *>(path));
	path->state = sg_mailbox_by_name(name);
}

void post(struct dist__engine_path *path, bool sends, uint64_t bytes,
	  struct dist__engine_end *end, struct dist__engine_end *)
{
	auto *mailbox = static_cast<sg_mailbox_t>(path->state);

	end->transfer = sends ? sg_mailbox_put_async(mailbox, &sink,
						     static_cast<long>(bytes))
			      : sg_mailbox_get_async(mailbox, &sink);
}

simgrid::kernel::resource::Model *network()
{
	for (auto *model :
	     simgrid::s4u::Engine::get_instance()->get_all_models())
		if (model->get_name().rfind("Network_", 0) == 0)
			return model;
	return nullptr;
}

/* Has go() begin one flow, no faster than that. SimGrid 3.32 forgets the rate
 * of what has no mailbox; so the flow that it has made, the last one, is held
 * down. One that fails at once is not among the started. */
void limit(double most_Bps, const std::function<void()> &go)
{
	simgrid::kernel::actor::simcall_answered([most_Bps, &go] {
		auto *started = network()->get_started_action_set();
		size_t before = started->size();

		go();
		if (started->size() > before)
			started->back().set_bound(most_Bps);
	});
}

simgrid::s4u::CommPtr begin(const struct dist__engine_transfer &load)
{
	simgrid::s4u::CommPtr comm = simgrid::s4u::Comm::sendto_init();
	std::vector<sg_link_t> way;
	auto go = [&] {
		if (load.links)
			dist__simgrid_flow(comm.get(), way.data(), way.size(),
					   load.latency_s);
		else
			comm->set_source(hosts[load.from])
				->set_destination(hosts[load.to]);
	};

	for (size_t i = 0; load.links && i < load.num_links; i++)
		way.push_back(dist__simgrid_link(load.links[i]));
	comm->set_payload_size(load.bytes);
	if (load.most_Bps > 0)
		limit(load.most_Bps, go);
	else
		go();
	return comm;
}

void start(const struct dist__engine_transfer *load,
	   struct dist__engine_end *end)
{
	end->transfer = begin(*load).detach();
}

/* Moves load while the calling actor waits; false: the network failed. */
bool move(const struct dist__engine_transfer &load)
{
	try {
		begin(load)->wait();
		return true;
	} catch (const std::exception &) {
		forget_failed_call();
		return false;
	}
}

void carry(const struct dist__engine_transfer *load,
	   void (*over)(void *arg, bool well), void *arg)
{
	struct dist__engine_transfer copy = *load;
	std::vector<uint32_t> way;

	if (load->links)
		way.assign(load->links, load->links + load->num_links);
	spawn_function(
		load->from, 0,
		[copy, way, over, arg]() mutable {
			if (copy.links)
				copy.links = way.data();
			over(arg, move(copy));
		},
		arg);
}

/*
 * SimGrid offers no way to wake an actor that waits for a message nobody will
 * send. But when the actor at the other end of a transfer ends, the waiter
 * hears of it in the same instant. So a reaper, an actor on the host of the
 * missing end, answers all ends and returns.
 */
void fail(struct dist__engine_path *path, bool sends,
	  struct dist__engine_end *ends)
{
	auto *mailbox = static_cast<sg_mailbox_t>(path->state);
	size_t count = 0;

	for (; ends; ends = ends->next)
		count++;
	spawn_function(
		sends ? path->to : path->from, 0,
		[mailbox, sends, count] {
			for (size_t i = 0; i < count; i++)
				reaped.push_back(
					sends ? sg_mailbox_get_async(mailbox,
								     &sink)
					      : sg_mailbox_put_async(mailbox,
								     &sink, 0));
		},
		nullptr);
}

enum dist__engine_outcome wait(struct dist__engine_end *end, double seconds)
{
	auto *comm = comm_of(end);
	auto outcome = DIST__ENGINE_DONE;

	try {
#ifdef WAITING_TEARS
		/* 3.35 tells a failure in the way of a time that is up. */
		double until = simgrid_get_clock() + seconds;

		if (simgrid::s4u::Comm::wait_any_for({comm}, seconds) < 0) {
			if (seconds >= 0 && simgrid_get_clock() >= until)
				return DIST__ENGINE_LATE;
			outcome = DIST__ENGINE_FAILED;
		}
#else
		comm->wait_for(seconds);
	} catch (const simgrid::TimeoutException &) {
		forget_failed_call();
		return DIST__ENGINE_LATE;
#endif
	} catch (const std::exception &) {
		forget_failed_call();
		outcome = DIST__ENGINE_FAILED;
	}
	comm->unref();
	end->transfer = nullptr;
	return outcome;
}

bool cancel(struct dist__engine_end *end)
{
	simgrid::s4u::CommPtr mine(static_cast<sg_comm_t>(end->transfer),
				   false);

	end->transfer = nullptr;
	if (!is_running)
		return false;
	try {
		mine->wait_for(0);
		return true;
	} catch (const simgrid::TimeoutException &) {
		forget_failed_call();
#ifndef WAITING_TEARS
		mine->cancel();
#endif
		return false;
	} catch (const std::exception &) {
		forget_failed_call();
		return false;
	}
}

bool has_ended(const struct dist__engine_end *end)
{
	try {
		return comm_of(end)->test();
	} catch (const std::exception &) {
		forget_failed_call();
		return true;
	}
}

double bytes_left(const struct dist__engine_end *end)
{
	return comm_of(end)->get_remaining();
}

/* ---- links ------------------------------------------------------------- */

struct dist__graph_link link_of(uint32_t number)
{
	const auto *link = dist__simgrid_link(number);

	return {link->get_cname(), link->get_bandwidth(), link->get_latency(),
		sg_link_is_shared(link) != 0, link->is_on()};
}

const struct dist__engine engine = {
	spawn,
	sg_actor_self_get_data,
	sg_actor_sleep_for,
	sg_actor_yield,
	simgrid_get_clock,
	run,
	at,
	wait_at,
	open,
	open_path,
	post,
	start,
	carry,
	nullptr, // the other engine's
	fail,
	wait,
	cancel,
	has_ended,
	bytes_left,
	link_of,
};

} // namespace

const struct dist__engine *dist__engine_simgrid(const uint32_t *list,
						size_t num)
{
	try {
		hosts.clear();
		for (size_t i = 0; i < num; i++)
			hosts.push_back(dist__simgrid_host(list[i]));
	} catch (const std::bad_alloc &) {
		return nullptr;
	}
	return &engine;
}
