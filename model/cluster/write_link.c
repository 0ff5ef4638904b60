/* write_link.c - one link, as fast as it is left. */
#include "model/cluster/writer.h"

#include <stdarg.h>
#include <string.h>

void platform_write_link(struct platform_writer *w, struct platform_wire wire,
			 const char *format, ...)
{
	const struct platform_description *d = w->description;
	char name[64];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof name, format, args);
	va_end(args);
	for (int i = 0; i < d->num_degraded; i++)
		if (strcmp(d->degraded[i].name, name) == 0) {
			wire.bandwidth_Bps *= d->degraded[i].factor;
			w->degraded[i] = true;
		}
	fprintf(w->out,
		"      <link id=\"%s\" bandwidth=\"%.9gBps\" latency=\"%.9gs\" "
		"sharing_policy=\"SPLITDUPLEX\"/>\n",
		name, wire.bandwidth_Bps, wire.latency_s);
}
