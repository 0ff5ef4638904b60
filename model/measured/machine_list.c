/* machine_list.c - reading lists of a machine's description. */
#include "model/measured/machine_list.h"

#include <stdio.h>

enum dist_error machine_read_list(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *key,
				  const yaml_node_t *value,
				  const struct machine_list *list)
{
	const yaml_node_item_t *item, *end;
	enum dist_error error = DIST_OK;
	char expected[40];

	snprintf(expected, sizeof expected, "a list of 1 to %zu", list->most);
	if (value->type != YAML_SEQUENCE_NODE)
		return dist__yaml_refuse_value(yaml, key->name, value,
					       expected);
	item = value->data.sequence.items.start;
	end = value->data.sequence.items.top;
	if (item == end || (size_t)(end - item) > list->most)
		return dist__yaml_refuse(yaml, value, "%s: expected %s",
					 key->name, expected);
	for (; item < end && !error; item++)
		error = dist__yaml_read_mapping(
			yaml, list->keys, key->name,
			dist__yaml_node(yaml, *item),
			(char *)list->items + (*list->num)++ * list->size);
	return error;
}
