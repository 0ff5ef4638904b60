/* quantity.h - the one reader of numbers, bandwidths, times and sizes as people
 * write them. Each function reads a whole text; false: it is not one. */
#ifndef LOCKSTEP_BASE_QUANTITY_H
#define LOCKSTEP_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the functions below expect, for error messages. */
#define DIST__BANDWIDTH_WORDS                                                  \
	"a bandwidth with its unit, 1Kbps to 1000Tbps, such as 400G (bits) "   \
	"or 50GB/s"
#define DIST__LATENCY_WORDS                                                    \
	"a time with its unit, above 0 and up to 10s, such as 0.6us"

/* dist__count_read reads a decimal integer from least to most, with or without
 * sign; dist__number_read a finite number. */
bool dist__count_read(const char *text, int64_t least, int64_t most,
		      int64_t *count);
bool dist__number_read(const char *text, double *number);

/* dist__quantity_read reads a finite number with one of units behind it, and
 * multiplies it by the unit's factor. A list of units ends with a NULL name. */
struct dist__unit {
	const char *name;
	double factor;
};
bool dist__quantity_read(const char *text, const struct dist__unit *units,
			 double *value);

/* dist__digits_step reads the decimal digits at *text and moves *text behind
 * them; false: there are none, or the number exceeds most. */
bool dist__digits_step(const char **text, uint64_t most, uint64_t *number);

/* dist__percent_read reads "10%" or "10", at least 0, as a fraction. */
bool dist__percent_read(const char *text, double *fraction);

/* dist__seconds_read reads "1.5", "1.5s", "500ms", from 0 to 1e9 s, as
 * nanoseconds. */
bool dist__seconds_read(const char *text, int64_t *ns);

/* dist__size_read reads bytes: 8, 64K, 64KiB (of 1024), 64KB (of 1000). */
bool dist__size_read(const char *text, uint64_t *bytes);

/* 400G, 400Gbps and 400Gbit/s are bits/s, 50GB/s and 50GBps are bytes/s. */
bool dist__bandwidth_read(const char *text, double *Bps);
bool dist__latency_read(const char *text, double *seconds);

/* dist__stack_read reads the size of a stack in bytes, a multiple of pages. */
#define DIST__STACK_WORDS                                                      \
	"a size with its unit, 64KiB to 1GiB, such as 512KiB or 16MiB"
bool dist__stack_read(const char *text, uint64_t *bytes);

/* dist__time_text writes a time to text for people to read: "12.35 ms";
 * dist__size_text a size: "31.5 MB". */
void dist__time_text(char *text, size_t text_size, double ns);
void dist__size_text(char *text, size_t text_size, int64_t bytes);

#endif
