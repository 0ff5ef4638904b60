#define _DEFAULT_SOURCE /* struct tcp_info */
#include "realbackend/wire/socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/refuse.h"

/* The kernel cuts this down to its own limit. */
#define BACKLOG 4096

bool dist__socket_cloexec(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags < 0)
		return false;
	flags = on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
	return fcntl(fd, F_SETFD, flags) == 0;
}

bool dist__socket_prepare(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	int on = 1;

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return false;
	if (!dist__socket_cloexec(fd, true))
		return false;
	/* A listening socket hands it down; where it is refused, all works but
	 * more slowly. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return true;
}

void dist__socket_congestion(int fd, char name[DIST__CONGESTION_TEXT])
{
	socklen_t len = DIST__CONGESTION_TEXT - 1;
	char found[DIST__CONGESTION_TEXT] = "";
	int fresh = fd < 0 ? socket(AF_INET, SOCK_STREAM, 0) : -1;

	strcpy(name, "unknown");
	if (getsockopt(fd < 0 ? fresh : fd, IPPROTO_TCP, TCP_CONGESTION, found,
		       &len) == 0)
		strcpy(name, found);
	if (fresh >= 0)
		close(fresh);
}

/* A connection to the store and one between peers for each rank, and what a
 * process has open beside them. */
void dist__socket_limit(int world_size, char text[DIST__LIMIT_TEXT])
{
	enum { BESIDE = 16 };
	struct rlimit limit = {0, 0};
	int used;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	used = snprintf(text, DIST__LIMIT_TEXT, "ulimit -n is %llu",
			(unsigned long long)limit.rlim_cur);
	if (world_size > 0)
		snprintf(text + used, DIST__LIMIT_TEXT - (size_t)used,
			 "; %d ranks want %lld", world_size,
			 2LL * world_size + BESIDE);
}

static bool set_congestion(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
			  (socklen_t)strlen(name)) == 0;
}

void dist__socket_tune_local(int fd)
{
	/* Without CAP_NET_ADMIN only what the system allows to all is had,
	 * which always has Reno (net.ipv4.tcp_allowed_congestion_control). */
	if (!set_congestion(fd, "cubic"))
		(void)set_congestion(fd, "reno");
}

void dist__socket_tune_away(int fd)
{
	char name[DIST__CONGESTION_TEXT];

	dist__socket_congestion(-1, name);
	(void)set_congestion(fd, name);
}

void dist__socket_describe_congestion(char text[DIST__CONGESTION_SENTENCE])
{
	char near[DIST__CONGESTION_TEXT], away[DIST__CONGESTION_TEXT];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	dist__socket_tune_local(fd);
	dist__socket_congestion(fd, near);
	dist__socket_congestion(-1, away);
	if (fd >= 0)
		close(fd);
	snprintf(text, DIST__CONGESTION_SENTENCE,
		 strcmp(near, away) == 0 ? "congestion control %s"
					 : "congestion control %s within a "
					   "machine, %s between",
		 near, away);
}

void dist__socket_keep_alive(int fd, int64_t silence_ns)
{
	enum { PROBES = 4, SECOND = 1000000000 };
	int64_t seconds = silence_ns / SECOND / (PROBES + 1);
	int probes = PROBES, on = 1, pause;

	pause = seconds < 1 ? 1 : seconds > 3600 ? 3600 : (int)seconds;
	if (seconds < 1)
		probes = silence_ns > 2 * (int64_t)SECOND
				 ? (int)(silence_ns / SECOND) - 1
				 : 1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &pause, sizeof pause);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

bool dist__socket_awaits(int fd, int64_t *age_ns)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof info;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
		return false;
	*age_ns = (int64_t)info.tcpi_last_ack_recv * 1000000;
	return info.tcpi_unacked > 0 || info.tcpi_probes > 0;
}

