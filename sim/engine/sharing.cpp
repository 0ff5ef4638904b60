/*
 * sharing.cpp - flows that begin in one instant share their links.
 *
 * SimGrid solves again what a change can reach, link by link along the flows,
 * and looks for it from the first link of a flow whose latency is over
 * (System::update_modified_cnst_set_from_variable() in its
 * src/kernel/lmm/System.cpp). If another flow that begins in this instant has
 * led there already, nothing is looked for, and the further links of the second
 * one stay as they were: it may take of them what they have not. When twelve
 * hosts send to two, each to both, the second of the two then receives eleven
 * times what its link carries.
 *
 * A bound of a flow that is set, to whatever value, makes SimGrid look at all
 * of its links. So that is done for every flow in the instant in which it
 * begins, for 1 % of the instructions of a simulation; network/optim "Full",
 * which solves everything whenever anything happens, is several times slower
 * once ranks drift.
 */
#include "sim/engine/shim.h"

#include <algorithm>
#include <vector>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Engine.hpp>

using simgrid::kernel::resource::Action;
using simgrid::kernel::resource::ActionHeap;
using simgrid::kernel::resource::Model;

namespace
{

/* Of SimGrid's flows those that pay their latency, each held by a reference: no
 * longer, or a flow that is over would keep its share of the links. */
std::vector<Action *> waiting;

double last_instant_s; /* what started then is not in `waiting` yet */

void take_started(Model *network)
{
	auto *started = network->get_started_action_set();

	for (auto flow = started->rbegin();
	     flow != started->rend() &&
	     flow->get_start_time() >= last_instant_s;
	     ++flow) {
		flow->ref();
		waiting.push_back(&*flow);
	}
}

/* Lets a flow go that waits no longer, one that failed meanwhile, too. Returns
 * whether it did. */
bool begin(Action *flow)
{
	bool is_well = flow->get_state() == Action::State::STARTED;

	if (flow->get_type() == ActionHeap::Type::latency)
		return false;
	if (is_well && flow->get_type() == ActionHeap::Type::unset)
		flow->set_bound(flow->get_bound());
	flow->unref();
	return true;
}

void advance(Model *network)
{
	take_started(network);
	last_instant_s = simgrid::s4u::Engine::get_clock();
	waiting.erase(std::remove_if(waiting.begin(), waiting.end(), begin),
		      waiting.end());
}

} // namespace

void dist__engine_share_links(void)
{
	const auto *engine = simgrid::s4u::Engine::get_instance();

	for (auto *model : engine->get_all_models())
		if (model->get_name().rfind("Network_", 0) == 0 &&
		    model->is_update_lazy())
			simgrid::s4u::Engine::on_time_advance_cb(
				[model](double) { advance(model); });
}
