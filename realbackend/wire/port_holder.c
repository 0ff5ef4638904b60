/* port_holder.c - which process listens at a port: /proc/net names the socket,
 * and the folders of processes in /proc name who has it open. */
#include "realbackend/wire/port_holder.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the number of a socket that listens at port in the table at path; 0:
 * none. */
static uint64_t find_socket(const char *path, int port)
{
	enum { LISTENS = 10 };
	FILE *table = fopen(path, "re");
	char line[512];
	unsigned int at, state;
	uint64_t inode, found = 0;

	while (table && !found && fgets(line, sizeof line, table))
		if (sscanf(line,
			   "%*d: %*[0-9A-F]:%x %*s %x %*s %*s %*s %*u %*u "
			   "%" SCNu64,
			   &at, &state, &inode) == 3 &&
		    at == (unsigned int)port && state == LISTENS)
			found = inode;
	if (table)
		fclose(table);
	return found;
}

static bool has_open(const char *pid, const char *socket)
{
	char path[300], link[64];
	DIR *files;
	const struct dirent *file;
	bool has = false;
	ssize_t len;

	snprintf(path, sizeof path, "/proc/%s/fd", pid);
	files = opendir(path);
	while (files && !has && (file = readdir(files))) {
		len = readlinkat(dirfd(files), file->d_name, link,
				 sizeof link - 1);
		link[len > 0 ? len : 0] = '\0';
		has = strcmp(link, socket) == 0;
	}
	if (files)
		closedir(files);
	return has;
}

static void describe(const char *pid, char *text, size_t size)
{
	char path[300], name[64] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof name, file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	snprintf(text, size, "process %s (%s)", pid, name);
}

void dist__port_holder(int port, char *text, size_t size)
{
	uint64_t inode = find_socket("/proc/net/tcp", port);
	char socket[64];
	const struct dirent *process;
	DIR *processes;

	snprintf(text, size, "another process");
	if (!inode)
		inode = find_socket("/proc/net/tcp6", port);
	processes = inode ? opendir("/proc") : NULL;
	if (!processes)
		return;
	snprintf(socket, sizeof socket, "socket:[%" PRIu64 "]", inode);
	while ((process = readdir(processes)))
		if (strspn(process->d_name, "0123456789") ==
			    strlen(process->d_name) &&
		    has_open(process->d_name, socket)) {
			describe(process->d_name, text, size);
			break;
		}
	closedir(processes);
}
