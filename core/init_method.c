#include "core/init_method.h"

#include <limits.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"

/* Reads the decimal number that ends at end. */
static bool read_number(const char *text, const char *end, int most,
			int *number)
{
	uint64_t value;

	if (!dist__digits_step(&text, (uint64_t)most, &value) || text != end)
		return false;
	*number = (int)value;
	return true;
}

/* Reads "rank=R&world_size=W". */
static enum dist_error read_query(const char *query,
				  struct dist__init_method *method,
				  struct dist_message *message)
{
	static const char rank[] = "rank=", world_size[] = "world_size=";
	const char *at = query;
	bool good = true;

	while (good && *at) {
		const char *end = at + strcspn(at, "&");

		if (strncmp(at, rank, sizeof rank - 1) == 0)
			good = read_number(at + sizeof rank - 1, end, INT_MAX,
					   &method->rank);
		else if (strncmp(at, world_size, sizeof world_size - 1) == 0)
			good = read_number(at + sizeof world_size - 1, end,
					   INT_MAX, &method->world_size);
		else
			good = false;
		at = *end ? end + 1 : end;
	}
	return good ? DIST_OK
		    : dist__refuse(message,
				   "init method: \"?%.200s\": expected "
				   "?rank=R&world_size=W",
				   query);
}

/* Reads "host:port" or "[host]:port". */
static enum dist_error read_tcp(const char *text, size_t len,
				struct dist__init_method *method,
				struct dist_message *message)
{
	const char *end = text + len, *colon = end, *host = text;
	size_t host_len;

	while (colon > text && *colon != ':')
		colon--;
	host_len = (size_t)(colon - text);
	if (host_len >= 2 && host[0] == '[' && host[host_len - 1] == ']') {
		host++;
		host_len -= 2;
	} else if (memchr(host, ':', host_len)) {
		host_len = 0;
	}
	if (host_len == 0 || host_len >= sizeof method->host ||
	    memchr(host, '/', host_len) ||
	    !read_number(colon + 1, end, 65535, &method->port) ||
	    method->port == 0)
		return dist__refuse(message,
				    "init method \"tcp://%.200s\": expected "
				    "tcp://host:port or tcp://[ipv6]:port, "
				    "port from 1 to 65535",
				    text);
	memcpy(method->host, host, host_len);
	method->host[host_len] = '\0';
	return DIST_OK;
}

static enum dist_error read_file(const char *text, size_t len,
				 struct dist__init_method *method,
				 struct dist_message *message)
{
	if (len < 2 || text[0] != '/' || text[len - 1] == '/' ||
	    len >= sizeof method->path)
		return dist__refuse(message,
				    "init method \"file://%.200s\": expected "
				    "file:///path, of a file, from the root on",
				    text);
	memcpy(method->path, text, len);
	method->path[len] = '\0';
	return DIST_OK;
}

static enum dist_error read_url(const char *url,
				struct dist__init_method *method,
				struct dist_message *message)
{
	size_t len = strcspn(url, "?");
	enum dist_error error = DIST_OK;

	if (strncmp(url, "tcp://", 6) == 0) {
		method->kind = DIST__INIT_TCP;
		error = read_tcp(url + 6, len - 6, method, message);
	} else if (strncmp(url, "file://", 7) == 0) {
		method->kind = DIST__INIT_FILE;
		error = read_file(url + 7, len - 7, method, message);
	} else if (len != 6 || strncmp(url, "env://", 6) != 0) {
		return dist__refuse(message,
				    "unknown init method \"%.64s\": expected "
				    "env://, tcp://host:port or file:///path",
				    url);
	}
	if (!error && url[len])
		error = read_query(url + len + 1, method, message);
	return error;
}

/* With a store all that the URL could say must be said by the options. */
static enum dist_error check_store(const struct dist_init_options *options,
				   struct dist_message *message)
{
	if (options->init_method)
		return dist__refuse(message,
				    "init method \"%.64s\" and a store: "
				    "expected one of them",
				    options->init_method);
	if (options->world_size == 0)
		return dist__refuse(message,
				    "a store without a world size: expected "
				    "rank and world_size beside it");
	return DIST_OK;
}

static enum dist_error check_place(const struct dist__init_method *method,
				   struct dist_message *message)
{
	if ((method->rank < 0) != (method->world_size < 0))
		return dist__refuse(message, "init method: expected both rank "
					     "and world_size, or neither");
	if (method->rank >= 0 && method->rank >= method->world_size)
		return dist__refuse(message, "rank %d is outside a world of %d",
				    method->rank, method->world_size);
	return DIST_OK;
}

enum dist_error dist__init_method_read(const struct dist_init_options *options,
				       struct dist__init_method *method,
				       struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	memset(method, 0, sizeof *method);
	method->rank = method->world_size = -1;
	if (options->world_size < 0 || options->rank < 0)
		return dist__refuse(message, "rank %d is outside a world of %d",
				    options->rank, options->world_size);
	if (options->store) {
		method->kind = DIST__INIT_STORE;
		error = check_store(options, message);
	} else if (options->init_method) {
		error = read_url(options->init_method, method, message);
	}
	if (options->world_size > 0) {
		method->rank = options->rank;
		method->world_size = options->world_size;
	}
	return error ? error : check_place(method, message);
}
