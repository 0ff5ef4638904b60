/* Which fidelity a simulation gets. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/fidelity.h"
#include "model/library/fidelity.h"
#include "tests/support/okay.h"

Test(fidelity, words_and_fidelities_are_one_to_one)
{
	static const char *const text[] = {"auto", "message", "flow",
					   "formula"};
	enum dist__fidelity fidelity;

	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		cr_expect(dist__fidelity_parse(&fidelity, text[i]));
		cr_expect_eq(fidelity, (enum dist__fidelity)i);
		cr_expect_str_eq(dist__fidelity_name(fidelity), text[i]);
	}
	cr_expect_not(dist__fidelity_parse(&fidelity, "Message"));
	cr_expect_not(dist__fidelity_parse(&fidelity, ""));
	cr_expect(dist__fidelity_parse(&fidelity, NULL));
	cr_expect_eq(fidelity, DIST__FIDELITY_AUTO);
}

static enum dist__fidelity chosen(const char *library, int ranks,
				  enum dist__fidelity asked)
{
	struct dist__profile profile;
	enum dist__fidelity fidelity = DIST__FIDELITY_AUTO;
	struct dist_message message = {""};

	dist__profile_init(&profile);
	strcpy(profile.library, library);
	cr_expect_eq(
		library_fidelity(&profile, ranks, asked, &fidelity, &message),
		DIST_OK, "%s", message.text);
	dist__profile_release(&profile);
	return fidelity;
}

Test(fidelity, few_ranks_are_simulated_message_by_message)
{
	cr_expect_eq(chosen("", 1, DIST__FIDELITY_AUTO),
		     DIST__FIDELITY_MESSAGE);
	cr_expect_eq(chosen("lockstep", 256, DIST__FIDELITY_AUTO),
		     DIST__FIDELITY_MESSAGE);
}

Test(fidelity, more_are_flows)
{
	cr_expect_eq(chosen("", 257, DIST__FIDELITY_AUTO), DIST__FIDELITY_FLOW);
	cr_expect_eq(chosen("", 16384, DIST__FIDELITY_AUTO),
		     DIST__FIDELITY_FLOW);
}

Test(fidelity, very_many_take_the_time_of_a_formula)
{
	cr_expect_eq(chosen("", 16385, DIST__FIDELITY_AUTO),
		     DIST__FIDELITY_FORMULA);
}

Test(fidelity, what_is_asked_for_is_given)
{
	for (enum dist__fidelity asked = DIST__FIDELITY_MESSAGE;
	     asked <= DIST__FIDELITY_FORMULA; asked++)
		cr_expect_eq(chosen("", 1000, asked), asked);
}

Test(fidelity, whose_turn_it_is_on_a_core_no_formula_knows)
{
	struct dist__profile profile;
	enum dist__fidelity fidelity;
	struct dist_message message = {""};

	dist__profile_init(&profile);
	profile.cores = 2;
	cr_expect_eq(library_fidelity(&profile, 100000, DIST__FIDELITY_AUTO,
				      &fidelity, &message),
		     DIST_OK);
	cr_expect_eq(fidelity, DIST__FIDELITY_MESSAGE);
	refused_with(library_fidelity(&profile, 2, DIST__FIDELITY_FORMULA,
				      &fidelity, &message),
		     message, "share cores");
	dist__profile_release(&profile);
}

Test(fidelity, an_unknown_library_is_refused)
{
	struct dist__profile profile;
	enum dist__fidelity fidelity;
	struct dist_message message = {""};

	dist__profile_init(&profile);
	strcpy(profile.library, "no-such");
	refused_with(library_fidelity(&profile, 2, DIST__FIDELITY_AUTO,
				      &fidelity, &message),
		     message, "expected lockstep");
	dist__profile_release(&profile);
}

Test(fidelity, of_transfers_there_are_flows_but_no_messages)
{
	struct dist__profile profile;
	enum dist__fidelity fidelity;
	struct dist_message message = {""};

	cr_expect_eq(chosen("nccl", 8, DIST__FIDELITY_FLOW),
		     DIST__FIDELITY_FLOW);
	cr_expect_eq(chosen("nccl", 8, DIST__FIDELITY_AUTO),
		     DIST__FIDELITY_FLOW);
	cr_expect_eq(chosen("nccl", 16385, DIST__FIDELITY_AUTO),
		     DIST__FIDELITY_FORMULA);
	dist__profile_init(&profile);
	strcpy(profile.library, "nccl");
	refused_with(library_fidelity(&profile, 8, DIST__FIDELITY_MESSAGE,
				      &fidelity, &message),
		     message, "expected auto, flow or formula");
	dist__profile_release(&profile);
}
