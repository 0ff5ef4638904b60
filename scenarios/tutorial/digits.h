/*
 * digits.h - images of handwritten digits and their labels: MNIST's when its
 * files are there, else a small set drawn here.
 */
#ifndef LOCKSTEP_TUTORIAL_DIGITS_H
#define LOCKSTEP_TUTORIAL_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep/dist.h"

#define DIGITS_SIDE   28
#define DIGITS_PIXELS (DIGITS_SIDE * DIGITS_SIDE)

/* A set of images; the arrays are its own. */
struct digits {
	size_t num;
	uint8_t *pixels; /* num images of DIGITS_PIXELS, 0 (paper) to 255 */
	uint8_t *labels; /* num numbers, 0 to 9 */
};

/* digits_draw makes num images from seed: the ten digits, moved about, in ink
 * of varying strength, on noisy paper. Returns false when out of memory. */
bool digits_draw(struct digits *digits, size_t num, uint64_t seed);

/*
 * digits_load reads MNIST's training set (Y. LeCun, C. Cortes and C. Burges) as
 * its IDX files hold it: train-images-idx3-ubyte and train-labels-idx1-ubyte,
 * unpacked, in folder. Errors: DIST_ERR_INVALID_ARGUMENT (a file cannot be read
 * or is not what it should be), DIST_ERR_NO_MEMORY; message then says more and
 * digits is empty.
 */
DIST_MUST_CHECK enum dist_error digits_load(struct digits *digits,
					    const char *folder,
					    struct dist_message *message);

void digits_release(struct digits *digits);

/* digits_normalize writes image index to pixels, with mean 0.1307 and standard
 * deviation 0.3081, MNIST's, taken to 0 and 1. */
void digits_normalize(const struct digits *digits, size_t index,
		      float pixels[DIGITS_PIXELS]);

#endif
