/*
 * pickle.c - reads pickles of plain containers, without Python.
 *
 * A pickle is a program for a machine with a stack and a memo. This file knows
 * the instructions that make None, bool, int, float, str, bytes, list, tuple
 * and dict, and nest them. Instructions that import, call or build are refused
 * before they have any effect. Every instruction makes at most one value, so
 * the length bounds the memory.
 * Python Library Reference, pickletools.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/character.h"
#include "check/recorder/plain.h"

struct machine {
	const unsigned char *data;
	size_t size, at;
	size_t start; /* of the instruction */
	struct plain_arena *arena;
	struct plain **stack, **memo;
	uint32_t depth, stack_room, memo_size, memo_room;
	char *why;
};

/* Returns false, for its callers to return. */
static bool refuse(struct machine *m, const char *expected)
{
	snprintf(m->why, PLAIN_WHY, "byte %zu: expected %s", m->start,
		 expected);
	return false;
}

static bool no_room(struct machine *m)
{
	snprintf(m->why, PLAIN_WHY,
		 "expected at most %u values, and memory for them", PLAIN_MOST);
	return false;
}

/* ---- reading ------------------------------------------------------------ */

/* The next bytes; NULL: there are no more so many, and that is refused. */
static const unsigned char *take(struct machine *m, uint64_t bytes)
{
	const unsigned char *taken = m->data + m->at;

	if (bytes > m->size - m->at) {
		(void)refuse(m, "a pickle that does not end here");
		return NULL;
	}
	m->at += bytes;
	return taken;
}

static bool take_number(struct machine *m, unsigned bytes, uint64_t *number)
{
	const unsigned char *taken = take(m, bytes);

	*number = 0;
	for (unsigned i = 0; taken && i < bytes; i++)
		*number |= (uint64_t)taken[i] << 8 * i;
	return taken;
}

/* The text up to the end of the line. */
static bool take_line(struct machine *m, const char **line, size_t *len)
{
	const unsigned char *from = m->data + m->at;
	const unsigned char *end = memchr(from, '\n', m->size - m->at);

	if (!end)
		return refuse(m, "a line that ends");
	*line = (const char *)from;
	*len = (size_t)(end - from);
	m->at += *len + 1;
	return true;
}

/* The line as a number for strtod() and so on, cut short. */
static bool take_short_line(struct machine *m, char text[64])
{
	const char *line;
	size_t len;

	if (!take_line(m, &line, &len))
		return false;
	snprintf(text, 64, "%.*s", (int)(len < 63 ? len : 63), line);
	return true;
}

/* ---- stack and memo ----------------------------------------------------- */

static bool grow(struct machine *m, struct plain ***all, uint32_t *room,
		 uint64_t wanted)
{
	uint64_t more = 2 * (uint64_t)*room + 1024;
	struct plain **grown;

	if (wanted <= *room)
		return true;
	if (wanted > PLAIN_MOST)
		return no_room(m);
	if (more < wanted)
		more = wanted;
	grown = realloc(*all, more * sizeof(*grown));
	if (!grown)
		return no_room(m);
	memset(grown + *room, 0, (more - *room) * sizeof(*grown));
	*all = grown;
	*room = (uint32_t)more;
	return true;
}

static bool push(struct machine *m, struct plain *value)
{
	if (!value)
		return no_room(m);
	if (!grow(m, &m->stack, &m->stack_room, (uint64_t)m->depth + 1))
		return false;
	m->stack[m->depth++] = value;
	return true;
}

static struct plain *push_new(struct machine *m, enum plain_kind kind)
{
	struct plain *value = check_plain_make(m->arena, kind);

	return push(m, value) ? value : NULL;
}

/* The value on top, which is no mark; NULL, and refused: there is none. */
static struct plain *top(struct machine *m)
{
	if (m->depth > 0 && m->stack[m->depth - 1]->kind != PLAIN_OPENED)
		return m->stack[m->depth - 1];
	(void)refuse(m, "a value on the stack");
	return NULL;
}

/* Whether the last num values are there. */
static bool has(struct machine *m, uint32_t num)
{
	for (uint32_t i = 1; i <= num; i++)
		if (i > m->depth ||
		    m->stack[m->depth - i]->kind == PLAIN_OPENED)
			return refuse(m, "more values on the stack");
	return true;
}

