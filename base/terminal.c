/* terminal.c - colour and width of a terminal. */
#include "base/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* Of a terminal that does not say how wide it is, or that it is a sliver. */
#define USUAL_WIDTH 100
#define LEAST_WIDTH 40

size_t dist__terminal_width(FILE *out)
{
	const int fd = fileno(out);
	struct winsize size = {.ws_col = 0};

	if (fd < 0 || isatty(fd) != 1)
		return SIZE_MAX;
	return ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < LEAST_WIDTH
		       ? USUAL_WIDTH
		       : size.ws_col;
}

void dist__terminal_wrap(FILE *out, const char *text, size_t column,
			 const struct terminal_wrap *wrap)
{
	const size_t room = wrap->width - strlen(wrap->broken);
	const int indent = (int)wrap->indent;
	bool begins = true;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (!begins && column + 1 + len > room) {
			fprintf(out, "%s\n%-*s", wrap->broken, indent,
				wrap->lead);
			column = wrap->indent;
			begins = true;
		}
		fprintf(out, "%s%.*s", begins ? "" : " ", (int)len, text);
		column += len + !begins;
		begins = false;
		text += len;
		if (*text == '\n') {
			fprintf(out, "\n%-*s", text[1] == '\n' ? 0 : indent,
				wrap->lead);
			column = wrap->indent;
			begins = true;
		}
		text += *text != '\0';
	}
	fputc('\n', out);
}
