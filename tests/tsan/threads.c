/* A thread that completes what another one issues, for the thread sanitizer,
 * with and without the debug level: 0 when every sum is right. */
#include <stdio.h>

#include "lockstep/dist.h"
#include "tests/support/threaded.h"

int main(void)
{
	static const char *const levels[] = {"off", "info"};
	int status = 0;

	for (int i = 0; i < 2 && !status; i++) {
		const struct dist_launch_options options = {
			.backend = "tcp", .world_size = 3, .debug = levels[i]};

		status = dist_launch(&options, threaded_rank, NULL);
		printf("%s another thread waits, debug %s\n",
		       status ? "FAIL" : "ok  ", levels[i]);
		fflush(stdout);
	}
	return status;
}