/* How many values are above the last mark. */
static bool above_mark(struct machine *m, uint32_t *num)
{
	for (*num = 0; *num < m->depth; ++*num)
		if (m->stack[m->depth - 1 - *num]->kind == PLAIN_OPENED)
			return true;
	return refuse(m, "a mark on the stack");
}

/* kind: an integer or a bool. */
static bool push_integer(struct machine *m, enum plain_kind kind,
			 int64_t integer)
{
	struct plain *value = push_new(m, kind);

	if (value)
		value->integer = integer;
	return value;
}

static bool push_real(struct machine *m, double real)
{
	struct plain *value = push_new(m, PLAIN_REAL);

	if (value)
		value->real = real;
	return value;
}

static bool push_text(struct machine *m, const char *text, size_t size)
{
	struct plain *value = push_new(m, PLAIN_TEXT);

	if (!value)
		return false;
	value->text = text;
	value->size = (uint32_t)size;
	return true;
}

static bool remember(struct machine *m, uint64_t number)
{
	struct plain *value = top(m);

	if (number > m->size)
		return refuse(m, "a number for the memo, not so large");
	if (!value || !grow(m, &m->memo, &m->memo_room, number + 1))
		return false;
	m->memo[number] = value;
	if (number >= m->memo_size)
		m->memo_size = (uint32_t)number + 1;
	return true;
}

static bool recall(struct machine *m, uint64_t number)
{
	if (number >= m->memo_size || !m->memo[number])
		return refuse(m, "a value that was remembered");
	return push(m, m->memo[number]);
}

/* ---- numbers and text --------------------------------------------------- */

/* A number in two's complement, of any length. */
static bool long_integer(struct machine *m, uint64_t bytes)
{
	const unsigned char *taken = take(m, bytes);
	uint64_t number = 0;

	if (!taken)
		return false;
	if (bytes > 8)
		return push_real(m, taken[bytes - 1] & 0x80 ? -INFINITY
							    : INFINITY);
	if (bytes > 0 && taken[bytes - 1] & 0x80)
		number = UINT64_MAX;
	for (uint64_t i = 0; i < bytes; i++) {
		number &= ~(UINT64_C(0xff) << 8 * i);
		number |= (uint64_t)taken[i] << 8 * i;
	}
	return push_integer(m, PLAIN_INTEGER, (int64_t)number);
}

/* "01" is True, "00" False, "12" and "12L" are integers. */
static bool integer_line(struct machine *m)
{
	char text[64], *end;
	int64_t integer;

	if (!take_short_line(m, text))
		return false;
	if (strcmp(text, "00") == 0 || strcmp(text, "01") == 0)
		return push_integer(m, PLAIN_BOOL, text[1] == '1');
	integer = strtoll(text, &end, 10);
	if (end == text || (*end && strcmp(end, "L") != 0))
		return refuse(m, "an integer");
	return push_integer(m, PLAIN_INTEGER, integer);
}

static bool real_line(struct machine *m)
{
	char text[64], *end;
	double real;

	if (!take_short_line(m, text))
		return false;
	real = strtod(text, &end);
	return end == text || *end ? refuse(m, "a number") : push_real(m, real);
}

static bool big_endian_real(struct machine *m)
{
	const unsigned char *taken = take(m, 8);
	uint64_t bits = 0;
	double real;

	for (int i = 0; taken && i < 8; i++)
		bits = bits << 8 | taken[i];
	memcpy(&real, &bits, sizeof real);
	return taken && push_real(m, real);
}

static bool text_of(struct machine *m, unsigned length_bytes)
{
	const unsigned char *taken;
	uint64_t len;

	if (!take_number(m, length_bytes, &len))
		return false;
	taken = take(m, len);
	return taken && push_text(m, (const char *)taken, len);
}

/* Appends the character as UTF-8. */
static size_t encode(char *to, uint32_t code)
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (n == 1) {
		to[0] = (char)code;
		return 1;
	}
	for (size_t i = n; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(code | (0xffu << (8 - n) & 0xff));
	return n;
}

/* The line with its \x41, \u0041 and \U00000041 replaced; of other escapes the
 * backslash goes. What no file name or line has may be lost. */
