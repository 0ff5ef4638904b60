/* git2.c - stands in for libgit2, by which Criterion shows how texts differ:
 * a test is a process, and its twenty libraries and their certificates take
 * two thirds of what one takes to start. Loads it once texts do differ. */
#include <dlfcn.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

typedef int diff_fn(const void *, size_t, const char *, const void *, size_t,
		    const char *, const void *, void *, void *, void *, void *,
		    void *);

EXPORT int git_libgit2_init(void)
{
	return 1;
}

EXPORT int git_libgit2_shutdown(void)
{
	return 0;
}

/* NOLINTNEXTLINE(readability-function-size): its parameters are libgit2's */
EXPORT int git_diff_buffers(const void *old, size_t old_len,
			    const char *old_path, const void *new,
			    size_t new_len, const char *new_path,
			    const void *opts, void *file, void *binary,
			    void *hunk, void *line, void *payload)
{
	void *git2 = dlopen(GIT2, RTLD_NOW | RTLD_LOCAL);
	int (*init)(void);
	diff_fn *diff;

	if (!git2)
		return -1;
	*(void **)&init = dlsym(git2, "git_libgit2_init");
	*(void **)&diff = dlsym(git2, "git_diff_buffers");
	if (!init || !diff || init() < 0)
		return -1;
	return diff(old, old_len, old_path, new, new_len, new_path, opts, file,
		    binary, hunk, line, payload);
}
