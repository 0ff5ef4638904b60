/*
 * character.h - which bytes are text that is safe on a terminal. Private to
 * base/ and check/.
 */
#ifndef LOCKSTEP_BASE_CHARACTER_H
#define LOCKSTEP_BASE_CHARACTER_H

#include <stddef.h>
#include <stdint.h>

/* check_character returns the bytes of the UTF-8 character at text, which has
 * len > 0 bytes; 0: it is not UTF-8, or it controls a terminal. */
static inline size_t check_character(const char *text, size_t len)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code = (unsigned char)text[0];
	size_t n = 1;

	if (code < ' ' || (code >= 0x7f && code < 0xc0))
		return 0;
	if (code >= 0xc0)
		n = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
	if (code >= 0xf8 || n > len)
		return 0;
	code &= n == 1 ? 0x7f : 0xffu >> (n + 1);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3fu);
	}
	if (code < least[n] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000) || (code >= 0x80 && code < 0xa0))
		return 0;
	return n;
}

/* check_printable replaces each of len bytes of text that belongs to no such
 * character by a question mark. */
static inline void check_printable(char *text, size_t len)
{
	size_t i = 0, n;

	while (i < len) {
		n = check_character(text + i, len - i);
		if (n == 0)
			text[i++] = '?';
		i += n;
	}
}

#endif
