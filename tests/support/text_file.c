#include "tests/support/text_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

void text_file(char *path, const char *text)
{
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	cr_assert(file && fputs(text, file) >= 0 && !fclose(file));
}
