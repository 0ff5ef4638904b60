/*
 * read.c - reads a plain platform file. SimGrid takes longer to load than most
 * simulations run, and seconds for a platform of 16,384 GPUs. Whatever is odd
 * is left to it, so that there is one set of error messages.
 */
#include "sim/platform/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/input.h"
#include "base/quantity.h"

#define MOST_DEPTH 8
#define MOST_HOSTS (1 << 20) /* of a cluster */

/* What may still come in a zone. */
enum phase { PROPERTIES, CONTENTS, ROUTES };

struct reader {
	struct dist__plain *plain;
	struct dist__tags tags;
	uint32_t open[MOST_DEPTH]; /* zones */
	enum phase phases[MOST_DEPTH];
	size_t depth;
};

#define MAKE_ROOM(array, num) dist__array_grow(&(array), (num), sizeof *(array))

/* ---- names ------------------------------------------------------------ */

static const char *point_name(const struct dist__plain *plain, size_t number)
{
	return plain->points[number].name;
}

static const char *link_name(const struct dist__plain *plain, size_t number)
{
	return plain->wires[number].id;
}

static bool find_point(const struct dist__plain *plain, const char *name,
		       uint32_t *number)
{
	return dist__names_find(plain, &plain->point_names, point_name, name,
				number);
}

/* ---- quantities ------------------------------------------------------- */

static bool read_quantity(const char *text, const struct dist__unit *units,
			  double *value)
{
	return text && !strchr("+-", *text) &&
	       dist__quantity_read(text, units, value);
}

static const struct dist__unit speeds[] = {
	{"f", 1}, {"kf", 1e3}, {"Mf", 1e6}, {"Gf", 1e9}, {NULL, 0}};
static const struct dist__unit bandwidths[] = {
	{"Bps", 1}, {"kBps", 1e3}, {"MBps", 1e6}, {"GBps", 1e9}, {NULL, 0}};
static const struct dist__unit times[] = {
	{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0}};

/* ---- elements --------------------------------------------------------- */

static bool add_property(struct dist__plain *plain, const struct dist__tag *tag,
			 size_t *num)
{
	struct dist__graph_property property = {dist__tag_value(tag, "id"),
						dist__tag_value(tag, "value"),
						tag->line};

	return tag->kind == DIST__TAG_EMPTY && property.name &&
	       property.value && dist__tag_has_only(tag, "id value") &&
	       dist__array_add(&plain->graph.properties, num, &property,
			       sizeof property);
}

static bool add_point(struct reader *r, const char *name,
		      enum dist__point_kind kind, uint32_t is)
{
	struct dist__plain *plain = r->plain;
	uint32_t zone = r->depth ? r->open[r->depth - 1] : 0;
	struct dist__point *point;

	if (!name || !*name || strncmp(name, "__", 2) == 0 ||
	    strncmp(name, "flows", 5) == 0 ||
	    !MAKE_ROOM(plain->points, plain->num_points))
		return false;
	point = &plain->points[plain->num_points++];
	*point = (struct dist__point){
		.name = name, .kind = kind, .zone = zone, .is = is};
	if (r->depth)
		point->number = plain->zones[zone].num_points++;
	return dist__names_add(plain, &plain->point_names, point_name,
			       plain->num_points - 1);
}

static bool read_host(struct reader *r, const struct dist__tag *tag,
		      size_t *num_properties)
{
	struct dist__plain *plain = r->plain;
	struct dist__graph *graph = &plain->graph;
	struct dist__graph_host host = {.name = dist__tag_value(tag, "id"),
					.first_property =
						(uint32_t)*num_properties,
					.point = (uint32_t)plain->num_points,
					.zone = r->open[r->depth - 1]};
	struct dist__tag part = *tag;

	if (!dist__tag_has_only(tag, "id speed") ||
	    !read_quantity(dist__tag_value(tag, "speed"), speeds,
			   &host.speed) ||
	    host.speed <= 0 || !MAKE_ROOM(graph->hosts, graph->num_hosts) ||
	    !add_point(r, host.name, DIST__HOST, (uint32_t)graph->num_hosts))
		return false;
	plain->zones[host.zone].has_hosts = true;
	while (part.kind != DIST__TAG_CLOSE && tag->kind == DIST__TAG_OPEN) {
		if (!dist__tag_next(&r->tags, &part))
			return false;
		if (part.kind == DIST__TAG_CLOSE
			    ? strcmp(part.name, "host") != 0
			    : strcmp(part.name, "prop") != 0 ||
				      !add_property(plain, &part,
						    num_properties))
			return false;
	}
	host.num_properties = (uint32_t)*num_properties - host.first_property;
	graph->hosts[graph->num_hosts++] = host;
	return true;
}

