#include "sim/engine/simgrid.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/config.h>
#include <xbt/config.hpp>

/*
 * What differs between SimGrid 3.32 and 4.1. The line that the parser of
 * platform files is at is exported, but in none of its headers.
 */
#if SIMGRID_VERSION < 33400
extern int surf_parse_lineno;
#define simgrid_parse_lineno surf_parse_lineno
#else
extern int simgrid_parse_lineno;
#define FACTORS_ARE_TEXT
#endif
#if SIMGRID_VERSION < 33600
#include <simgrid/simix.hpp>
#else
#include <simgrid/simcall.hpp>
#endif
#if SIMGRID_VERSION < 40000
#define add_host create_host
#else
#define ZONES_ARE_IN_ANOTHER
#endif

namespace
{

/* Removes the first occurrence of words that only SimGrid's authors need. */
void drop(std::string &text, const std::string &words)
{
	auto at = text.find(words);

	if (at != std::string::npos)
		text.erase(at, words.size());
}

/* The first line of text, fit for a terminal. */
std::string first_line(std::string text)
{
	text = text.substr(0, text.find('\n'));
	for (char &c : text)
		if (static_cast<unsigned char>(c) < ' ')
			c = '?';
	return text;
}

/*
 * SimGrid's sentence as one line that begins with the place. It says
 * "Parse error at FILE:LINE: ..." when it knows the line, and "Invalid XML
 * (XML input line L, state S): ..." after it when the scanner found the fault.
 */
std::string one_line(const std::string &path, std::string text)
{
	auto state = text.find(" (XML input line");
	auto end = text.find("): ", state == std::string::npos ? 0 : state);

	if (state != std::string::npos && end != std::string::npos)
		text.erase(state, end + 1 - state);
	if (text.rfind("Parse error at ", 0) == 0)
		drop(text, "Parse error at ");
	else
		text = path + ":" + std::to_string(simgrid_parse_lineno) +
		       ": " + text;
	return first_line(text);
}

/* A place beside the platform and not in it, two hosts, with a way between them
 * that leads over whatever links the next flow takes. */
class FlowZone : public simgrid::kernel::routing::NetZoneImpl
{
      public:
	simgrid::s4u::Host *from, *to;

	explicit FlowZone(const simgrid::kernel::routing::NetZoneImpl *root)
	    : NetZoneImpl("flows")
	{
		set_network_model(root->get_network_model());
		set_cpu_pm_model(root->get_cpu_pm_model());
		set_cpu_vm_model(root->get_cpu_vm_model());
		set_disk_model(root->get_disk_model());
		set_host_model(root->get_host_model());
		from = get_iface()->add_host("flows from", 1);
		to = get_iface()->add_host("flows to", 1);
		seal();
	}

	void take(const sg_link_t *links, size_t count, double latency_s)
	{
		links_.clear();
		for (size_t i = 0; i < count; i++)
			links_.push_back(links[i]->get_impl());
		latency_s_ = latency_s;
	}

	void get_local_route(const simgrid::kernel::routing::NetPoint *src,
			     const simgrid::kernel::routing::NetPoint *,
			     simgrid::kernel::routing::Route *into,
			     double *latency) override
	{
		if (src != from->get_netpoint())
			return;
		into->link_list_ = links_;
		if (latency)
			*latency += latency_s_;
	}

