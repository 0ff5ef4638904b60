#include "cli/sweep/html.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/refuse.h"

void html_text(struct dist__output *out, const char *text)
{
	char one[2] = "";

	for (; *text; text++) {
		switch (*text) {
		case '<':
			dist__output_text(out, "&lt;");
			break;
		case '>':
			dist__output_text(out, "&gt;");
			break;
		case '&':
			dist__output_text(out, "&amp;");
			break;
		case '"':
			dist__output_text(out, "&quot;");
			break;
		default:
			one[0] = *text;
			dist__output_text(out, one);
		}
	}
}

void html_element(struct dist__output *out, const char *name, const char *text)
{
	dist__output_print(out, "<%s>", name);
	html_text(out, text);
	dist__output_print(out, "</%s>", name);
}

/* Writes a line of a file as part of a data: URL (RFC 2397), what has a meaning
 * there or in an attribute escaped as RFC 3986 says. */
static void put_escaped(struct dist__output *out, const char *line)
{
	for (; *line; line++) {
		size_t plain = strcspn(line, "%#\"'<>&\n\r\t");
		char piece[512];

		if (plain >= sizeof piece)
			plain = sizeof piece - 1;
		memcpy(piece, line, plain);
		piece[plain] = '\0';
		dist__output_text(out, piece);
		line += plain;
		if (!*line)
			break;
		dist__output_print(out, "%%%02X", (unsigned char)*line);
	}
}

enum dist_error html_picture(struct dist__output *out, const char *path,
			     const char *text, struct dist_message *message)
{
	FILE *file = fopen(path, "r");
	enum dist_error error = DIST_OK;
	char line[1024];

	if (!file)
		return dist__refuse_as(message, DIST_ERR_IO, "%.300s: %s", path,
				       strerror(errno));
	dist__output_text(out, "<img alt=\"");
	html_text(out, text);
	dist__output_text(out, "\" src=\"data:image/svg+xml;charset=utf-8,");
	while (fgets(line, sizeof line, file))
		put_escaped(out, line);
	dist__output_text(out, "\"/>\n");
	if (ferror(file)) {
		snprintf(message->text, sizeof message->text,
			 "%.300s: cannot be read", path);
		error = DIST_ERR_IO;
	}
	fclose(file);
	return error;
}
