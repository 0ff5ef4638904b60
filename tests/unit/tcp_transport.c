/* The cases of tests/support/tcp_cases.c, one test each, and the parts of the
 * transport that need no second rank. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <string.h>

#include "realbackend/wire/frame.h"
#include "tests/support/tcp_cases.h"

ParameterizedTestParameters(tcp_transport, cases)
{
	static int numbers[32];
	size_t n = 0;

	for (; tcp_cases[n].name; n++)
		numbers[n] = (int)n;
	return cr_make_param_array(int, numbers, n);
}

ParameterizedTest(int *number, tcp_transport, cases)
{
	const struct tcp_case *one = &tcp_cases[*number];

	for (const char *const *intra = tcp_intras; *intra; intra++)
		cr_assert_eq(tcp_case_run(one, *intra), 0, "%s over %s",
			     one->name, *intra);
}

Test(tcp_transport, frame_survives_the_wire)
{
	struct dist__frame out = {.kind = DIST__FRAME_DATA,
				  .group = 0xfedcba98,
				  .seq = 1,
				  .step = 0x80000000,
				  .tag = -1,
				  .fingerprint = UINT64_C(0x0123456789abcdef),
				  .bytes = UINT64_C(0x123456789a)};
	struct dist__frame in;
	unsigned char wire[DIST__FRAME_BYTES];

	memset(&in, 0, sizeof in);
	dist__frame_encode(&out, wire);
	cr_assert(dist__frame_decode(wire, &in));
	cr_assert_eq(in.group, out.group);
	cr_assert_eq(in.step, out.step);
	cr_assert_eq(in.tag, -1);
	cr_assert_eq(in.fingerprint, out.fingerprint);
	cr_assert_eq(in.bytes, out.bytes);
	cr_assert_eq(wire[8], 0x98, "little-endian");
}

Test(tcp_transport, frame_refuses_garbage)
{
	struct dist__frame frame = {.kind = DIST__FRAME_DATA};
	unsigned char wire[DIST__FRAME_BYTES];

	dist__frame_encode(&frame, wire);
	wire[0] ^= 1;
	cr_assert_not(dist__frame_decode(wire, &frame), "magic");
	frame.kind = DIST__FRAME_BYE + 1;
	dist__frame_encode(&frame, wire);
	cr_assert_not(dist__frame_decode(wire, &frame), "kind");
	frame.kind = DIST__FRAME_BYE;
	frame.bytes = 1;
	dist__frame_encode(&frame, wire);
	cr_assert_not(dist__frame_decode(wire, &frame), "payload of a BYE");
	frame.kind = DIST__FRAME_DATA;
	frame.bytes = UINT64_MAX;
	dist__frame_encode(&frame, wire);
	cr_assert_not(dist__frame_decode(wire, &frame), "length");
}
