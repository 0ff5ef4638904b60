/*
 * queues.c - whether a platform's links let pass what comes to them in
 * the order it comes, by the outermost zone's property "queues": "fifo", or
 * "none" as without it.
 */
#include "sim/platform/state.h"

#include <string.h>

#include <xbt/config.h>

#include "base/refuse.h"
#include "sim/engine/shim.h"

/* What queues.c knows: a message alone takes latency + bytes / rate. */
static bool is_plain(void)
{
	return strcmp(dist__engine_model(), "CM02") == 0 &&
	       dist__engine_number("network/TCP-gamma") == 0 &&
	       dist__engine_number("network/latency-factor") == 1 &&
	       dist__engine_number("network/bandwidth-factor") == 1 &&
	       !sg_cfg_get_boolean("network/crosstraffic");
}

enum dist_error dist__platform_read_queues(struct dist__platform *p,
					   struct dist_message *message)
{
	const char *text = dist__engine_property("queues");

	if (!text || strcmp(text, "none") == 0)
		return DIST_OK;
	if (strcmp(text, "fifo") != 0)
		return dist__refuse(message,
				    "%s: property \"queues\" is "
				    "\"%.32s\": expected none or fifo",
				    p->path, text);
	if (!is_plain())
		return dist__refuse(
			message,
			"%s: property \"queues\" is fifo: expected "
			"network/model CM02, factors of 1, no "
			"network/TCP-gamma and no network/crosstraffic",
			p->path);
	p->has_queues = true;
	return DIST_OK;
}
