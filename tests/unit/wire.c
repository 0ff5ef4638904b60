/* A store reads what anybody may send it; `make fuzz` does this for longer. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/leaks.h"
#include "tests/support/wire_fuzz.h"

Test(wire, survives_mutated_requests)
{
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		const char *failure = wire_fuzz_session(seed);

		cr_assert_null(failure, "seed %llu: %s",
			       (unsigned long long)seed, failure);
	}
	cr_assert_not(leaks_found());
}

Test(wire, survives_mutated_files)
{
	char path[] = "/tmp/lockstep-wire-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	close(fd);
	for (uint64_t seed = 1; seed <= 200; seed++) {
		const char *failure = wire_fuzz_file(seed, path);

		cr_assert_null(failure, "seed %llu: %s",
			       (unsigned long long)seed, failure);
	}
	unlink(path);
	cr_assert_not(leaks_found());
}
