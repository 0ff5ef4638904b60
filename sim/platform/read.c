/*
 * read.c - reads a plain platform file. SimGrid 3.32 takes seconds for one of
 * 16,384 GPUs: it looks every link and host up by name in every zone, and we
 * have it do all twice, as it ends the process at some faults (trial.c). What
 * is read here has none of those. Whatever is odd is left to SimGrid, so that
 * there is one set of error messages.
 */
#include "sim/platform/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/quantity.h"
#include "sim/engine/shim.h"
#include "sim/platform/state.h"

#define MOST_DEPTH 8

/* What may still come in a zone. */
enum phase { PROPERTIES, CONTENTS, ROUTES };

struct reader {
	struct dist__plain *plain;
	char *at;
	uint32_t open[MOST_DEPTH]; /* zones */
	enum phase phases[MOST_DEPTH];
	size_t depth;
};

/* ---- arrays ----------------------------------------------------------- */

/* Makes room for one more than num in what *array points to; it doubles. */
static bool make_room(void *array, size_t num, size_t size)
{
	void *old, *grown;

	if ((num & (num - 1)) != 0)
		return true;
	memcpy(&old, array, sizeof old);
	grown = realloc(old, 2 * (num ? num : 1) * size);
	if (grown)
		memcpy(array, &grown, sizeof grown);
	return grown != NULL;
}

#define MAKE_ROOM(array, num) make_room(&(array), (num), sizeof *(array))

/* ---- names ------------------------------------------------------------ */

typedef const char *name_of(const struct dist__plain *plain, size_t number);

static const char *point_name(const struct dist__plain *plain, size_t number)
{
	return plain->points[number].name;
}

static const char *link_name(const struct dist__plain *plain, size_t number)
{
	return plain->graph.links[number].name;
}

/* Where name is, or would be. */
static uint32_t *find_slot(const struct dist__plain *plain,
			   const struct dist__names *names, name_of *get,
			   const char *name)
{
	uint64_t hash = dist__hash_bytes(DIST__HASH_BEGIN, name, strlen(name));
	size_t at = (size_t)hash & (names->num_slots - 1);

	while (names->slots[at] &&
	       strcmp(get(plain, names->slots[at] - 1), name) != 0)
		at = (at + 1) & (names->num_slots - 1);
	return &names->slots[at];
}

static bool grow_names(const struct dist__plain *plain,
		       struct dist__names *names, name_of *get)
{
	struct dist__names grown = {
		.num_slots = names->num_slots ? 4 * names->num_slots : 1024,
		.num = names->num};

	grown.slots = calloc(grown.num_slots, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < names->num_slots; i++)
		if (names->slots[i])
			*find_slot(plain, &grown, get,
				   get(plain, names->slots[i] - 1)) =
				names->slots[i];
	free(names->slots);
	*names = grown;
	return true;
}

/* Gives the number, which is that of the last, its name; false: taken. */
static bool add_name(const struct dist__plain *plain, struct dist__names *names,
		     name_of *get, size_t number)
{
	uint32_t *slot;

	if (2 * names->num >= names->num_slots &&
	    !grow_names(plain, names, get))
		return false;
	slot = find_slot(plain, names, get, get(plain, number));
	if (*slot)
		return false;
	*slot = (uint32_t)number + 1;
	names->num++;
	return true;
}

static bool find_name(const struct dist__plain *plain,
		      const struct dist__names *names, name_of *get,
		      const char *name, uint32_t *number)
{
	uint32_t slot = 0;

	if (name && names->num_slots)
		slot = *find_slot(plain, names, get, name);
	*number = slot - 1;
	return slot > 0;
}

static bool find_point(const struct dist__plain *plain, const char *name,
		       uint32_t *number)
{
	return find_name(plain, &plain->point_names, point_name, name, number);
}

/* ---- quantities ------------------------------------------------------- */

struct unit {
	const char *name;
	double factor;
};

