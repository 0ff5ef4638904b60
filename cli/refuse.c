/* refuse.c - the one line in which a command says what is wrong. */
#include "cli/refuse.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/terminal.h"
#include "lockstep/dist.h"

int refuse(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%slockstep %s:%s ",
		dist__terminal_style(stderr, TERMINAL_RED), command,
		dist__terminal_style(stderr, TERMINAL_PLAIN));
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return DIST_EXIT_USAGE;
}

int out_of_memory(const char *command)
{
	(void)refuse(command, "out of memory");
	return DIST_EXIT_INTERNAL;
}

int refuse_model(const char *command, const char *expected)
{
	return refuse(command,
		      "--model: expected %s; lockstep predict compares models, "
		      "layouts and numbers of GPUs, --tp 1,2 --world-size "
		      "64,128, and lockstep plan searches for the layout",
		      expected);
}
