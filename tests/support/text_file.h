/* text_file.h - texts that are read as files. */
#ifndef LOCKSTEP_TESTS_SUPPORT_TEXT_FILE_H
#define LOCKSTEP_TESTS_SUPPORT_TEXT_FILE_H

#include <unistd.h>

#include "lockstep/dist.h"

/* What text_file makes a path of. */
#define TEXT_FILE "/tmp/lockstep-text-XXXXXX"

/* text_file writes text to a new file, whose path it stores in path, which was
 * TEXT_FILE. */
void text_file(char *path, const char *text);

/* with_text_file has statement find text in the file called path. */
#define with_text_file(text, path, statement)                                  \
	do {                                                                   \
		/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name */       \
		char path[] = TEXT_FILE;                                       \
		text_file(path, text);                                         \
		statement;                                                     \
		unlink(path);                                                  \
	} while (0)

/* TEXT_LOADER defines load(text, into, why), which has `read` find text in
 * a file and fill a `type` from it. */
#define TEXT_LOADER(load, read, type)                                          \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */               \
	static enum dist_error load(const char *text, type *into,              \
				    struct dist_message *why)                  \
	{                                                                      \
		enum dist_error error;                                         \
                                                                               \
		with_text_file(text, path, error = read(into, path, why));     \
		return error;                                                  \
	}

#endif
