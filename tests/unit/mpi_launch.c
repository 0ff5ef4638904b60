/* What MPI is asked for, by functions in the place of its own. */
#include <criterion/criterion.h>
#include <limits.h>

#include "realbackend/mpi/launch.h"

enum { RANKS = 2 };

static int counted;

static int take_all_reduce(const void *in, void *out, int count, uintptr_t type,
			   uintptr_t op, uintptr_t comm, uintptr_t *request)
{
	(void)in, (void)out, (void)type, (void)op, (void)comm, (void)request;
	counted = count;
	return 0;
}

static int take_send(const void *data, int count, uintptr_t type, int to,
		     int tag, uintptr_t comm, uintptr_t *request)
{
	(void)data, (void)type, (void)to, (void)tag, (void)comm, (void)request;
	counted = count;
	return 0;
}

/* Launches op, whose tensors are nowhere: whoever touches them, or calls what
 * is not above, dies. */
static enum dist_error launch(const struct dist__op *op,
			      struct dist_message *text)
{
	struct dist__mpi mpi = {.name = "An MPI"};
	struct dist__mpi_comm comm = {
		.mpi = &mpi, .world_size = RANKS, .text = text};
	struct dist__mpi_launch launched = {.blocks = false};
	enum dist_error error;

	mpi.call.Iallreduce = take_all_reduce;
	mpi.call.Isend = take_send;
	counted = -1;
	text->text[0] = '\0';
	error = dist__mpi_launch(&launched, &comm, op, 1, 0);
	dist__mpi_leave(&launched);
	return error;
}

static struct dist_tensor nowhere(size_t numel)
{
	return dist_tensor(NULL, numel, DIST_FLOAT32);
}

static void expect_refused(const struct dist__op *op, const char *what)
{
	struct dist_message text;

	cr_expect_eq(launch(op, &text), DIST_ERR_UNSUPPORTED, "%s", what);
	cr_expect_str_eq(text.text, what);
	cr_expect_eq(counted, -1, "%s", what);
}

Test(mpi_launch, as_many_elements_as_mpi_counts)
{
	struct dist_message text;
	struct dist__op op = {.kind = DIST__ALL_REDUCE,
			      .tensor = nowhere(INT_MAX)};

	cr_expect_eq(launch(&op, &text), DIST_OK);
	cr_expect_eq(counted, INT_MAX);
	op.kind = DIST__SEND;
	cr_expect_eq(launch(&op, &text), DIST_OK);
	cr_expect_eq(counted, INT_MAX);
}

Test(mpi_launch, one_element_more_is_refused)
{
	const size_t much = (size_t)INT_MAX + 1;
	const struct dist_tensor list[RANKS] = {nowhere(1), nowhere(much)};
	const size_t splits[RANKS] = {much, 1};
	struct dist__sides sides = {.in = {.count = 0}};
	struct dist__op op = {.kind = DIST__ALL_REDUCE,
			      .reduce_op = DIST_PREMUL_SUM,
			      .tensor = nowhere(much)};

	expect_refused(&op, "all_reduce of 2147483648 elements: An MPI counts "
			    "to 2147483647");
	op.kind = DIST__RECV;
	expect_refused(&op, "recv of 2147483648 elements: An MPI counts to "
			    "2147483647");
	op.sides = &sides;
	op.kind = DIST__REDUCE_SCATTER;
	sides.in = (struct dist__parts){.count = RANKS,
					.whole = nowhere(RANKS * much)};
	expect_refused(&op, "reduce_scatter of 2147483648 elements: An MPI "
			    "counts to 2147483647");
	op.kind = DIST__ALL_GATHER;
	op.tensor = nowhere(1);
	sides = (struct dist__sides){.out = {.count = RANKS, .list = list}};
	expect_refused(&op, "all_gather of 2147483648 elements: An MPI counts "
			    "to 2147483647");
	op.kind = DIST__ALL_TO_ALL;
	sides = (struct dist__sides){.in = {.count = RANKS,
					    .whole = nowhere(much + 1),
					    .splits = splits}};
	expect_refused(&op, "all_to_all of 2147483648 elements: An MPI counts "
			    "to 2147483647");
	op.kind = DIST__BROADCAST;
	sides = (struct dist__sides){
		.bundle = {.kind = DIST__COALESCED, .num = RANKS, .in = list}};
	expect_refused(&op, "broadcast of 2147483648 elements: An MPI counts "
			    "to 2147483647");
}
