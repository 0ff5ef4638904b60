#include "cli/check_order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/variable.h"
#include "check/file.h"
#include "cli/check_writable.h"
#include "trace/read.h"

static int complain(const char *what, const char *why, int status)
{
	fprintf(stderr, "lockstep check: %s%s%s\n", what, *what ? ": " : "",
		why);
	return status;
}

/* The words of a failure to read. */
static int refuse_order(const struct dist_message *message,
			enum dist_error error)
{
	if (error == DIST_ERR_NO_MEMORY)
		return complain("", dist_error_string(error),
				DIST_EXIT_INTERNAL);
	return complain("", message->text, DIST_EXIT_USAGE);
}

int check_order_begin(struct check_order *order)
{
	struct dist_message message = {""};
	enum dist_error error = DIST_OK;
	const char *tmp = dist__variable("TMPDIR");

	snprintf(order->folder, sizeof order->folder, "%.4000s/lockstep-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!check_writable("check", &order->record, 1))
		return DIST_EXIT_USAGE;
	if (order->expect)
		error = dist__points_read(order->expect, &order->expected,
					  &message);
	if (error)
		return refuse_order(&message, error);
	if (!mkdtemp(order->folder))
		return complain(order->folder, strerror(errno),
				DIST_EXIT_INTERNAL);
	snprintf(order->trace, sizeof order->trace, "%s/trace", order->folder);
	return DIST_EXIT_OK;
}

static bool print(FILE *out, const void *points)
{
	dist__points_print(out, points);
	return !ferror(out);
}

static int judge(const struct check_order *order)
{
	struct dist_message message = {""};
	struct dist__trace trace;
	struct dist__points got;
	enum dist_error error;
	int status = DIST_EXIT_OK;

	if (access(order->trace, F_OK))
		return complain("--trace",
				"expected no other trace beside --record and "
				"--expect, and a program that calls Lockstep",
				DIST_EXIT_USAGE);
	error = dist__trace_read(order->trace, &trace, &message);
	if (error)
		return refuse_order(&message, error);
	error = dist__points_of(&trace, &got);
	if (error)
		status = refuse_order(&message, error);
	else if (order->record && !check_file_write(order->record, print, &got))
		status = complain(order->record, strerror(errno),
				  DIST_EXIT_USAGE);
	else if (order->expect && dist__points_compare(stderr, order->expect,
						       &order->expected, &got))
		status = DIST_EXIT_FAILED;
	dist__points_release(&got);
	dist__trace_release(&trace);
	return status;
}

int check_order_end(struct check_order *order, int status)
{
	if (status == DIST_EXIT_OK)
		status = judge(order);
	remove(order->trace);
	rmdir(order->folder);
	dist__points_release(&order->expected);
	return status;
}