/* ---- links ------------------------------------------------------------ */

enum sharing { SHARED, FATPIPE, SPLIT };

struct link {
	const char *id;
	double bandwidth_Bps, latency_s;
	enum sharing sharing;
};

/* Reads a quantity that need not be there. */
static bool read_optional(const char *text, const struct dist__unit *units,
			  double *value)
{
	*value = 0;
	return !text || read_quantity(text, units, value);
}

static bool read_sharing(const char *text, enum sharing usual,
			 enum sharing *sharing)
{
	static const char *const names[] = {[SHARED] = "SHARED",
					    [FATPIPE] = "FATPIPE",
					    [SPLIT] = "SPLITDUPLEX"};

	*sharing = usual;
	if (!text)
		return true;
	for (*sharing = SHARED; *sharing <= SPLIT; ++*sharing)
		if (strcmp(text, names[*sharing]) == 0)
			return true;
	return false;
}

/* Adds one way of a link; `other` leads back. */
static bool add_way(struct dist__plain *plain, const struct link *link,
		    const char *name, size_t other)
{
	struct dist__graph *graph = &plain->graph;

	if (!name || !MAKE_ROOM(graph->links, graph->num_links) ||
	    !MAKE_ROOM(plain->wires, graph->num_links))
		return false;
	plain->wires[graph->num_links] =
		(struct dist__wire){link->id, (uint32_t)other};
	graph->links[graph->num_links++] =
		(struct dist__graph_link){.name = name,
					  .bandwidth_Bps = link->bandwidth_Bps,
					  .latency_s = link->latency_s,
					  .is_shared = link->sharing != FATPIPE,
					  .is_on = true};
	return true;
}

/* A split link is two, NAME_UP and, behind it, NAME_DOWN. */
static bool add_link(struct dist__plain *plain, const struct link *link)
{
	size_t number = plain->graph.num_links;

	if (!link->id || strncmp(link->id, "__", 2) == 0 ||
	    dist__ends_in(link->id, "_UP") ||
	    dist__ends_in(link->id, "_DOWN") || link->bandwidth_Bps < 1)
		return false;
	if (link->sharing != SPLIT
		    ? !add_way(plain, link, link->id, number)
		    : !add_way(plain, link,
			       dist__plain_name(plain, "%s_UP", link->id),
			       number + 1) ||
			      !add_way(plain, link,
				       dist__plain_name(plain, "%s_DOWN",
							link->id),
				       number))
		return false;
	return dist__names_add(plain, &plain->link_names, link_name, number);
}

static bool read_link(struct reader *r, const struct dist__tag *tag)
{
	struct link link = {.id = dist__tag_value(tag, "id")};

	return tag->kind == DIST__TAG_EMPTY &&
	       dist__tag_has_only(tag, "id bandwidth latency sharing_policy") &&
	       read_quantity(dist__tag_value(tag, "bandwidth"), bandwidths,
			     &link.bandwidth_Bps) &&
	       read_quantity(dist__tag_value(tag, "latency"), times,
			     &link.latency_s) &&
	       read_sharing(dist__tag_value(tag, "sharing_policy"), SHARED,
			    &link.sharing) &&
	       add_link(r->plain, &link);
}

/* ---- routes ----------------------------------------------------------- */

static bool read_link_of_route(struct reader *r, const struct dist__tag *tag)
{
	struct dist__plain *plain = r->plain;
	const char *way = dist__tag_value(tag, "direction");
	uint32_t link, down = way && strcmp(way, "DOWN") == 0;
	bool is_split;

	if (tag->kind != DIST__TAG_EMPTY ||
	    strcmp(tag->name, "link_ctn") != 0 ||
	    !dist__tag_has_only(tag, "id direction") ||
	    !dist__names_find(plain, &plain->link_names, link_name,
			      dist__tag_value(tag, "id"), &link) ||
	    (way && !down && strcmp(way, "UP") != 0) ||
	    !MAKE_ROOM(plain->ctns, plain->num_ctns))
		return false;
	is_split = plain->wires[link].other != link;
	plain->ctns[plain->num_ctns++] = down ? plain->wires[link].other : link;
	return is_split == (way != NULL);
}