/* Returns a socket that is bound, or -1 with errno. */
static int bind_at(const struct sockaddr *address, socklen_t len)
{
	int fd = socket(address->sa_family, SOCK_STREAM, 0);
	int on = 1, error;

	if (fd < 0)
		return -1;
	/* Connections of an earlier job in TIME_WAIT must not block the port;
	 * a socket that still listens does all the same. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
	    bind(fd, address, len) == 0 && dist__socket_prepare(fd))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Returns a listening socket, or -1 with errno. */
static int listen_at(const struct sockaddr *address, socklen_t len)
{
	int fd = bind_at(address, len), error;

	if (fd < 0 || listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

enum dist_error dist__socket_listen_at(const struct dist__address *address,
				       int *fd)
{
	struct dist__address any_port = *address;

	if (any_port.storage.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&any_port.storage)->sin6_port = 0;
	else
		((struct sockaddr_in *)&any_port.storage)->sin_port = 0;
	*fd = listen_at((struct sockaddr *)&any_port.storage, any_port.len);
	return *fd < 0 ? DIST_ERR_IO : DIST_OK;
}

static struct sockaddr_in anywhere(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_ANY)};
}

static int listen_anywhere(int port)
{
	struct sockaddr_in any = anywhere(port);

	return listen_at((struct sockaddr *)&any, sizeof any);
}

/* ---- which process listens at a port ------------------------------------ */

/* /proc/net names the socket, and the folders of processes in /proc who has it
 * open. */

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

/* Writes which process listens at port into text. */
static void find_port_holder(int port, char *text, size_t size)
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

/* Says why there is no socket for host and port, by errno. */
static enum dist_error explain(const char *host, int port,
			       struct dist_message *message)
{
	char holder[128];

	if (errno == EADDRINUSE) {
		find_port_holder(port, holder, sizeof holder);
		return dist__refuse_as(
			message, DIST_ERR_RENDEZVOUS,
			"rendezvous: port %.200s:%d is taken by %s; choose "
			"another, or 0 for a free one",
			host, port, holder);
	}
	return dist__refuse_as(message, DIST_ERR_IO,
			       "rendezvous: cannot listen at %.200s:%d: %s",
			       host, port, strerror(errno));
}

enum dist_error dist__socket_reserve(const char *host, int port, int *fd,
				     struct dist_message *message)
{
	struct sockaddr_in6 both = {.sin6_family = AF_INET6,
				    .sin6_port = htons((uint16_t)port),
				    .sin6_addr = IN6ADDR_ANY_INIT};
	struct sockaddr_in any = anywhere(port);

	*fd = bind_at((struct sockaddr *)&both, sizeof both);
	/* Where there is no IPv6. */
	if (*fd < 0 && errno != EADDRINUSE)
		*fd = bind_at((struct sockaddr *)&any, sizeof any);
	return *fd < 0 ? explain(host, port, message) : DIST_OK;
}

enum dist_error dist__socket_listen(const char *host, int port, int *fd,
				    struct dist_message *message)
{
	enum { MOST = 8 };
	struct dist__address addresses[MOST];
	int n = dist__socket_resolve(host, port, addresses, MOST, message);

	if (n == 0)
		return DIST_ERR_RENDEZVOUS;
	*fd = -1;
	errno = EADDRNOTAVAIL;
	for (int i = 0; i < n && *fd < 0 && errno != EADDRINUSE; i++)
		*fd = listen_at((struct sockaddr *)&addresses[i].storage,
				addresses[i].len);
	if (*fd < 0 && errno == EADDRNOTAVAIL)
		*fd = listen_anywhere(port);
	return *fd < 0 ? explain(host, port, message) : DIST_OK;
}

bool dist__socket_can_bind(const struct dist__address *address)
{
	int fd;

	if (dist__socket_listen_at(address, &fd) != DIST_OK)
		return false;
	close(fd);
	return true;
}

bool dist__socket_is_listening(int fd)
{
	int listening = 0;
	socklen_t len = sizeof listening;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) ==
		       0 &&
	       listening;
}

