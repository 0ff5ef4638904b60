#include "scenarios/tutorial/digits.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/tutorial/nn/random.h"

#define GLYPH_ROWS    7
#define GLYPH_COLUMNS 5
#define GLYPH_SCALE   3

/* Rows from the top, the left column the highest of five bits. */
static const uint8_t glyphs[10][GLYPH_ROWS] = {
	{0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e},
	{0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
	{0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f},
	{0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e},
	{0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02},
	{0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
	{0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e},
	{0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
	{0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e},
	{0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c},
};

static void draw(uint8_t pixels[DIGITS_PIXELS], int digit,
		 struct random_stream *stream)
{
	size_t left = 5 + random_below(stream, 4);
	size_t top = 2 + random_below(stream, 4);
	size_t ink = 150 + random_below(stream, 70);

	for (size_t i = 0; i < DIGITS_PIXELS; i++)
		pixels[i] = (uint8_t)random_below(stream, 32);
	for (size_t i = 0; i < GLYPH_ROWS * GLYPH_COLUMNS; i++) {
		size_t row = i / GLYPH_COLUMNS, column = i % GLYPH_COLUMNS;

		if (!(glyphs[digit][row] >> (GLYPH_COLUMNS - 1 - column) & 1))
			continue;
		for (size_t k = 0; k < GLYPH_SCALE * GLYPH_SCALE; k++) {
			size_t y = top + row * GLYPH_SCALE + k / GLYPH_SCALE;
			size_t x =
				left + column * GLYPH_SCALE + k % GLYPH_SCALE;

			pixels[y * DIGITS_SIDE + x] += (uint8_t)ink;
		}
	}
}

bool digits_draw(struct digits *digits, size_t num, uint64_t seed)
{
	digits->num = num;
	digits->pixels = malloc(num * DIGITS_PIXELS);
	digits->labels = malloc(num);
	if (!digits->pixels || !digits->labels) {
		digits_release(digits);
		return false;
	}
	for (size_t i = 0; i < num; i++) {
		struct random_stream stream = random_stream(seed, i);

		digits->labels[i] = (uint8_t)random_below(&stream, 10);
		draw(digits->pixels + i * DIGITS_PIXELS, digits->labels[i],
		     &stream);
	}
	return true;
}

void digits_release(struct digits *digits)
{
	free(digits->pixels);
	free(digits->labels);
	memset(digits, 0, sizeof *digits);
}

void digits_normalize(const struct digits *digits, size_t index,
		      float pixels[DIGITS_PIXELS])
{
	const uint8_t *image = digits->pixels + index * DIGITS_PIXELS;

	for (size_t i = 0; i < DIGITS_PIXELS; i++)
		pixels[i] = ((float)image[i] / 255 - 0.1307F) / 0.3081F;
}
