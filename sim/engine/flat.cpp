/*
 * flat.cpp - a platform that we read ourselves, as one zone of SimGrid's, in
 * which ways are found by index.
 */
#include "sim/engine/flat.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/config.hpp>

/* What this needs was tried with SimGrid 3.32 alone. check-symbols asks that
 * what is below #else defines the same. */
#if SIMGRID_VERSION < 33400 && !defined(LOCKSTEP_NOT_FLAT)

using simgrid::kernel::routing::NetPoint;
using simgrid::kernel::routing::NetZoneImpl;
using simgrid::kernel::routing::Route;

namespace
{

using Properties = std::unordered_map<std::string, std::string>;

[[gnu::used]] simgrid::s4u::NetZone *beside; /* with the loopback */

class FlatZone : public NetZoneImpl
{
      public:
	struct dist__graph *const graph;

	explicit FlatZone(struct dist__graph *of)
	    : NetZoneImpl(of->zones[0].name), graph(of)
	{
	}

	void fill()
	{
		for (size_t i = 0; i < graph->num_links; i++)
			add_link(graph->links[i]);
		for (size_t i = 0; i < graph->num_hosts; i++)
			add_host(graph->hosts[i]);
		set_properties(properties(0, graph->num_zone_properties));
		find_loopback();
	}

	void get_local_route(const NetPoint *src, const NetPoint *dst,
			     Route *into, double *latency) override
	{
		if (src == dst) {
			into->link_list_.push_back(loopback_->get_impl());
			if (latency)
				*latency += loopback_->get_latency();
			return;
		}
		const auto &way = find(src->id(), dst->id());
		auto first = kept_links_.begin() + way.first;
		auto added = first + way.num;

		for (auto at = first; at < added; ++at)
			into->link_list_.push_back((*at)->get_impl());
		for (auto at = added; latency && at < added + way.num; ++at)
			*latency += (*at)->get_latency();
	}

	/* Whoever asks by this remembers it. */
	size_t look_up(const NetPoint *src, const NetPoint *dst,
		       sg_link_t *into, double *latency)
	{
		struct dist__graph_way way;

		if (src == dst ||
		    !graph->find_way(graph, static_cast<uint32_t>(src->id()),
				     static_cast<uint32_t>(dst->id()), &way))
			return 0;
		for (size_t i = 0; i < way.num; i++)
			into[i] = links_[way.links[i]];
		for (size_t i = 0; i < way.num_added; i++)
			*latency += links_[way.added[i]]->get_latency();
		return way.num;
	}

      private:
	/* Links in order, then as many in the order of adding. */
	struct Kept {
		ptrdiff_t first, num;
	};

	static constexpr size_t most_kept_ = 1 << 21;

	std::vector<simgrid::s4u::Link *> links_; /* by number */
	std::unordered_map<uint64_t, Kept> kept_;
	std::vector<simgrid::s4u::Link *> kept_links_;
	simgrid::s4u::Link *loopback_ = nullptr;

	Properties properties(size_t first, size_t num) const
	{
		Properties all;

		for (size_t i = first; i < first + num; i++)
			all.emplace(graph->properties[i].name,
				    graph->properties[i].value);
		return all;
	}

	void add_link(const struct dist__graph_link &link)
	{
		simgrid::s4u::Link *up, *down = nullptr;

		if (link.sharing == DIST__GRAPH_SPLIT) {
			std::string name = link.name;

			up = make_link(name + "_UP", link);
			down = make_link(name + "_DOWN", link);
		} else {
			up = make_link(link.name, link);
		}
		links_.push_back(up);
		links_.push_back(down);
	}

	simgrid::s4u::Link *make_link(const std::string &name,
				      const struct dist__graph_link &link)
	{
		auto *made = create_link(name, {link.bandwidth_Bps});

		if (link.sharing == DIST__GRAPH_FATPIPE)
			made->set_sharing_policy(
				simgrid::s4u::Link::SharingPolicy::FATPIPE);
		return made->set_latency(link.latency_s);
	}

	void add_host(const struct dist__graph_host &host)
	{
		create_host(host.name, std::vector<double>{host.speed})
			->set_properties(properties(host.first_property,
						    host.num_properties));
	}

	/* SimGrid shows the loopback on no way but that from a host to itself,
	 * in a zone of its own kinds. */
	void find_loopback()
	{
		std::vector<simgrid::s4u::Link *> way;

		/* No zone is around it, so it stays when SimGrid ends. */
		beside = simgrid::s4u::create_full_zone("flows loop");
		copy_models(beside->get_impl());
		auto *host = beside->create_host("flows alone", 1);
		beside->seal();
		host->route_to(host, way, nullptr);
		loopback_ = way.at(0);
	}

	void copy_models(NetZoneImpl *zone) const
	{
		zone->set_network_model(get_network_model());
		zone->set_cpu_pm_model(get_cpu_pm_model());
		zone->set_cpu_vm_model(get_cpu_vm_model());
		zone->set_disk_model(get_disk_model());
		zone->set_host_model(get_host_model());
	}

	/* SimGrid takes a route without links for none. */
	const Kept &find(uint64_t from, uint64_t to)
	{
		static const Kept none = {0, 0};
		uint64_t key = from << 32 | to;
		auto known = kept_.find(key);
		struct dist__graph_way way;
		Kept kept;

		if (known != kept_.end())
			return known->second;
		if (!graph->find_way(graph, static_cast<uint32_t>(from),
				     static_cast<uint32_t>(to), &way))
			return none;
		if (kept_links_.size() > most_kept_) {
			kept_.clear();
			kept_links_.clear();
		}
		kept.first = static_cast<ptrdiff_t>(kept_links_.size());
		kept.num = static_cast<ptrdiff_t>(way.num);
		for (size_t i = 0; i < way.num; i++)
			kept_links_.push_back(links_[way.links[i]]);
		for (size_t i = 0; i < way.num_added; i++)
			kept_links_.push_back(links_[way.added[i]]);
		return kept_.emplace(key, kept).first->second;
	}
};

FlatZone *flat; /* until the process ends, like the engine */

} // namespace

bool dist__engine_can_build(void)
{
	return true;
}

void dist__flat_build(struct dist__graph *graph)
{
	for (size_t i = 0; i < graph->num_settings; i++)
		if (simgrid::config::is_default(graph->settings[i].name))
			simgrid::config::set_parse(
				std::string(graph->settings[i].name) + ":" +
				graph->settings[i].value);
	flat = new FlatZone(graph);
	flat->fill();
	simgrid::s4u::Engine::on_platform_created();
}

bool dist__flat_zones(sg_host_t host, const char **names, size_t most,
		      size_t *count)
{
	uint32_t zone;

	*count = 0;
	if (!flat)
		return false;
	zone = flat->graph->hosts[host->get_netpoint()->id()].zone;
	for (; zone != 0 && *count < most;
	     zone = flat->graph->zones[zone].parent)
		names[(*count)++] = flat->graph->zones[zone].name;
	std::reverse(names, names + *count);
	return true;
}

size_t dist__flat_way(sg_host_t from, sg_host_t to, sg_link_t *links,
		      double *latency_s)
{
	return flat ? flat->look_up(from->get_netpoint(), to->get_netpoint(),
				    links, latency_s)
		    : 0;
}

#else

bool dist__engine_can_build(void)
{
	return false;
}

void dist__flat_build(struct dist__graph *)
{
}

bool dist__flat_zones(sg_host_t, const char **, size_t, size_t *)
{
	return false;
}

size_t dist__flat_way(sg_host_t, sg_host_t, sg_link_t *, double *)
{
	return 0;
}

#endif
