#include "realbackend/store/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quantity.h"
#include "base/endian.h"
#include "base/printable.h"

#define MAGIC UINT32_C(0x3153534c) /* "LSS1" */

bool dist__parcel_reserve(struct dist__parcel *parcel, size_t max)
{
	return dist__array_room(&parcel->data, &parcel->max, max, 1);
}

void dist__parcel_init(struct dist__parcel *parcel, int32_t code,
		       int64_t timeout_ns)
{
	memset(parcel, 0, sizeof *parcel);
	if (!dist__parcel_reserve(parcel, 256)) {
		parcel->failed = true;
		return;
	}
	memset(parcel->data, 0, DIST__PARCEL_HEADER);
	dist__put32(parcel->data, MAGIC);
	dist__put32(parcel->data + 4, (uint32_t)code);
	dist__put64(parcel->data + 8, (uint64_t)timeout_ns);
	parcel->len = DIST__PARCEL_HEADER;
}

void dist__parcel_release(struct dist__parcel *parcel)
{
	free(parcel->data);
	memset(parcel, 0, sizeof *parcel);
}

void dist__parcel_add(struct dist__parcel *parcel, const void *data, size_t len)
{
	unsigned char *at;

	if (parcel->failed || len > DIST__PARCEL_MAX_REPLY ||
	    !dist__parcel_reserve(parcel, parcel->len + 4 + len)) {
		parcel->failed = true;
		return;
	}
	at = parcel->data + parcel->len;
	dist__put32(at, (uint32_t)len);
	if (len)
		memcpy(at + 4, data, len);
	parcel->len += 4 + len;
	dist__put32(parcel->data + 16, dist__get32(parcel->data + 16) + 1);
	dist__put32(parcel->data + 20,
		    (uint32_t)(parcel->len - DIST__PARCEL_HEADER));
}

void dist__parcel_add_text(struct dist__parcel *parcel, const char *text)
{
	dist__parcel_add(parcel, text, strlen(text));
}

size_t dist__parcel_wanted(const struct dist__parcel *parcel, size_t limit)
{
	unsigned char magic[4];
	size_t known = parcel->len < sizeof magic ? parcel->len : sizeof magic;
	size_t whole;

	/* Garbage is seen from its first byte on. */
	dist__put32(magic, MAGIC);
	if (known && memcmp(magic, parcel->data, known) != 0)
		return 0;
	if (parcel->len < DIST__PARCEL_HEADER)
		return DIST__PARCEL_HEADER;
	whole = DIST__PARCEL_HEADER + (size_t)dist__get32(parcel->data + 20);
	return whole <= limit ? whole : 0;
}

bool dist__parcel_valid(const struct dist__parcel *parcel)
{
	struct dist__bytes string;
	size_t offset = 0;
	uint32_t count = 0;

	while (dist__parcel_next(parcel, &offset, &string))
		count++;
	return DIST__PARCEL_HEADER + offset == parcel->len &&
	       count == dist__parcel_count(parcel);
}

int32_t dist__parcel_code(const struct dist__parcel *parcel)
{
	return (int32_t)dist__get32(parcel->data + 4);
}

int64_t dist__parcel_timeout_ns(const struct dist__parcel *parcel)
{
	return (int64_t)dist__get64(parcel->data + 8);
}

uint32_t dist__parcel_count(const struct dist__parcel *parcel)
{
	return dist__get32(parcel->data + 16);
}

bool dist__parcel_next(const struct dist__parcel *parcel, size_t *offset,
		       struct dist__bytes *string)
{
	size_t left = parcel->len - DIST__PARCEL_HEADER - *offset;
	const unsigned char *at = parcel->data + DIST__PARCEL_HEADER + *offset;
	size_t len;

	if (left < 4)
		return false;
	len = dist__get32(at);
	if (len > left - 4)
		return false;
	string->data = at + 4;
	string->len = len;
	*offset += 4 + len;
	return true;
}

bool dist__bytes_number(struct dist__bytes string, int64_t *number)
{
	char text[24];

	if (string.len == 0 || string.len >= sizeof text)
		return false;
	dist__bytes_copy(string, text, sizeof text);
	return strlen(text) == string.len &&
	       dist__count_read(text, INT64_MIN, INT64_MAX, number);
}

enum dist_error dist__bytes_keep(struct dist__bytes *string)
{
	unsigned char *copy = malloc(string->len + 1);

	if (!copy)
		return DIST_ERR_NO_MEMORY;
	if (string->len)
		memcpy(copy, string->data, string->len);
	copy[string->len] = '\0';
	string->data = copy;
	return DIST_OK;
}

void dist__bytes_copy(struct dist__bytes string, char *text, size_t size)
{
	size_t len = string.len < size ? string.len : size - 1;

	if (len)
		memcpy(text, string.data, len);
	text[len] = '\0';
	dist__printable(text);
}
