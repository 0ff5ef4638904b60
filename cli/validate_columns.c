/* validate_columns.c - what the tables of errors have in common. */
#include "cli/validate.h"

void validate_add_percent(struct columns *columns, size_t num, double fraction)
{
	if (num)
		columns_add(columns, "%.1f", 100 * fraction);
	else
		columns_add(columns, "-");
}

int validate_print_columns(struct columns *columns, bool markdown, FILE *out)
{
	int rc = markdown ? columns_print_markdown(columns, out)
			  : columns_print(columns, out);

	columns_release(columns);
	return rc;
}