static bool read_route(struct reader *r, const struct dist__tag *tag,
		       bool of_zones)
{
	struct dist__plain *plain = r->plain;
	struct dist__route route = {.zone = r->open[r->depth - 1],
				    .first_link = (uint32_t)plain->num_ctns};
	const char *symmetrical = dist__tag_value(tag, "symmetrical");
	struct dist__tag part;

	route.is_one_way = symmetrical && strcmp(symmetrical, "NO") == 0;
	if (tag->kind != DIST__TAG_OPEN ||
	    !dist__tag_has_only(tag,
				of_zones ? "src dst gw_src gw_dst symmetrical"
					 : "src dst symmetrical") ||
	    (symmetrical && !route.is_one_way &&
	     strcmp(symmetrical, "YES") != 0) ||
	    !find_point(plain, dist__tag_value(tag, "src"), &route.from) ||
	    !find_point(plain, dist__tag_value(tag, "dst"), &route.to) ||
	    (of_zones && (!find_point(plain, dist__tag_value(tag, "gw_src"),
				      &route.gate_from) ||
			  !find_point(plain, dist__tag_value(tag, "gw_dst"),
				      &route.gate_to))))
		return false;
	for (;;) {
		if (!dist__tag_next(&r->tags, &part))
			return false;
		if (part.kind == DIST__TAG_CLOSE)
			break;
		if (!read_link_of_route(r, &part))
			return false;
	}
	route.num_links = (uint32_t)plain->num_ctns - route.first_link;
	if (strcmp(part.name, of_zones ? "zoneRoute" : "route") != 0 ||
	    route.num_links == 0 || route.from == route.to ||
	    !MAKE_ROOM(plain->routes, plain->num_routes))
		return false;
	plain->routes[plain->num_routes++] = route;
	return true;
}

/* ---- zones ------------------------------------------------------------ */

static bool add_zone(struct reader *r, const char *name,
		     enum dist__zone_kind kind)
{
	struct dist__plain *plain = r->plain;
	struct dist__graph *graph = &plain->graph;
	uint32_t parent = r->depth ? r->open[r->depth - 1] : 0;
	uint32_t number = (uint32_t)graph->num_zones;
	struct dist__zone zone = {.kind = kind,
				  .point = (uint32_t)plain->num_points,
				  .parent = parent,
				  .depth = (uint32_t)r->depth};

	if (r->depth == MOST_DEPTH)
		return false;
	if (r->depth)
		plain->zones[parent].has_zones = true;
	if (!add_point(r, name, DIST__ZONE, number) ||
	    !MAKE_ROOM(plain->zones, graph->num_zones) ||
	    !MAKE_ROOM(graph->zones, graph->num_zones))
		return false;
	graph->zones[number] =
		(struct dist__graph_zone){.name = name, .parent = parent};
	plain->zones[number] = zone;
	graph->num_zones++;
	r->phases[r->depth] = PROPERTIES;
	r->open[r->depth++] = number;
	return true;
}

static bool open_zone(struct reader *r, const struct dist__tag *tag)
{
	static const struct {
		const char *name;
		enum dist__zone_kind kind;
	} kinds[] = {{"Full", DIST__ZONE_FULL},
		     {"Dijkstra", DIST__ZONE_DIJKSTRA},
		     {"DijkstraCache", DIST__ZONE_DIJKSTRA}};
	const char *routing = dist__tag_value(tag, "routing");

	if (tag->kind != DIST__TAG_OPEN || !routing ||
	    !dist__tag_has_only(tag, "id routing"))
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(routing, kinds[i].name) == 0)
			return add_zone(r, dist__tag_value(tag, "id"),
					kinds[i].kind);
	return false;
}

/* ---- clusters --------------------------------------------------------- */

/* Hosts around one switch, each with a link there, all behind one backbone if
 * there is one; and each with a link to itself if it has one. */
struct cluster {
	const char *id, *prefix, *suffix;
	struct dist__graph_host host; /* but for name and point */
	struct link link, backbone, loopback;
};

