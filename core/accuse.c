/* accuse.c - messages about memory that was touched while it was in use. */
#include <stdio.h>

#include "check/record.h"
#include "core/buffer_check_state.h"
#include "check/watch/source.h"

static void print_name(char *text, size_t size,
		       const struct dist__region *region)
{
	if (region->part < 0)
		snprintf(text, size, "%s", region->name);
	else
		snprintf(text, size, "%s[%d]", region->name, region->part);
}

/* Writes into the hazard which of region's elements lies at address. */
static void locate(struct check_hazard *hazard,
		   const struct dist__region *region, const char *address)
{
	print_name(hazard->buffer, sizeof hazard->buffer, region);
	hazard->element = (size_t)(address - (char *)region->tensor.data) /
			  dist_dtype_size(region->tensor.dtype);
	hazard->numel = region->tensor.numel;
}

/* Whether a point says enough: a function without line, as of the C library,
 * may touch more than it was asked to, unless what it wrote is other now. */
static bool is_sure(const struct dist__access *access, const char *change)
{
	return dist__source_find(access->frames, 1).line > 0 ||
	       (access->level == DIST__GUARD_WRITES && change &&
		(uintptr_t)change - (uintptr_t)access->address <
			DIST__POINT_BYTES);
}

struct dist__access dist__region_access(const struct dist__region *region,
					const char *change)
{
	struct dist__access access = dist__guard_access(region->guard);

	if (!region->points)
		return access;
	access = dist__points_access(region->points);
	if (access.level && !is_sure(&access, change))
		access.level = DIST__GUARD_OPEN;
	return access;
}

/* Writes into the hazard where the program was. */
static void name_access(struct check_hazard *hazard,
			const struct dist__access *access)
{
	struct dist__source source =
		dist__source_find(access->frames, DIST__GUARD_FRAMES);

	if (source.file[0])
		check_site_set(&hazard->access, source.file, source.line);
	snprintf(hazard->function, sizeof hazard->function, "%s",
		 source.function);
	if (access->level == DIST__GUARD_ALL)
		hazard->kind = CHECK_HAZARD_READ;
}

/* Writes into the hazard between which calls it was: the later one is seen,
 * unless it was found before. */
static void name_nearest(struct check_hazard *hazard,
			 const struct dist__region *region,
			 const struct dist__site *seen)
{
	if (region->changed)
		seen = &region->until;
	if (!region->calm.file)
		return; /* not looked for */
	if (seen)
		check_site_set(&hazard->until, seen->file, seen->line);
	check_site_set(&hazard->after, region->calm.file, region->calm.line);
}

enum dist_error dist__accuse_touch(const struct dist__buffer_check *watch,
				   const struct dist__region *region,
				   const struct dist__access *access,
				   const char *address,
				   const struct dist__site *seen)
{
	struct check_hazard hazard = {.kind = CHECK_HAZARD_WRITTEN};

	if (access->level)
		name_access(&hazard, access);
	else
		name_nearest(&hazard, region, seen);
	locate(&hazard, region, access->level ? access->address : address);
	if (seen)
		check_site_set(&hazard.other.site, seen->file, seen->line);
	check_touch(watch->group->place.slot, &hazard, watch->op->call, 0);
	return dist__fail(watch->group, DIST_ERR_HAZARD,
			  "%s: element %llu of %s was %s before the wait",
			  dist__op_called(watch->op),
			  (unsigned long long)hazard.element, hazard.buffer,
			  hazard.kind == CHECK_HAZARD_READ ? "read"
							   : "written");
}

enum dist_error dist__accuse_sharing(const struct dist__buffer_check *watch,
				     const struct dist__region *given,
				     const struct dist__buffer_check *owner,
				     const struct dist__region *held)
{
	struct check_hazard hazard = {.kind = CHECK_HAZARD_SHARED};
	const char *begin = held->tensor.data, *other = given->tensor.data;

	locate(&hazard, held,
	       (uintptr_t)other > (uintptr_t)begin ? other : begin);
	print_name(hazard.given, sizeof hazard.given, given);
	check_touch(watch->group->place.slot, &hazard, owner->op->call,
		    watch->op->call);
	return dist__fail(watch->group, DIST_ERR_HAZARD,
			  "%s: %s is memory that %s still holds",
			  dist__op_called(watch->op), hazard.given,
			  dist__op_called(owner->op));
}
