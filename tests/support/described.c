/* described.c - a platform file of a test's own, from a description. */
#include "tests/support/described.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/cluster/description.h"

static bool is_said(const char *text)
{
	return text && *text;
}

static void read_options(const struct described *s,
			 struct platform_description *d)
{
	struct dist_message message = {""};
	bool fine = true;

	d->kinds = 1;
	d->nodes[0].count = s->nodes;
	d->nodes[0].gpus = s->gpus;
	if (is_said(s->gpu))
		snprintf(d->nodes[0].gpu, sizeof d->nodes[0].gpu, "%s", s->gpu);
	if (is_said(s->intra))
		fine = !platform_read_intra(s->intra, &d->nodes[0].intra,
					    &message);
	if (fine && is_said(s->inter))
		fine = !platform_read_inter(s->inter, &d->nodes[0].inter,
					    &message);
	if (fine && is_said(s->degrade))
		fine = !platform_read_change("--degrade", s->degrade,
					     d->degraded, &d->num_degraded,
					     &message);
	cr_assert(fine && !platform_read_topology(
				  is_said(s->topology) ? s->topology : "star",
				  &d->fabric, &message),
		  "%s", message.text);
	cr_assert(!platform_check(d, &message), "%s", message.text);
}

void described_write(const struct described *described, char *path)
{
	struct platform_description *description =
		calloc(1, sizeof *description);
	struct dist_message message = {""};
	int fd = mkstemp(path);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	cr_assert(out && description);
	read_options(described, description);
	cr_assert(
		!platform_write(description, NULL, "by a test", out, &message),
		"%s", message.text);
	fclose(out);
	free(description);
}