static bool read_cluster_links(struct dist__plain *plain,
			       const struct dist__tag *tag, struct cluster *c)
{
	struct link *link = &c->link, *loopback = &c->loopback,
		    *backbone = &c->backbone;

	loopback->sharing = FATPIPE;
	backbone->id = dist__plain_name(plain, "%s_backbone", c->id);
	return read_quantity(dist__tag_value(tag, "bw"), bandwidths,
			     &link->bandwidth_Bps) &&
	       read_quantity(dist__tag_value(tag, "lat"), times,
			     &link->latency_s) &&
	       read_sharing(dist__tag_value(tag, "sharing_policy"), SPLIT,
			    &link->sharing) &&
	       read_optional(dist__tag_value(tag, "bb_bw"), bandwidths,
			     &backbone->bandwidth_Bps) &&
	       read_optional(dist__tag_value(tag, "bb_lat"), times,
			     &backbone->latency_s) &&
	       read_sharing(dist__tag_value(tag, "bb_sharing_policy"), SHARED,
			    &backbone->sharing) &&
	       backbone->sharing != SPLIT &&
	       read_optional(dist__tag_value(tag, "loopback_bw"), bandwidths,
			     &loopback->bandwidth_Bps) &&
	       read_optional(dist__tag_value(tag, "loopback_lat"), times,
			     &loopback->latency_s);
}

/* Adds a link that a cluster need not have, and stores its number + 1. */
static bool add_optional(struct dist__plain *plain, const struct link *link,
			 uint32_t *number)
{
	if (link->bandwidth_Bps == 0 && link->latency_s == 0)
		return true;
	*number = (uint32_t)plain->graph.num_links + 1;
	return add_link(plain, link);
}

static bool add_cluster_host(struct reader *r, struct cluster *c,
			     unsigned long number)
{
	struct dist__plain *plain = r->plain;
	struct dist__graph *graph = &plain->graph;
	uint32_t point = (uint32_t)plain->num_points;

	c->host.point = point;
	c->host.name = dist__plain_name(plain, "%s%lu%s", c->prefix, number,
					c->suffix);
	c->link.id = dist__plain_name(plain, "%s_link_%lu", c->id, number);
	c->loopback.id =
		dist__plain_name(plain, "%s_link_%lu_loopback", c->id, number);
	if (!add_point(r, c->host.name, DIST__HOST,
		       (uint32_t)graph->num_hosts) ||
	    !MAKE_ROOM(graph->hosts, graph->num_hosts) ||
	    !add_optional(plain, &c->loopback, &plain->points[point].loop))
		return false;
	graph->hosts[graph->num_hosts++] = c->host;
	plain->points[point].up = (uint32_t)graph->num_links + 1;
	return add_link(plain, &c->link);
}

/* The hosts of a list such as 0-3,8. */
static bool add_cluster_hosts(struct reader *r, struct cluster *c,
			      const char *list)
{
	size_t most = r->plain->graph.num_hosts + MOST_HOSTS;
	char *end;

	for (;; list = end + 1) {
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list || *list < '0' || *list > '9')
			return false;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list || *list < '0' || *list > '9' ||
			    last < first)
				return false;
		}
		for (; first <= last; first++)
			if (r->plain->graph.num_hosts == most ||
			    !add_cluster_host(r, c, first))
				return false;
		if (*end != ',')
			return *end == '\0';
	}
}

/* What is in a cluster is in it and in each of its hosts. */
static bool read_cluster_properties(struct reader *r,
				    const struct dist__tag *tag,
				    size_t *num_properties)
{
	struct dist__tag part = *tag;

	while (tag->kind == DIST__TAG_OPEN && part.kind != DIST__TAG_CLOSE) {
		if (!dist__tag_next(&r->tags, &part))
			return false;
		if (part.kind == DIST__TAG_CLOSE
			    ? strcmp(part.name, "cluster") != 0
			    : strcmp(part.name, "prop") != 0 ||
				      !add_property(r->plain, &part,
						    num_properties))
			return false;
	}
	return true;
}

static bool read_cluster(struct reader *r, const struct dist__tag *tag,
			 size_t *num_properties)
{
	struct dist__plain *plain = r->plain;
	struct cluster c = {
		.id = dist__tag_value(tag, "id"),
		.prefix = dist__tag_value(tag, "prefix"),
		.suffix = dist__tag_value(tag, "suffix"),
		.host = {.first_property = (uint32_t)*num_properties,
			 .zone = (uint32_t)plain->graph.num_zones}};
	const char *topology = dist__tag_value(tag, "topology");
	const char *radical = dist__tag_value(tag, "radical");
	const char *router = dist__tag_value(tag, "router_id");

	if (!c.id || !c.prefix || !c.suffix || !radical ||
	    (topology && strcmp(topology, "FLAT") != 0) ||
	    !dist__tag_has_only(
		    tag, "id prefix suffix radical speed bw lat sharing_policy "
			 "bb_bw bb_lat bb_sharing_policy loopback_bw "
			 "loopback_lat router_id topology") ||
	    !read_quantity(dist__tag_value(tag, "speed"), speeds,
			   &c.host.speed) ||
	    c.host.speed <= 0 || !read_cluster_links(plain, tag, &c) ||
	    !add_zone(r, c.id, DIST__ZONE_STAR) ||
	    !read_cluster_properties(r, tag, num_properties))
		return false;
	c.host.num_properties =
		(uint32_t)*num_properties - c.host.first_property;
	if (r->depth == 1)
		plain->graph.num_zone_properties = c.host.num_properties;
	if (!router || !*router)
		router = dist__plain_name(plain, "%s%s_router%s", c.prefix,
					  c.id, c.suffix);
	if (!add_optional(plain, &c.backbone,
			  &plain->zones[c.host.zone].backbone) ||
	    !add_cluster_hosts(r, &c, radical) ||
	    !add_point(r, router, DIST__ROUTER, 0))
		return false;
	r->depth--;
	return true;
}

