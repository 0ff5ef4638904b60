/* validate_bases.c - what the rows for calibration moved. */
#include "cli/validate.h"

static void print_moves(const struct basis *basis, FILE *out)
{
	const struct library_calibration *calibration = &basis->calibration;

	for (size_t i = 0; i < calibration->num_moves; i++)
		fprintf(out, "%s%s %.4g to %.4g", i ? ", " : "",
			calibration->moves[i].constant,
			calibration->moves[i].from, calibration->moves[i].to);
	if (!calibration->num_moves)
		fprintf(out, "latencies by %.4g, bytes by %.4g",
			basis->fixed_scale, basis->transfer_scale);
	if (calibration->residual > 0.001)
		fprintf(out, "; still off by %.1f %%",
			100 * calibration->residual);
	fputc('\n', out);
}

static void print_basis(const struct basis *basis, bool markdown, FILE *out)
{
	const struct basis_key *key = &basis->key;

	fprintf(out, "%s%s, %s, %s%s%s: ", markdown ? "- " : "", key->machine,
		key->transport ? key->transport : "one node", key->library,
		key->version ? " " : "", key->version ? key->version : "");
	print_moves(basis, out);
}

void validate_print_bases(const struct validate *validate, bool markdown,
			  FILE *out)
{
	bool begun = false;

	for (size_t i = 0; i < validate->bases.num; i++) {
		const struct basis *basis = validate->bases.all[i];

		if (!basis->num_samples)
			continue;
		if (!begun)
			fputs("\nWhat the rows for calibration moved:\n\n",
			      out);
		begun = true;
		print_basis(basis, markdown, out);
	}
}
