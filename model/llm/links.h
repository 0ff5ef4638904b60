/* links.h - what of a cluster's links joins the ranks of one axis of a layout.
 */
#ifndef LOCKSTEP_MODEL_LLM_LINKS_H
#define LOCKSTEP_MODEL_LLM_LINKS_H

#include "model/library/fabric.h"
#include "model/llm/layout.h"

/* llm_axis_links stores the links of a group of that axis: of the cards its
 * share, of links between pairs of GPUs (FABRIC_NVLINK) those within the group,
 * without NVLink its share of what joins the sockets. Returns the group, of one
 * rank on a node at least. */
struct llm_group llm_axis_links(struct fabric *fabric,
				const struct fabric *cluster,
				const struct llm_layout *layout,
				enum llm_axis axis);

/* llm_distinct returns, of so many copies of a token that go to any of `places`
 * alike, the share that go to places of their own. */
double llm_distinct(double copies, double places);

#endif
