/* terminal.c - colour on a terminal. */
#include "base/terminal.h"

#include <string.h>
#include <unistd.h>

#include "base/variable.h"

const char *dist__terminal_style(FILE *out, enum terminal_style style)
{
	static const char *const styles[] = {"\033[0m", "\033[1m", "\033[31m"};
	const char *kind = dist__variable("TERM");

	return !dist__variable("NO_COLOR") && kind &&
			       strcmp(kind, "dumb") != 0 &&
			       isatty(fileno(out)) == 1
		       ? styles[style]
		       : "";
}