int dist__socket_accept(int listener)
{
	int fd;

	do
		fd = accept(listener, NULL, NULL);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd >= 0 && !dist__socket_prepare(fd)) {
		close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

int dist__socket_resolve(const char *host, int port,
			 struct dist__address *addresses, int max,
			 struct dist_message *message)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL, *info;
	char service[16];
	int error, n = 0;

	snprintf(service, sizeof service, "%d", port);
	error = getaddrinfo(host, service, &hints, &list);
	if (error) {
		snprintf(message->text, sizeof message->text,
			 "rendezvous: host \"%.200s\": %s", host,
			 gai_strerror(error));
		return 0;
	}
	for (info = list; info && n < max; info = info->ai_next) {
		if (info->ai_addrlen > sizeof addresses[n].storage)
			continue;
		memset(&addresses[n], 0, sizeof addresses[n]);
		memcpy(&addresses[n].storage, info->ai_addr, info->ai_addrlen);
		addresses[n++].len = info->ai_addrlen;
	}
	freeaddrinfo(list);
	return n;
}

int dist__socket_dial(const struct dist__address *address, bool local, int *fd)
{
	int error = EIO;

	*fd = socket(address->storage.ss_family, SOCK_STREAM, 0);
	if (*fd < 0)
		return errno;
	if (dist__socket_prepare(*fd)) {
		if (local)
			dist__socket_tune_local(*fd);
		if (connect(*fd, (const struct sockaddr *)&address->storage,
			    address->len) == 0)
			return 0;
		/* Interrupted: the attempt goes on by itself. */
		error = errno == EINTR ? EINPROGRESS : errno;
		if (error == EINPROGRESS)
			return error;
	}
	close(*fd);
	*fd = -1;
	return error;
}

int dist__socket_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof error;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return errno;
	return error;
}

bool dist__socket_local(int fd, struct dist__address *address)
{
	memset(address, 0, sizeof *address);
	address->len = sizeof address->storage;
	return getsockname(fd, (struct sockaddr *)&address->storage,
			   &address->len) == 0;
}

static int port_of(const struct dist__address *address)
{
	const void *storage = &address->storage;

	switch (address->storage.ss_family) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)storage)->sin_port);
	case AF_INET6:
		return ntohs(((const struct sockaddr_in6 *)storage)->sin6_port);
	default:
		return 0;
	}
}

int dist__socket_port(int fd)
{
	struct dist__address address;

	return dist__socket_local(fd, &address) ? port_of(&address) : 0;
}

void dist__address_format(const struct dist__address *address, char separator,
			  char text[DIST__ADDRESS_TEXT])
{
	char host[56] = "?";

	(void)getnameinfo((const struct sockaddr *)&address->storage,
			  address->len, host, sizeof host, NULL, 0,
			  NI_NUMERICHOST);
	snprintf(text, DIST__ADDRESS_TEXT, "%s%c%d", host, separator,
		 port_of(address));
}

bool dist__address_parse(const char *text, struct dist__address *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *info = NULL;
	const char *space = strchr(text, ' ');
	char host[DIST__ADDRESS_TEXT];
	bool good;

	if (!space || (size_t)(space - text) >= sizeof host)
		return false;
	memcpy(host, text, (size_t)(space - text));
	host[space - text] = '\0';
	if (getaddrinfo(host, space + 1, &hints, &info) != 0)
		return false;
	good = info->ai_addrlen <= sizeof address->storage;
	if (good) {
		memset(address, 0, sizeof *address);
		memcpy(&address->storage, info->ai_addr, info->ai_addrlen);
		address->len = info->ai_addrlen;
	}
	freeaddrinfo(info);
	return good;
}

bool dist__address_is_loopback(const struct dist__address *address)
{
	const void *p = &address->storage;

	if (address->storage.ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)p)
				     ->sin_addr.s_addr) >>
			       24 ==
		       IN_LOOPBACKNET;
	return address->storage.ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(
		       &((const struct sockaddr_in6 *)p)->sin6_addr);
}

bool dist__address_same_host(const struct dist__address *a,
			     const struct dist__address *b)
{
	const void *p = &a->storage, *q = &b->storage;

	if (a->storage.ss_family != b->storage.ss_family)
		return false;
	if (a->storage.ss_family == AF_INET)
		return ((const struct sockaddr_in *)p)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)q)->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)p)->sin6_addr,
		      &((const struct sockaddr_in6 *)q)->sin6_addr,
		      sizeof(struct in6_addr)) == 0;
}
