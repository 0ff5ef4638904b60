#define _GNU_SOURCE /* prlimit */
#include "check/death.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- the memory of its group -------------------------------------------- */

/* Reads the number that follows name in the file; 0: there is none. */
static uint64_t read_number(const char *path, const char *name)
{
	char line[256];
	uint64_t number = 0, found;
	size_t len = strlen(name);
	FILE *in = fopen(path, "re");

	while (in && fgets(line, sizeof line, in))
		if (strncmp(line, name, len) == 0 &&
		    sscanf(line + len, "%" SCNu64, &found) == 1)
			number = found;
	if (in)
		fclose(in);
	return number;
}

/* Stores the file of the control group of this process that counts kills:
 * version 2's, else version 1's; false: there is none. */
static bool find_count(char *path, size_t size)
{
	static const char *const mounts[] = {"", "/unified"};
	char line[1024], *group;
	FILE *in = fopen("/proc/self/cgroup", "re");
	bool found = false;

	while (in && !found && fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = '\0';
		group = strchr(line, ':');
		group = group ? strchr(group + 1, ':') : NULL;
		if (!group)
			continue;
		group++;
		for (int i = 0; !found && strncmp(line, "0::", 3) == 0 && i < 2;
		     i++) {
			snprintf(path, size, "/sys/fs/cgroup%s%s/memory.events",
				 mounts[i], group);
			found = access(path, R_OK) == 0;
		}
		if (!found && strstr(line, ":memory:")) {
			snprintf(path, size,
				 "/sys/fs/cgroup/memory%s/memory.oom_control",
				 group);
			found = access(path, R_OK) == 0;
		}
	}
	if (in)
		fclose(in);
	return found;
}

uint64_t check_kills_for_memory(void)
{
	char path[1200];

	return find_count(path, sizeof path)
		       ? read_number(path, "oom_kill ")
		       : read_number("/proc/vmstat", "oom_kill ");
}

/* ---- the words ---------------------------------------------------------- */

static struct rlimit limit_of(pid_t process, int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	if (process <= 0 || prlimit(process, resource, NULL, &limit) != 0)
		(void)getrlimit(resource, &limit);
	return limit;
}

/* Whether it has used the time that no process may exceed, of which clocks show
 * a little less. */
static bool is_out_of_time(pid_t process, const struct rlimit *time)
{
	struct rusage usage = {.ru_nswap = 0};
	struct timespec used;
	clockid_t clock;

	if (time->rlim_max == RLIM_INFINITY)
		return false;
	if (process > 0 && clock_getcpuclockid(process, &clock) == 0 &&
	    clock_gettime(clock, &used) == 0)
		return (double)used.tv_sec + (double)used.tv_nsec / 1e9 + 0.1 >
		       (double)time->rlim_max;
	(void)getrusage(RUSAGE_CHILDREN, &usage);
	return (rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 2 >
	       time->rlim_max;
}

void check_describe_death(char *text, size_t size, int number, pid_t process,
			  uint64_t kills)
{
	const struct rlimit files = limit_of(process, RLIMIT_FSIZE),
			    time = limit_of(process, RLIMIT_CPU);
	char why[64] = "";

	if (number == SIGXFSZ && files.rlim_cur != RLIM_INFINITY)
		snprintf(why, sizeof why,
			 ": files may have %" PRIu64 " bytes (ulimit -f)",
			 (uint64_t)files.rlim_cur);
	else if (number == SIGXCPU && time.rlim_cur != RLIM_INFINITY)
		snprintf(why, sizeof why,
			 ": it may run for %" PRIu64 " s (ulimit -t)",
			 (uint64_t)time.rlim_cur - 1); /* Linux adds 1 */
	else if (number == SIGKILL && is_out_of_time(process, &time))
		snprintf(why, sizeof why,
			 ": it may run for %" PRIu64 " s (ulimit -t)",
			 (uint64_t)time.rlim_max);
	else if (number == SIGKILL && check_kills_for_memory() > kills)
		snprintf(why, sizeof why,
			 ", likely by the system for want of memory");
	snprintf(text, size, "was killed by signal %d (%s)%s", number,
		 strsignal(number), why);
}
