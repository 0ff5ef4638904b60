/*
 * toy_data.h - a machine, two libraries and a model of which every time is
 * known: two nodes "toy" joined by tcp at 1 GB/s; "toy" and "nccl", both
 * Lockstep's own; "toy" of two equal tensors of 0.5 GB.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_TOY_DATA_H
#define LOCKSTEP_TESTS_SUPPORT_TOY_DATA_H

#include <stddef.h>

/* toy_data_make writes them to a folder of their own, where LOCKSTEP_DATA then
 * points; toy_data_remove removes it. */
void toy_data_make(void);
void toy_data_remove(void);

/* toy_data_path stores the path of a file there in path, and returns path. */
const char *toy_data_path(const char *kind, const char *name, char *path,
			  size_t size);

#endif