static bool read_quantity(const char *text, const struct unit *units,
			  double *value)
{
	char *end;

	if (!text || (*text != '.' && (*text < '0' || *text > '9')) ||
	    strncmp(text, "0x", 2) == 0)
		return false;
	*value = strtod(text, &end);
	for (; units->name; units++)
		if (strcmp(units->name, end) == 0) {
			*value *= units->factor;
			return isfinite(*value);
		}
	return false;
}

static const struct unit speeds[] = {
	{"f", 1}, {"kf", 1e3}, {"Mf", 1e6}, {"Gf", 1e9}, {NULL, 0}};
static const struct unit bandwidths[] = {
	{"Bps", 1}, {"kBps", 1e3}, {"MBps", 1e6}, {"GBps", 1e9}, {NULL, 0}};
static const struct unit times[] = {
	{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0}};

/* ---- elements --------------------------------------------------------- */

static bool add_property(struct dist__plain *plain, const struct dist__tag *tag,
			 size_t *num)
{
	struct dist__graph_property property = {dist__tag_value(tag, "id"),
						dist__tag_value(tag, "value")};

	if (tag->kind != DIST__TAG_EMPTY || !property.name || !property.value ||
	    !dist__tag_has_only(tag, "id value") ||
	    !MAKE_ROOM(plain->graph.properties, *num))
		return false;
	plain->graph.properties[(*num)++] = property;
	return true;
}

/* Whether a host's property is one that cannot be wrong. */
static bool is_host_property(const struct dist__graph_property *property)
{
	double pace;

	if (strcmp(property->name, "pace") == 0)
		return dist__number_read(property->value, &pace) &&
		       pace >= DIST__LEAST_PACE && pace <= DIST__MOST_PACE;
	return strcmp(property->name, "rank") != 0 &&
	       strcmp(property->name, "ranks") != 0;
}

static bool is_zone_property(const struct dist__graph_property *property)
{
	return strcmp(property->name, "nodes") != 0 &&
	       (strcmp(property->name, "queues") != 0 ||
		strcmp(property->value, "none") == 0);
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
	return add_name(plain, &plain->point_names, point_name,
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
		if (!dist__tag_next(&r->at, &part))
			return false;
		if (part.kind == DIST__TAG_CLOSE
			    ? strcmp(part.name, "host") != 0
			    : strcmp(part.name, "prop") != 0 ||
				      !add_property(plain, &part,
						    num_properties) ||
				      !is_host_property(
					      &graph->properties
						       [*num_properties - 1]))
			return false;
	}
	host.num_properties = (uint32_t)*num_properties - host.first_property;
	graph->hosts[graph->num_hosts++] = host;
	return true;
}

static bool read_router(struct reader *r, const struct dist__tag *tag)
{
	r->plain->zones[r->open[r->depth - 1]].has_hosts = true;
	return tag->kind == DIST__TAG_EMPTY && dist__tag_has_only(tag, "id") &&
	       add_point(r, dist__tag_value(tag, "id"), DIST__ROUTER, 0);
}

static bool read_sharing(const char *text, enum dist__graph_sharing *sharing)
{
	static const char *const names[] = {[DIST__GRAPH_SHARED] = "SHARED",
					    [DIST__GRAPH_FATPIPE] = "FATPIPE",
					    [DIST__GRAPH_SPLIT] =
						    "SPLITDUPLEX"};

	for (int i = 0; i <= DIST__GRAPH_SPLIT; i++)
		if (strcmp(text ? text : "SHARED", names[i]) == 0) {
			*sharing = (enum dist__graph_sharing)i;
			return true;
		}
	return false;
}

