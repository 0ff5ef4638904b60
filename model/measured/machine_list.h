/* machine_list.h - lists of a machine's description. Private to
 * model/measured/. */
#ifndef LOCKSTEP_MODEL_MEASURED_MACHINE_LIST_H
#define LOCKSTEP_MODEL_MEASURED_MACHINE_LIST_H

#include "base/yaml_keys.h"
#include "model/measured/machine.h"

/* An array to fill from a list of mappings. */
struct machine_list {
	const struct dist__yaml_key *keys; /* of an item */
	void *items;
	size_t size; /* of an item in memory */
	size_t most;
	size_t *num;
};

/* machine_read_list fills list. Errors: as dist__yaml_read_mapping. */
enum dist_error machine_read_list(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *key,
				  const yaml_node_t *value,
				  const struct machine_list *list);

/* machine_read_calibrations reads the calibrations of the struct machine at
 * into. */
enum dist_error machine_read_calibrations(const struct dist__yaml *yaml,
					  const struct dist__yaml_key *key,
					  const yaml_node_t *value, void *into);

#endif
