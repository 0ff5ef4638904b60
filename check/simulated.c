#include "check/simulated.h"

json_t *check_collectives_json(const struct check_simulated *simulated)
{
	const struct check_count *count = simulated->by_messages;
	json_int_t sum = 0;
	json_t *why;

	if (!count)
		return json_null();
	why = json_object();
	for (; count->key; count++) {
		json_object_set_new(why, count->key,
				    json_integer((json_int_t)count->num));
		sum += (json_int_t)count->num;
	}
	return json_pack("{s:I, s:I, s:o}", "flows",
			 (json_int_t)simulated->flows, "by_messages", sum,
			 "why", why);
}