static bool unescape(struct machine *m, const char *line, size_t len)
{
	char *text = check_plain_bytes(m->arena, len + 1);
	size_t size = 0;

	if (!text)
		return no_room(m);
	for (size_t i = 0; i < len; i++) {
		char digits[9] = "", *end = digits;
		size_t wanted = 0;

		if (line[i] != '\\' || i + 1 == len) {
			text[size++] = line[i];
			continue;
		}
		i++;
		wanted = line[i] == 'x'   ? 2
			 : line[i] == 'u' ? 4
			 : line[i] == 'U' ? 8
					  : 0;
		if (wanted && wanted < len - i) {
			uint32_t code;

			memcpy(digits, line + i + 1, wanted);
			code = (uint32_t)strtoul(digits, &end, 16);
			if (end == digits + wanted && code < 0x110000) {
				size += encode(text + size, code);
				i += wanted;
				continue;
			}
		}
		text[size++] = line[i];
	}
	return push_text(m, text, size);
}

static bool text_line(struct machine *m, bool quoted)
{
	const char *line;
	size_t len;

	if (!take_line(m, &line, &len))
		return false;
	if (quoted) {
		if (len < 2 || line[0] != line[len - 1] ||
		    (line[0] != '\'' && line[0] != '"'))
			return refuse(m, "text between quotes");
		line++;
		len -= 2;
	}
	return unescape(m, line, len);
}

/* ---- containers --------------------------------------------------------- */

/* All values above the last mark, which goes, too. */
#define TO_MARK UINT32_MAX

/* Whether the num values, or those above the mark, of which *num becomes the
 * number, are there and fit a container of that kind. */
static bool count(struct machine *m, enum plain_kind kind, uint32_t *num,
		  bool *marked)
{
	*marked = *num == TO_MARK;
	if (*marked ? !above_mark(m, num) : !has(m, *num))
		return false;
	return kind != PLAIN_DICT || *num % 2 == 0 ||
	       refuse(m, "a value for each key");
}

/* Makes a list or dict of the num values on top. */
static bool gather(struct machine *m, enum plain_kind kind, uint32_t num)
{
	struct plain *value = check_plain_make(m->arena, kind);
	bool marked;

	if (!count(m, kind, &num, &marked))
		return false;
	if (!value ||
	    !check_plain_add(m->arena, value, m->stack + m->depth - num, num))
		return no_room(m);
	m->depth -= num + marked;
	return push(m, value);
}

/* Puts the num values on top into the container below. */
static bool put(struct machine *m, enum plain_kind kind, uint32_t num)
{
	struct plain *to;
	bool marked;

	if (!count(m, kind, &num, &marked))
		return false;
	if (m->depth < num + marked + 1)
		return refuse(m, "a container on the stack");
	to = m->stack[m->depth - num - marked - 1];
	if (to->kind != kind)
		return refuse(m, kind == PLAIN_LIST ? "a list on the stack"
						    : "a dict on the stack");
	if (!check_plain_add(m->arena, to, m->stack + m->depth - num, num))
		return no_room(m);
	m->depth -= num + marked;
	return true;
}

/* ---- instructions ------------------------------------------------------- */

/* What is refused: it would import, call or build something. */
static const char *forbidden(unsigned char code)
{
	static const struct {
		unsigned char code;
		const char *name;
	} names[] = {{'c', "GLOBAL"},
		     {0x93, "STACK_GLOBAL"},
		     {'R', "REDUCE"},
		     {'b', "BUILD"},
		     {'i', "INST"},
		     {'o', "OBJ"},
		     {0x81, "NEWOBJ"},
		     {0x92, "NEWOBJ_EX"},
		     {'P', "PERSID"},
		     {'Q', "BINPERSID"},
		     {0x82, "EXT1"},
		     {0x83, "EXT2"},
		     {0x84, "EXT4"},
		     {0x97, "NEXT_BUFFER"},
		     {0x98, "READONLY_BUFFER"}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code)
			return names[i].name;
	return NULL;
}

static bool refuse_code(struct machine *m, unsigned char code)
{
	const char *name = forbidden(code);

	if (name)
		snprintf(m->why, PLAIN_WHY,
			 "byte %zu: expected plain containers, not %s, which "
			 "would run code",
			 m->start, name);
	else
		snprintf(m->why, PLAIN_WHY,
			 "byte %zu: expected a pickle of plain containers, not "
			 "instruction 0x%02x",
			 m->start, code);
	return false;
}

