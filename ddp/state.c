/* state.c - the begin and the end of every call of ddp. */
#include "ddp/state.h"

#include <stdarg.h>
#include <stdio.h>

struct dist__ddp_site dist__ddp_enter(struct dist_ddp *ddp)
{
	struct dist__ddp_site site = ddp->next_site;

	ddp->next_site.file = NULL;
	ddp->next_site.line = 0;
	ddp->message.text[0] = '\0';
	return site;
}

enum dist_error dist__ddp_refuse(struct dist_ddp *ddp,
				 const struct dist__ddp_site *site,
				 const char *call, const char *format, ...)
{
	char text[sizeof ddp->message.text];
	va_list args;

	va_start(args, format);
	vsnprintf(ddp->message.text, sizeof ddp->message.text, format, args);
	va_end(args);
	snprintf(text, sizeof text, "%s: %.480s", call, ddp->message.text);
	return dist_refuse(dist_at(ddp->group, site->file, site->line), text);
}

enum dist_error dist__ddp_failed(struct dist_ddp *ddp, const char *what,
				 enum dist_error error)
{
	const char *text = dist_error_message(ddp->group);

	snprintf(ddp->message.text, sizeof ddp->message.text, "%.80s: %.400s",
		 what, *text ? text : dist_error_string(error));
	return error;
}

void dist__ddp_empty(struct dist_ddp *ddp)
{
	size_t i;

	for (i = 0; i < ddp->partition.num_spans; i++)
		ddp->buckets[i].missing = ddp->partition.spans[i].num;
	for (i = 0; i < ddp->num; i++) {
		struct dist__ddp_slot *slot = &ddp->slots[i];

		slot->ready = false;
		if (ddp->graph_known && !slot->in_graph)
			ddp->buckets[slot->bucket].missing--;
	}
	ddp->num_launched = 0;
}