/* ---- what is in a zone ------------------------------------------------ */

/* What may come in a zone, in the order of SimGrid's document type. */
static bool read_part(struct reader *r, const struct dist__tag *tag,
		      size_t *num_properties)
{
	static const struct {
		const char *name;
		enum phase phase;
	} parts[] = {{"prop", PROPERTIES}, {"zone", CONTENTS},
		     {"host", CONTENTS},   {"router", CONTENTS},
		     {"link", CONTENTS},   {"cluster", CONTENTS},
		     {"route", ROUTES},    {"zoneRoute", ROUTES}};
	size_t i = 0;

	while (i < sizeof parts / sizeof parts[0] &&
	       strcmp(parts[i].name, tag->name) != 0)
		i++;
	if (i == sizeof parts / sizeof parts[0] ||
	    parts[i].phase < r->phases[r->depth - 1])
		return false;
	r->phases[r->depth - 1] = parts[i].phase;
	switch (i) {
	case 0:
		r->plain->graph.num_zone_properties++;
		return r->depth == 1 &&
		       add_property(r->plain, tag, num_properties);
	case 1:
		return open_zone(r, tag);
	case 2:
		return read_host(r, tag, num_properties);
	case 3:
		r->plain->zones[r->open[r->depth - 1]].has_hosts = true;
		return tag->kind == DIST__TAG_EMPTY &&
		       dist__tag_has_only(tag, "id") &&
		       add_point(r, dist__tag_value(tag, "id"), DIST__ROUTER,
				 0);
	case 4:
		return read_link(r, tag);
	case 5:
		return read_cluster(r, tag, num_properties);
	default:
		return read_route(r, tag, i == 7);
	}
}

static bool close_zone(struct reader *r, const struct dist__tag *tag)
{
	const struct dist__zone *zone = &r->plain->zones[r->open[--r->depth]];

	return strcmp(tag->name, "zone") == 0 &&
	       zone->has_zones != zone->has_hosts &&
	       (zone->has_hosts || zone->kind == DIST__ZONE_FULL);
}

/* ---- the file --------------------------------------------------------- */

/* What SimGrid's CM02 has where a platform does not say. */
static const double defaults[DIST__GRAPH_SETTINGS] = {
	[DIST__LATENCY_FACTOR] = 1,
	[DIST__BANDWIDTH_FACTOR] = 1,
	[DIST__LOOPBACK_BANDWIDTH] = 10e9,
};

static bool read_setting(struct dist__graph_network *network,
			 const struct dist__tag *tag)
{
	const char *name = dist__tag_value(tag, "id");
	const char *text = dist__tag_value(tag, "value");
	size_t i = 0;
	double value;

	if (tag->kind != DIST__TAG_EMPTY || strcmp(tag->name, "prop") != 0 ||
	    !name || !text || !dist__tag_has_only(tag, "id value"))
		return false;
	if (strcmp(name, "network/model") == 0 && !network->states_model) {
		network->model = text;
		network->states_model = true;
		return strcmp(text, "CM02") == 0;
	}
	while (i < DIST__GRAPH_SETTINGS &&
	       strcmp(dist__graph_settings[i], name) != 0)
		i++;
	if (i == DIST__GRAPH_SETTINGS || network->settings[i].is_stated ||
	    !dist__number_read(text, &value) || value < 0 ||
	    (i == DIST__CROSSTRAFFIC && strcmp(text, "0") != 0 &&
	     strcmp(text, "1") != 0))
		return false;
	network->settings[i].value = value;
	network->settings[i].is_stated = true;
	return true;
}