static bool read_scalar(struct machine *m, unsigned char code)
{
	uint64_t number;

	switch (code) {
	case 'N':
		return push_new(m, PLAIN_NONE);
	case 0x88:
	case 0x89:
		return push_integer(m, PLAIN_BOOL, code == 0x88);
	case 'I':
	case 'L':
		return integer_line(m);
	case 'J':
		return take_number(m, 4, &number) &&
		       push_integer(m, PLAIN_INTEGER, (int32_t)number);
	case 'K':
	case 'M':
		return take_number(m, code == 'K' ? 1 : 2, &number) &&
		       push_integer(m, PLAIN_INTEGER, (int64_t)number);
	case 0x8a:
		return take_number(m, 1, &number) && long_integer(m, number);
	case 0x8b:
		return take_number(m, 4, &number) && long_integer(m, number);
	case 'F':
		return real_line(m);
	case 'G':
		return big_endian_real(m);
	case 'S':
	case 'V':
		return text_line(m, code == 'S');
	case 'U':
	case 'C':
	case 0x8c:
		return text_of(m, 1);
	case 'T':
	case 'B':
	case 'X':
		return text_of(m, 4);
	case 0x8d:
	case 0x8e:
	case 0x96:
		return text_of(m, 8);
	default:
		return refuse_code(m, code);
	}
}

static bool read_container(struct machine *m, unsigned char code)
{
	switch (code) {
	case '(':
		return push_new(m, PLAIN_OPENED);
	case ']':
	case ')':
		return push_new(m, PLAIN_LIST);
	case '}':
		return push_new(m, PLAIN_DICT);
	case 'l':
	case 't':
		return gather(m, PLAIN_LIST, TO_MARK);
	case 'd':
		return gather(m, PLAIN_DICT, TO_MARK);
	case 0x85:
	case 0x86:
	case 0x87:
		return gather(m, PLAIN_LIST, code - 0x84u);
	case 'a':
		return put(m, PLAIN_LIST, 1);
	case 'e':
		return put(m, PLAIN_LIST, TO_MARK);
	case 's':
		return put(m, PLAIN_DICT, 2);
	case 'u':
		return put(m, PLAIN_DICT, TO_MARK);
	default:
		return read_scalar(m, code);
	}
}

static bool read_memo(struct machine *m, unsigned char code)
{
	unsigned bytes = code == 'j' || code == 'r' ? 4 : 1;
	uint64_t number;
	char text[64];

	if (code == 'g' || code == 'p') {
		if (!take_short_line(m, text))
			return false;
		number = strtoull(text, NULL, 10);
		if (number >= PLAIN_MOST)
			return no_room(m);
	} else if (!take_number(m, bytes, &number)) {
		return false;
	}
	return code == 'g' || code == 'h' || code == 'j' ? recall(m, number)
							 : remember(m, number);
}

/* One instruction; '.' ends the pickle, and is left to the caller. */
static bool step(struct machine *m, unsigned char code)
{
	uint64_t number;
	uint32_t num;

	switch (code) {
	case 0x80:
		if (!take_number(m, 1, &number))
			return false;
		return number <= 5 || refuse(m, "a pickle of protocol 0 to 5");
	case 0x95: /* a frame; its length tells nothing that is needed */
		return take_number(m, 8, &number);
	case '0':
		if (m->depth == 0)
			return refuse(m, "a value on the stack");
		m->depth--;
		return true;
	case '1':
		if (!above_mark(m, &num))
			return false;
		m->depth -= num + 1;
		return true;
	case '2':
		return top(m) && push(m, top(m));
	case 0x94:
		return remember(m, m->memo_size);
	case 'g':
	case 'h':
	case 'j':
	case 'p':
	case 'q':
	case 'r':
		return read_memo(m, code);
	default:
		return read_container(m, code);
	}
}

struct plain *check_plain_read_pickle(struct plain_arena *arena,
				      const void *data, size_t size,
				      char why[PLAIN_WHY])
{
	struct machine m = {
		.data = data, .size = size, .arena = arena, .why = why};
	struct plain *value = NULL;
	bool good = true;

	while (good) {
		const unsigned char *code;

		m.start = m.at;
		code = take(&m, 1);
		if (!code)
			break;
		if (*code == '.') {
			value = top(&m);
			break;
		}
		good = step(&m, *code);
	}
	free(m.stack);
	free(m.memo);
	return value;
}