static bool read_link(struct reader *r, const struct dist__tag *tag)
{
	struct dist__graph *graph = &r->plain->graph;
	struct dist__graph_link link = {.name = dist__tag_value(tag, "id")};

	if (tag->kind != DIST__TAG_EMPTY || !link.name ||
	    strncmp(link.name, "__", 2) == 0 ||
	    dist__ends_in(link.name, "_UP") ||
	    dist__ends_in(link.name, "_DOWN") ||
	    !dist__tag_has_only(tag, "id bandwidth latency sharing_policy") ||
	    !read_quantity(dist__tag_value(tag, "bandwidth"), bandwidths,
			   &link.bandwidth_Bps) ||
	    !read_quantity(dist__tag_value(tag, "latency"), times,
			   &link.latency_s) ||
	    !read_sharing(dist__tag_value(tag, "sharing_policy"),
			  &link.sharing) ||
	    link.bandwidth_Bps < 1 ||
	    !MAKE_ROOM(graph->links, graph->num_links))
		return false;
	graph->links[graph->num_links++] = link;
	return add_name(r->plain, &r->plain->link_names, link_name,
			graph->num_links - 1);
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
	    !find_name(plain, &plain->link_names, link_name,
		       dist__tag_value(tag, "id"), &link) ||
	    (way && !down && strcmp(way, "UP") != 0) ||
	    !MAKE_ROOM(plain->ctns, plain->num_ctns))
		return false;
	is_split = plain->graph.links[link].sharing == DIST__GRAPH_SPLIT;
	plain->ctns[plain->num_ctns++] = 2 * link + down;
	return is_split == (way != NULL);
}

