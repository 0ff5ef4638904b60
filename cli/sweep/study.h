/*
 * study.h - a grid of what-ifs, read from YAML:
 *
 *	title: ResNet-50 from 8 to 64 ranks
 *	about: what the report says first	# may be left out
 *	predict:				# the same for every point
 *	  model: resnet50
 *	  platform: star-64
 *	  gpu: A100
 *	grid:					# every combination is a point
 *	  world-size: 8..64 *2
 *	  bucket-cap-mb: [10, 25, 50]
 *	  inter-bandwidth: [25G, x4]
 *
 * Keys of the two mappings are flags of `lockstep predict` without their
 * dashes; a flag that takes no value has true or false. Values are scalars; in
 * the grid lists of scalars, and ranges of numbers (range.h), alone or in a
 * list.
 */
#ifndef LOCKSTEP_CLI_SWEEP_STUDY_H
#define LOCKSTEP_CLI_SWEEP_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lockstep/dist.h"

#define STUDY_AXES   32     /* at most, keys of both mappings */
#define STUDY_VALUES 128    /* at most, of one key */
#define STUDY_POINTS 100000 /* at most */

struct study_value {
	char text[256];
	size_t line; /* of the file, from 1 */
};

/* One key of predict (with one value) or of grid. */
struct study_axis {
	char name[48];
	size_t line;
	bool in_grid;
	struct study_value *values; /* owned */
	size_t num_values;
};

struct study {
	char title[128];
	char about[1024];
	struct study_axis axes[STUDY_AXES]; /* in the file's order */
	size_t num_axes;
};

/*
 * study_load reads the file at path. Errors: INVALID_ARGUMENT (message:
 * "file:line: what was expected"), IO, NO_MEMORY; then there is nothing to
 * release.
 */
DIST_MUST_CHECK enum dist_error
study_load(struct study *study, const char *path, struct dist_message *message);

/* study_release frees what study holds. */
void study_release(struct study *study);

/* study_num_points returns the number of points: the product of the axes. */
size_t study_num_points(const struct study *study);

/* study_choice returns the index of a point's value on an axis; points are
 * counted from 0, and the last axis changes fastest. */
size_t study_choice(const struct study *study, size_t point, size_t axis);

/* study_value returns that value's text. */
const char *study_value(const struct study *study, size_t point, size_t axis);

/* study_axis returns the number of the axis of that name, num_axes if there is
 * none. */
size_t study_axis(const struct study *study, const char *name);

/* study_stamp writes the keys and values of the study, on which answers depend,
 * a line each. */
void study_stamp(const struct study *study, FILE *out);

/* study_describe writes a point's values on the axes that have several:
 * "world-size 8, algorithm ring". */
void study_describe(const struct study *study, size_t point, char *text,
		    size_t size);

#endif
