/*
 * writer.h - writing a description as SimGrid XML, in parts.
 *
 * Zones: one for each switch that nodes hang on, in which SimGrid finds the
 * shortest way over the links that are there; above them zones whose ways are
 * all written out, few enough.
 */
#ifndef LOCKSTEP_MODEL_CLUSTER_WRITER_H
#define LOCKSTEP_MODEL_CLUSTER_WRITER_H

#include "model/cluster/description.h"

struct platform_writer {
	FILE *out;
	const struct platform_description *description;
	bool degraded[PLATFORM_CHANGES]; /* which ones met their link */
};

/* platform_write_link declares a link of its own in each direction, less what
 * was taken from it. */
__attribute__((format(printf, 3, 4))) void
platform_write_link(struct platform_writer *writer, struct platform_wire wire,
		    const char *format, ...);

/* ---- nodes, in the zone of their switch ------------------------------- */

/* platform_write_parts declares the GPUs and switches of a node, _links its
 * links, _ways how its parts are joined and, where it has cards, reach the
 * router `exit`. */
void platform_write_parts(struct platform_writer *writer, int node);
void platform_write_links(struct platform_writer *writer, int node);
void platform_write_ways(struct platform_writer *writer, int node,
			 const char *exit);

/* ---- the rest -------------------------------------------------------- */

/* platform_write_fabric writes every zone inside the outermost, and how they
 * are joined. */
void platform_write_fabric(struct platform_writer *writer);

#endif