static bool read_settings(struct reader *r)
{
	struct dist__graph_network *network = &r->plain->graph.network;
	struct dist__tag tag;

	for (size_t i = 0; i < DIST__GRAPH_SETTINGS; i++)
		network->settings[i].value = defaults[i];
	for (;;) {
		if (!dist__tag_next(&r->tags, &tag))
			return false;
		if (tag.kind == DIST__TAG_CLOSE)
			return strcmp(tag.name, "config") == 0 &&
			       network->states_model;
		if (!read_setting(network, &tag))
			return false;
	}
}

/* The way from a host to itself, where it has none of its own. */
static bool add_loopback(struct dist__plain *plain)
{
	const struct dist__graph_network *network = &plain->graph.network;
	struct link link = {
		.bandwidth_Bps =
			network->settings[DIST__LOOPBACK_BANDWIDTH].value,
		.latency_s = network->settings[DIST__LOOPBACK_LATENCY].value,
		.sharing = FATPIPE};

	return add_way(plain, &link, "__loopback__", plain->graph.num_links);
}

/* The root and what of it comes before the outermost zone, which is open
 * then. */
static bool read_head(struct reader *r, size_t *num_properties)
{
	const char *version;
	struct dist__tag tag;

	if (!dist__tag_next(&r->tags, &tag) || tag.kind != DIST__TAG_OPEN ||
	    strcmp(tag.name, "platform") != 0)
		return false;
	version = dist__tag_value(&tag, "version");
	if (!version || strcmp(version, "4.1") != 0 || tag.num != 1)
		return false;
	return dist__tag_next(&r->tags, &tag) && tag.kind == DIST__TAG_OPEN &&
	       strcmp(tag.name, "config") == 0 &&
	       dist__tag_has_only(&tag, "id") && read_settings(r) &&
	       dist__tag_next(&r->tags, &tag) &&
	       (strcmp(tag.name, "cluster") == 0
			? read_cluster(r, &tag, num_properties)
			: strcmp(tag.name, "zone") == 0 && open_zone(r, &tag));
}

static bool read_file(struct reader *r)
{
	size_t num_properties = 0;
	struct dist__tag tag;

	if (!read_head(r, &num_properties))
		return false;
	while (r->depth > 0)
		if (!dist__tag_next(&r->tags, &tag) ||
		    !(tag.kind == DIST__TAG_CLOSE
			      ? close_zone(r, &tag)
			      : read_part(r, &tag, &num_properties)))
			return false;
	return dist__tag_next(&r->tags, &tag) && tag.kind == DIST__TAG_CLOSE &&
	       strcmp(tag.name, "platform") == 0 &&
	       r->tags.at[strspn(r->tags.at, " \t\r\n")] == '\0' &&
	       r->plain->graph.num_hosts > 0 && add_loopback(r->plain);
}

struct dist__plain *dist__platform_read(const char *path)
{
	struct reader r = {.depth = 0};
	size_t len;

	r.plain = calloc(1, sizeof *r.plain);
	if (!r.plain || dist__input_read(path, &r.plain->text, &len) ||
	    strlen(r.plain->text) != len) {
		dist__plain_free(r.plain);
		return NULL;
	}
	r.tags = (struct dist__tags){r.plain->text, 1};
	r.plain->graph.find_way = dist__plain_find_way;
	if (!read_file(&r) || !dist__plain_join(r.plain)) {
		dist__plain_free(r.plain);
		return NULL;
	}
	return r.plain;
}

void dist__plain_free(struct dist__plain *plain)
{
	struct dist__names_made *next;
	struct dist__graph *graph;

	if (!plain)
		return;
	graph = &plain->graph;
	for (; plain->made; plain->made = next) {
		next = plain->made->next;
		free(plain->made);
	}
	for (size_t i = 0; i < graph->num_zones; i++)
		free(plain->zones[i].table);
	free(graph->properties);
	free(graph->zones);
	free(graph->hosts);
	free(graph->links);
	free(plain->text);
	free(plain->wires);
	free(plain->points);
	free(plain->zones);
	free(plain->routes);
	free(plain->ctns);
	free(plain->steps);
	free(plain->step_links);
	free(plain->point_names.slots);
	free(plain->link_names.slots);
	free(plain->search.at);
	free(plain->by_rank);
	free(plain->search.heap);
	free(plain->search.pushed_from);
	for (size_t i = 0; plain->search.trees && i < plain->num_points; i++)
		free(plain->search.trees[i]);
	free(plain->search.trees);
	free(plain);
}