      private:
	std::vector<simgrid::kernel::resource::StandardLinkImpl *> links_;
	double latency_s_ = 0;
};

/* Until the process ends, like the engine: */
FlowZone *flow_zone;
struct dist__graph graph;
std::vector<simgrid::s4u::Host *> hosts; /* by number */
std::vector<simgrid::s4u::Link *> links; /* each has its number as data */
std::vector<dist__graph_property> properties;
std::vector<dist__graph_zone> zones;
std::vector<dist__graph_host> graph_hosts;
std::vector<dist__graph_link> graph_links;

/* The outermost zone of the platform file; nullptr: none. */
const simgrid::s4u::NetZone *outermost()
{
	const auto *root =
		simgrid::s4u::Engine::get_instance()->get_netzone_root();

#ifdef ZONES_ARE_IN_ANOTHER
	const auto children = root->get_children();

	if (children.size() < 2)
		return children.empty() ? nullptr : children.front();
#endif
	return root;
}

/* SimGrid's parser does not know the mark that editors on Windows put in front
 * of a file. */
bool begins_with_mark(const char *path)
{
	const std::string mark = "\xEF\xBB\xBF";
	std::string first(mark.size(), ' ');

	std::ifstream(path, std::ios::binary)
		.read(&first[0], static_cast<std::streamsize>(mark.size()));
	return first == mark;
}

/* ---- the graph --------------------------------------------------------- */

size_t find_way(struct dist__graph *, uint32_t from, uint32_t to,
		uint32_t *numbers, size_t most, double *latency_s)
{
	std::vector<simgrid::s4u::Link *> way;
	double latency = 0;

	try {
		hosts[from]->route_to(hosts[to], way, &latency);
	} catch (const std::exception &) {
		return 0;
	}
	if (latency_s)
		*latency_s = latency;
	for (size_t i = 0; way.size() <= most && i < way.size(); i++)
		numbers[i] = static_cast<uint32_t>(
			reinterpret_cast<uintptr_t>(way[i]->get_data<void>()));
	return way.size();
}

void change_link(const struct dist__graph *, uint32_t number)
{
	links[number]->set_bandwidth(graph_links[number].bandwidth_Bps);
	links[number]->set_latency(graph_links[number].latency_s);
}

template <typename Item> void add_properties(const Item *item)
{
	for (const auto &property : *item->get_properties())
		properties.push_back(
			{property.first.c_str(), property.second.c_str(), 0});
}

/* Adds what is around, the outermost first. */
uint32_t
add_zone(std::unordered_map<const simgrid::s4u::NetZone *, uint32_t> &known,
	 const simgrid::s4u::NetZone *zone)
{
	auto found = known.find(zone);
	uint32_t parent = 0;

	if (found != known.end())
		return found->second;
	if (zone != outermost())
		parent = add_zone(known, zone->get_parent());
	zones.push_back({zone->get_cname(), parent});
	return known[zone] = static_cast<uint32_t>(zones.size() - 1);
}

void fill_graph()
{
	const auto *engine = simgrid::s4u::Engine::get_instance();
	std::unordered_map<const simgrid::s4u::NetZone *, uint32_t> known;
	uintptr_t number = 0;

	hosts = engine->get_filtered_hosts([](const simgrid::s4u::Host *host) {
		return host != flow_zone->from && host != flow_zone->to;
	});
	links = engine->get_all_links();
	add_properties(outermost());
	/* A cluster's stand at its hosts alone in SimGrid 4. */
	if (properties.empty() && !hosts.empty() &&
	    outermost()->get_children().empty())
		add_properties(hosts[0]);
	graph.num_zone_properties = properties.size();
	add_zone(known, outermost());
	for (const auto *host : hosts) {
		size_t first = properties.size();

		add_properties(host);
		graph_hosts.push_back(
			{host->get_cname(), host->get_speed(),
			 static_cast<uint32_t>(first),
			 static_cast<uint32_t>(properties.size() - first),
			 add_zone(known, host->get_englobing_zone()), 0});
	}
	for (auto *link : links) {
		link->set_data(reinterpret_cast<void *>(number++));
		graph_links.push_back({link->get_cname(), link->get_bandwidth(),
				       link->get_latency(),
				       sg_link_is_shared(link) != 0,
				       link->is_on()});
	}
	graph.properties = properties.data();
	graph.zones = zones.data();
	graph.num_zones = zones.size();
	graph.hosts = graph_hosts.data();
	graph.num_hosts = graph_hosts.size();
	graph.links = graph_links.data();
	graph.num_links = graph_links.size();
	graph.is_simgrid = true;
	graph.find_way = find_way;
	graph.change_link = change_link;
}

} // namespace

bool dist__engine_open(char *, size_t)
{
	return true;
}

/* Ends what was read or built: nothing can be added any more. */
static bool seal(const char *path, char *text, size_t size)
{
	auto *engine = simgrid::s4u::Engine::get_instance();

	try {
		if (!outermost()) {
			snprintf(text, size, "%s: no zone in it", path);
			return false;
		}
		engine->seal_platform();
		flow_zone =
			new FlowZone(engine->get_netzone_root()->get_impl());
		dist__engine_share_links();
		fill_graph();
		return true;
	} catch (const std::exception &failure) {
		snprintf(text, size, "%s: %s", path,
			 first_line(failure.what()).c_str());
		return false;
	}
}

bool dist__engine_load(const char *path, struct dist__graph **read, char *text,
		       size_t size)
{
	if (begins_with_mark(path)) {
		snprintf(text, size,
			 "%s:1: expected XML in UTF-8 without a byte order "
			 "mark, found one in front",
			 path);
		return false;
	}
	try {
		simgrid::s4u::Engine::get_instance()->load_platform(path);
	} catch (const std::exception &failure) {
		snprintf(text, size, "%s",
			 one_line(path, failure.what()).c_str());
		return false;
	}
	*read = &graph;
	return seal(path, text, size);
}

sg_host_t dist__simgrid_host(uint32_t number)
{
	return hosts[number];
}

sg_link_t dist__simgrid_link(uint32_t number)
{
	return links[number];
}

const int *dist__engine_line(void)
{
	return &simgrid_parse_lineno;
}

bool dist__engine_is_default(const char *name)
{
	return simgrid::config::is_default(name);
}

double dist__engine_number(const char *name)
{
#ifdef FACTORS_ARE_TEXT
	/* One number, or several by size; SimGrid reads it at the first use. */
	if (std::strcmp(name, "network/latency-factor") == 0 ||
	    std::strcmp(name, "network/bandwidth-factor") == 0) {
		auto text = simgrid::config::get_value<std::string>(name);
		char *end;
		double number = std::strtod(text.c_str(), &end);

		return end == text.c_str() || *end ? NAN : number;
	}
#endif
	return sg_cfg_get_double(name);
}

const char *dist__engine_crash(void)
{
#ifdef ZONES_ARE_IN_ANOTHER
	return ", as SimGrid 4 does on a cluster with a topology that no "
	       "<zone> is around";
#else
	return "";
#endif
}

const char *dist__engine_model(void)
{
	return simgrid::config::get_value<std::string>("network/model").c_str();
}

/* No other actor may run between the setting of the way and its use. */
void dist__simgrid_flow(sg_comm_t comm, const sg_link_t *links, size_t count,
			double latency_s)
{
	simgrid::kernel::actor::simcall_answered([&] {
		flow_zone->take(links, count, latency_s);
		comm->set_source(flow_zone->from)
			->set_destination(flow_zone->to);
	});
}
