/* data_files.h - the files of a kind that come with Lockstep. */
#ifndef LOCKSTEP_TESTS_SUPPORT_DATA_FILES_H
#define LOCKSTEP_TESTS_SUPPORT_DATA_FILES_H

#include "base/data.h"
#include "tests/support/okay.h"

/* data_files finds them, for dist__files_release; there are some. */
static inline struct dist__files data_files(const char *kind,
					    const char *suffix)
{
	struct dist__files files;

	okay(dist__data_files(&files, kind, suffix));
	cr_assert_gt(files.num, (size_t)0, "no %s", kind);
	return files;
}

#endif
