/* quantity.h - bandwidths and times as people write them, with their unit. */
#ifndef LOCKSTEP_CORE_QUANTITY_H
#define LOCKSTEP_CORE_QUANTITY_H

#include <stdbool.h>

/* What the functions below expect. */
#define DIST__BANDWIDTH_WORDS                                                  \
	"a bandwidth with its unit, 1Kbps to 1000Tbps, such as 400G (bits) "   \
	"or 50GB/s"
#define DIST__LATENCY_WORDS                                                    \
	"a time with its unit, above 0 and up to 10s, such as 0.6us"

/* dist__bandwidth_read and dist__latency_read read a whole text; false when it
 * is none. 400G or 400Gbps are bits, 50GB/s or 50GBps bytes per second. */
bool dist__bandwidth_read(const char *text, double *Bps);
bool dist__latency_read(const char *text, double *seconds);

#endif
