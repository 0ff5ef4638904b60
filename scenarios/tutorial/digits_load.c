/*
 * digits_load - MNIST's files. An IDX file begins with two zero bytes, the type
 * of its elements (8: unsigned bytes), the number of dimensions, and each
 * dimension in four bytes, the highest first; the elements follow, the last
 * dimension fastest.
 */
#include "base/refuse.h"
#include "scenarios/tutorial/digits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DIMENSIONS 3
#define PATH_SIZE      4096

/* What an IDX file should be: its dimensions, the first of which, the number of
 * images, is 0 as long as it may be any. */
struct idx {
	const char *name;
	size_t num_dimensions;
	size_t dimensions[MAX_DIMENSIONS];
};

static enum dist_error refuse(struct dist_message *message, const char *path,
			      const char *why)
{
	return dist__refuse(message, "%.400s: %s", path, why);
}

static size_t big_endian(const uint8_t bytes[4])
{
	return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 |
	       (size_t)bytes[2] << 8 | bytes[3];
}

/* Reads the head of file and checks it against idx; returns what is wrong with
 * it, or NULL. */
static const char *read_head(FILE *file, struct idx *idx)
{
	uint8_t head[4 + 4 * MAX_DIMENSIONS] = {0};

	if (fread(head, 4 + 4 * idx->num_dimensions, 1, file) != 1)
		return "ends within its head";
	if (head[0] || head[1] || head[2] != 8 ||
	    head[3] != idx->num_dimensions)
		return idx->num_dimensions == 1
			       ? "expected an IDX file of one-byte labels"
			       : "expected an IDX file of one-byte images";
	for (size_t i = 0; i < idx->num_dimensions; i++) {
		size_t n = big_endian(head + 4 + 4 * i);

		if (n == 0 || (idx->dimensions[i] && idx->dimensions[i] != n))
			return i == 0 ? "expected as many labels as images, "
					"and one at least"
				      : "expected images of 28 by 28 pixels";
		idx->dimensions[i] = n;
	}
	return NULL;
}

/* Reads what follows the head into *data, which the caller frees. The length is
 * known to be right before memory is asked for. */
static enum dist_error read_elements(FILE *file, const struct idx *idx,
				     const char *path, uint8_t **data,
				     struct dist_message *message)
{
	size_t size = 1, head = 4 + 4 * idx->num_dimensions;
	struct stat info;

	for (size_t i = 0; i < idx->num_dimensions; i++)
		size *= idx->dimensions[i];
	if (fstat(fileno(file), &info))
		return refuse(message, path, strerror(errno));
	if ((size_t)info.st_size != head + size)
		return refuse(message, path,
			      (size_t)info.st_size < head + size
				      ? "shorter than its head says"
				      : "longer than its head says");
	*data = malloc(size);
	if (!*data) {
		refuse(message, path, "out of memory");
		return DIST_ERR_NO_MEMORY;
	}
	if (fread(*data, 1, size, file) != size)
		return refuse(message, path, "cannot be read");
	return DIST_OK;
}

static enum dist_error read_file(const char *folder, struct idx *idx,
				 uint8_t **data, struct dist_message *message)
{
	char path[PATH_SIZE];
	enum dist_error error;
	const char *wrong;
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, idx->name);
	file = fopen(path, "rb");
	if (!file)
		return refuse(message, path, strerror(errno));
	wrong = read_head(file, idx);
	error = wrong ? refuse(message, path, wrong)
		      : read_elements(file, idx, path, data, message);
	fclose(file);
	return error;
}

enum dist_error digits_load(struct digits *digits, const char *folder,
			    struct dist_message *message)
{
	struct idx images = {
		"train-images-idx3-ubyte", 3, {0, DIGITS_SIDE, DIGITS_SIDE}};
	struct idx labels = {"train-labels-idx1-ubyte", 1, {0}};
	enum dist_error error;

	memset(digits, 0, sizeof *digits);
	error = read_file(folder, &images, &digits->pixels, message);
	digits->num = labels.dimensions[0] = images.dimensions[0];
	if (!error)
		error = read_file(folder, &labels, &digits->labels, message);
	for (size_t i = 0; !error && i < digits->num; i++)
		if (digits->labels[i] > 9)
			error = refuse(message, labels.name,
				       "expected labels from 0 to 9");
	if (error)
		digits_release(digits);
	return error;
}
