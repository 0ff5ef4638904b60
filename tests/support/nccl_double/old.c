/* old.c - a library that calls itself NCCL and has only what its version 2.4
 * had. */
#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned ncclGetVersion(int *version)
{
	*version = 2408;
	return 0;
}