static bool read_route(struct reader *r, const struct dist__tag *tag,
		       bool of_zones)
{
	struct dist__plain *plain = r->plain;
	struct dist__route route = {.zone = r->open[r->depth - 1],
				    .first_link = (uint32_t)plain->num_ctns};
	struct dist__tag part;

	if (tag->kind != DIST__TAG_OPEN ||
	    !dist__tag_has_only(tag, of_zones ? "src dst gw_src gw_dst"
					      : "src dst") ||
	    !find_point(plain, dist__tag_value(tag, "src"), &route.from) ||
	    !find_point(plain, dist__tag_value(tag, "dst"), &route.to) ||
	    (of_zones && (!find_point(plain, dist__tag_value(tag, "gw_src"),
				      &route.gate_from) ||
			  !find_point(plain, dist__tag_value(tag, "gw_dst"),
				      &route.gate_to))))
		return false;
	for (;;) {
		if (!dist__tag_next(&r->at, &part))
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

static bool open_zone(struct reader *r, const struct dist__tag *tag)
{
	struct dist__plain *plain = r->plain;
	struct dist__graph *graph = &plain->graph;
	const char *routing = dist__tag_value(tag, "routing");
	uint32_t parent = r->depth ? r->open[r->depth - 1] : 0;
	struct dist__zone zone = {.point = (uint32_t)plain->num_points,
				  .parent = parent,
				  .depth = (uint32_t)r->depth};
	uint32_t number = (uint32_t)graph->num_zones;

	if (tag->kind != DIST__TAG_OPEN || r->depth == MOST_DEPTH || !routing ||
	    !dist__tag_has_only(tag, "id routing"))
		return false;
	if (strcmp(routing, "Full") == 0)
		zone.kind = DIST__ZONE_FULL;
	else if (strcmp(routing, "Dijkstra") == 0 ||
		 strcmp(routing, "DijkstraCache") == 0)
		zone.kind = DIST__ZONE_DIJKSTRA;
	else
		return false;
	if (r->depth)
		plain->zones[parent].has_zones = true;
	if (!add_point(r, dist__tag_value(tag, "id"), DIST__ZONE, number) ||
	    !MAKE_ROOM(plain->zones, graph->num_zones) ||
	    !MAKE_ROOM(graph->zones, graph->num_zones))
		return false;
	graph->zones[number] = (struct dist__graph_zone){
		.name = dist__tag_value(tag, "id"), .parent = parent};
	plain->zones[number] = zone;
	graph->num_zones++;
	r->phases[r->depth] = PROPERTIES;
	r->open[r->depth++] = number;
	return true;
}

/* What may come in a zone, in the order of SimGrid's document type. */
static bool read_part(struct reader *r, const struct dist__tag *tag,
		      size_t *num_properties)
{
	static const struct {
		const char *name;
		enum phase phase;
	} parts[] = {{"prop", PROPERTIES}, {"zone", CONTENTS},
		     {"host", CONTENTS},   {"router", CONTENTS},
		     {"link", CONTENTS},   {"route", ROUTES},
		     {"zoneRoute", ROUTES}};
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
		       add_property(r->plain, tag, num_properties) &&
		       is_zone_property(
			       &r->plain->graph
					.properties[*num_properties - 1]);
	case 1:
		return open_zone(r, tag);
	case 2:
		return read_host(r, tag, num_properties);
	case 3:
		return read_router(r, tag);
	case 4:
		return read_link(r, tag);
	default:
		return read_route(r, tag, i == 6);
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

/* Settings of CM02; what a platform must state (start.c) comes first. */
static const struct {
	const char *name;
	bool is_stated, divides;
} settings[] = {{"network/model", true, false},
		{"network/crosstraffic", true, false},
		{"network/TCP-gamma", true, false},
		{"network/latency-factor", false, false},
		{"network/bandwidth-factor", false, true},
		{"network/weight-S", false, false},
		{"network/loopback-lat", false, false},
		{"network/loopback-bw", false, true}};

#define NUM_SETTINGS (sizeof settings / sizeof settings[0])

/* Which setting it is; NUM_SETTINGS: none, or a bad one. */
static size_t setting_of(const struct dist__graph_property *property)
{
	const char *value = property->value;
	double number;
	size_t i = 0;

	while (i < NUM_SETTINGS && strcmp(settings[i].name, property->name))
		i++;
	if (i == 0)
		return strcmp(value, "CM02") == 0 ? i : NUM_SETTINGS;
	if (i == 1)
		return strcmp(value, "0") == 0 || strcmp(value, "1") == 0
			       ? i
			       : NUM_SETTINGS;
	if (i == NUM_SETTINGS || !dist__number_read(value, &number) ||
	    (settings[i].divides ? number <= 0 : number < 0))
		return NUM_SETTINGS;
	return i;
}

static int by_setting(const void *a, const void *b)
{
	const struct dist__graph_property *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool read_settings(struct reader *r)
{
	struct dist__graph *graph = &r->plain->graph;
	unsigned met = 0;
	struct dist__tag tag;
	size_t num = 0;

	while (dist__tag_next(&r->at, &tag) && tag.kind != DIST__TAG_CLOSE) {
		size_t setting;

		if (strcmp(tag.name, "prop") != 0 ||
		    !add_property(r->plain, &tag, &num))
			return false;
		setting = setting_of(&graph->properties[num - 1]);
		if (setting == NUM_SETTINGS || (met & 1U << setting))
			return false;
		met |= 1U << setting;
	}
	for (size_t i = 0; i < NUM_SETTINGS; i++)
		if (settings[i].is_stated && !(met & 1U << i))
			return false;
	graph->settings = graph->properties;
	graph->num_settings = num;
	graph->properties = NULL;
	qsort(graph->settings, num, sizeof *graph->settings, by_setting);
	return tag.kind == DIST__TAG_CLOSE && strcmp(tag.name, "config") == 0;
}

/* The root and what of it comes before the outermost zone, which is open
 * then. */
static bool read_head(struct reader *r)
{
	const char *version;
	struct dist__tag tag;

	if (!dist__tag_next(&r->at, &tag) || tag.kind != DIST__TAG_OPEN ||
	    strcmp(tag.name, "platform") != 0)
		return false;
	version = dist__tag_value(&tag, "version");
	if (!version || strcmp(version, "4.1") != 0 || tag.num != 1)
		return false;
	return dist__tag_next(&r->at, &tag) && tag.kind == DIST__TAG_OPEN &&
	       strcmp(tag.name, "config") == 0 &&
	       dist__tag_has_only(&tag, "id") && read_settings(r) &&
	       dist__tag_next(&r->at, &tag) && strcmp(tag.name, "zone") == 0 &&
	       open_zone(r, &tag);
}

static bool read_file(struct reader *r)
{
	size_t num_properties = 0;
	struct dist__tag tag;

	if (!read_head(r))
		return false;
	while (r->depth > 0)
		if (!dist__tag_next(&r->at, &tag) ||
		    !(tag.kind == DIST__TAG_CLOSE
			      ? close_zone(r, &tag)
			      : read_part(r, &tag, &num_properties)))
			return false;
	return dist__tag_next(&r->at, &tag) && tag.kind == DIST__TAG_CLOSE &&
	       strcmp(tag.name, "platform") == 0 &&
	       r->at[strspn(r->at, " \t\r\n")] == '\0' &&
	       r->plain->graph.num_hosts > 0;
}

static struct dist__plain *read_plain(const char *path)
{
	struct reader r = {.depth = 0};
	size_t len;

	r.plain = calloc(1, sizeof *r.plain);
	if (!r.plain || dist__input_read(path, &r.plain->text, &len) ||
	    strlen(r.plain->text) != len) {
		dist__plain_free(r.plain);
		return NULL;
	}
	r.at = r.plain->text;
	r.plain->graph.find_way = dist__plain_find_way;
	if (!read_file(&r) || !dist__plain_join(r.plain)) {
		dist__plain_free(r.plain);
		return NULL;
	}
	return r.plain;
}

struct dist__plain *dist__platform_read(const char *path)
{
	return dist__engine_can_build() ? read_plain(path) : NULL;
}

/* Whether no property of the file can be called gpu: neither as it stands, nor
 * by an entity or from another file. */
static bool is_without_gpu(const char *path)
{
	bool without = false;
	char *text;
	size_t len;

	if (dist__input_read(path, &text, &len))
		return false;
	without = strlen(text) == len && !strstr(text, "gpu") &&
		  !strchr(text, '&') && !strstr(text, "include");
	free(text);
	return without;
}

bool dist__platform_gpu_read(const char *path, char gpu[64])
{
	struct dist__plain *plain;
	bool is_plain;

	gpu[0] = '\0';
	if (is_without_gpu(path))
		return true;
	plain = read_plain(path);
	is_plain = plain != NULL;
	for (size_t i = 0; plain && i < plain->graph.num_zone_properties; i++)
		if (strcmp(plain->graph.properties[i].name, "gpu") == 0) {
			snprintf(gpu, 64, "%s",
				 plain->graph.properties[i].value);
			break;
		}
	dist__plain_free(plain);
	return is_plain;
}

void dist__plain_free(struct dist__plain *plain)
{
	struct dist__graph *graph;

	if (!plain)
		return;
	graph = &plain->graph;
	for (size_t i = 0; i < graph->num_zones; i++)
		free(plain->zones[i].table);
	free(graph->settings);
	free(graph->properties);
	free(graph->zones);
	free(graph->hosts);
	free(graph->links);
	free(plain->text);
	free(plain->points);
	free(plain->zones);
	free(plain->routes);
	free(plain->ctns);
	free(plain->steps);
	free(plain->step_links);
	free(plain->point_names.slots);
	free(plain->link_names.slots);
	free(plain->search.cost);
	free(plain->search.before);
	free(plain->search.seen);
	free(plain->by_rank);
	free(plain->search.heap);
	free(plain->search.asked);
	for (size_t i = 0; plain->search.trees && i < plain->num_points; i++)
		free(plain->search.trees[i]);
	free(plain->search.trees);
	free(plain);
}
