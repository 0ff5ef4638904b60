/* printable.h - makes foreign text safe for a terminal. */
#ifndef LOCKSTEP_BASE_PRINTABLE_H
#define LOCKSTEP_BASE_PRINTABLE_H

/* dist__printable replaces each byte of control characters, also of those that
 * are two bytes of UTF-8, by a question mark: a terminal would obey them.
 * Returns text. */
static inline char *dist__printable(char *text)
{
	unsigned char *c = (unsigned char *)text;

	for (; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			c[0] = c[1] = '?';
	}
	return text;
}

#endif
