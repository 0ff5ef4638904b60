/*
 * writer.h - writes a description as SimGrid XML, in parts.
 *
 * There is a zone for each switch with nodes, in which SimGrid finds the
 * shortest routes over its links. The few zones above list all their routes.
 */
#ifndef LOCKSTEP_MODEL_CLUSTER_WRITER_H
#define LOCKSTEP_MODEL_CLUSTER_WRITER_H

#include "model/cluster/description.h"

struct platform_writer {
	FILE *out;
	const struct platform_description *description;
	bool degraded[PLATFORM_CHANGES]; /* whose link was found */
};

/* platform_write_link declares a link for each direction, with degraded
 * bandwidth if there is such a change. */
__attribute__((format(printf, 3, 4))) void
platform_write_link(struct platform_writer *writer, struct platform_wire wire,
		    const char *format, ...);

/* ---- nodes, in the zone of their switch ------------------------------- */

/* platform_write_parts declares the GPUs and switches of a node, _links its
 * links, and _ways the routes between its parts and, if it has cards, to the
 * router `exit`. */
void platform_write_parts(struct platform_writer *writer, int node);
void platform_write_links(struct platform_writer *writer, int node);
void platform_write_ways(struct platform_writer *writer, int node,
			 const char *exit);

/* ---- the rest -------------------------------------------------------- */

/* platform_write_fabric writes every zone inside the outermost one, and the
 * routes between them. */
void platform_write_fabric(struct platform_writer *writer);

#endif
