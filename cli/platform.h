/* platform.h - the parts of lockstep platform that have options of their own.
 */
#ifndef LOCKSTEP_CLI_PLATFORM_H
#define LOCKSTEP_CLI_PLATFORM_H

/* platform_new is `lockstep platform new`; argv[0] is its name, argv[1] to
 * argv[argc - 1] are its options, argv[argc] is NULL. Returns the exit status.
 */
int platform_new(int argc, const char **argv);

#endif
