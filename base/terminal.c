/* terminal.c - colour, where somebody sees it. */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool dist__terminal_shows(FILE *out)
{
	const char *unwanted = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	return !(unwanted && *unwanted) && kind && *kind &&
	       strcmp(kind, "dumb") != 0 && isatty(fileno(out)) == 1;
}

const char *dist__terminal_style(FILE *out, enum terminal_style style)
{
	static const char *const styles[] = {"\033[0m", "\033[1m", "\033[31m",
					     "\033[32m"};

	return dist__terminal_shows(out) ? styles[style] : "";
}
