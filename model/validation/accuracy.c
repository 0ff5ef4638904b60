#include "model/validation/accuracy.h"

#include <math.h>

#include "base/statistics.h"

#define SMALL_BYTES  ((size_t)32 << 10)
#define MIDDLE_BYTES ((size_t)64 << 20)

struct accuracy accuracy_of(double *errors, size_t num)
{
	if (num == 0)
		return (struct accuracy){.num = 0};
	dist__sort_numbers(errors, num);
	return (struct accuracy){
		.num = num,
		.median = dist__quantile(errors, num, 0.5),
		.p90 = dist__quantile(errors, num, 0.9),
		.worst = errors[num - 1],
	};
}

bool accuracy_is_good(const struct accuracy *accuracy, bool blind)
{
	return accuracy->num > 0 &&
	       accuracy->median <=
		       (blind ? ACCURACY_BLIND_MEDIAN : ACCURACY_GOOD_MEDIAN) &&
	       accuracy->p90 <=
		       (blind ? ACCURACY_BLIND_P90 : ACCURACY_GOOD_P90);
}

enum accuracy_range accuracy_range_of(size_t bytes)
{
	if (bytes <= SMALL_BYTES)
		return ACCURACY_SMALL;
	return bytes <= MIDDLE_BYTES ? ACCURACY_MIDDLE : ACCURACY_LARGE;
}

double accuracy_error(double predicted, double measured)
{
	return fabs(predicted / measured - 1);
}
