#include "validation/basis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "platform/machine.h"
#include "validation/calibration.h"

/* Where a description knows no rate, any usual one will do: the calibration
 * says what it is. */
#define SOME_CARD_BPS  12.5e9
#define SOME_TCP_BPS   1.25e9 /* what NCCL takes sockets for, which choose */
#define SOME_INTRA_BPS 50e9

/* ---- predicting ------------------------------------------------------- */

/* Puts some rate where none is known; returns whether it had to. */
static bool fill_rates(struct fabric *fabric)
{
	bool filled = false;

	if (fabric->nodes > 1 && !(fabric->card_Bps > 0)) {
		fabric->card_Bps = strncmp(fabric->transport, "tcp", 3) == 0
					   ? SOME_TCP_BPS
					   : SOME_CARD_BPS;
		filled = true;
	}
	if (fabric->node_ranks > 1 && !(fabric->intra_Bps > 0)) {
		fabric->intra_Bps = SOME_INTRA_BPS;
		filled = true;
	}
	return filled;
}

enum dist_error basis_fabric(const struct basis *basis, int nodes,
			     const struct library_call *call,
			     struct fabric *fabric, bool *guessed,
			     struct dist_message *message)
{
	enum dist_error err;

	if (basis->refusal.text[0]) {
		*message = basis->refusal;
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (nodes == 0 || call->ranks % nodes != 0) {
		snprintf(message->text, sizeof(message->text),
			 "%d ranks on %d nodes", call->ranks, nodes);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	err = machine_fabric(&basis->machine, basis->key.transport, nodes,
			     call->ranks / nodes, fabric, message);
	*guessed = !err && fill_rates(fabric);
	return err;
}

enum dist_error basis_estimate(const struct basis *basis, int nodes,
			       const struct library_call *call,
			       struct library_estimate *estimate,
			       struct dist_message *message)
{
	struct fabric fabric;
	enum dist_error err;
	bool guessed;

	err = basis_fabric(basis, nodes, call, &fabric, &guessed, message);
	if (err)
		return err;
	if (guessed && basis->num_samples == 0) {
		snprintf(message->text, sizeof(message->text),
			 "no rate of %s on %s is known",
			 basis->key.transport ? basis->key.transport
					      : "the links inside",
			 basis->key.machine);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	err = library_estimate(&basis->profile, &fabric, call, estimate,
			       message);
	if (err)
		return err;
	estimate->start_ns *= basis->fixed_scale;
	estimate->latency_ns *= basis->fixed_scale;
	estimate->transfer_ns *= basis->transfer_scale;
	return DIST_OK;
}

/* ---- the set ---------------------------------------------------------- */

/* Libraries of one family share a profile. */
static const char *profile_of(const char *library)
{
	return strcmp(library, "cray-mpich") == 0 ? "mpich" : library;
}

/* Finds the profile of the version (of "4.0.1" that called openmpi-4.0) if
 * there is one, else the library's. */
static enum dist_error find_profile(const struct basis_key *key, char *path,
				    size_t size, struct dist_message *message)
{
	const char *library = profile_of(key->library);
	char name[64];
	int major, minor;

	if (key->version &&
	    sscanf(key->version, "%d.%d", &major, &minor) == 2) {
		snprintf(name, sizeof(name), "%s-%d.%d", library, major, minor);
		if (!dist__data_find("profiles", name, ".yaml", path, size,
				     message))
			return DIST_OK;
	}
	return dist__data_find("profiles", library, ".yaml", path, size,
			       message);
}

/* A model that knows versions has a constant for it: of "2.18.3", 18. */
static enum dist_error set_version(struct basis *basis)
{
	const char *version = basis->key.version;
	double now = dist__profile_constant(&basis->profile, "minor", -1);
	double minor;

	if (!version || now < 0 || sscanf(version, "%*d.%lf", &minor) != 1)
		return DIST_OK;
	return dist__profile_set(&basis->profile, "minor", floor(minor));
}

static enum dist_error load(struct basis *basis, struct dist_message *message)
{
	const struct basis_key *key = &basis->key;
	char path[4096];
	enum dist_error err;

	err = dist__data_find("machines", key->machine, ".yaml", path,
			      sizeof(path), message);
	if (!err)
		err = machine_load(&basis->machine, path, message);
	if (!err)
		err = find_profile(key, path, sizeof(path), message);
	if (!err)
		err = dist__profile_load(&basis->profile, path, message);
	if (!err)
		err = set_version(basis);
	return err ? err : library_check(&basis->profile, message);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_for(const struct basis *basis, const struct basis_key *key)
{
	return strcmp(basis->key.machine, key->machine) == 0 &&
	       same_text(basis->key.transport, key->transport) &&
	       strcmp(basis->key.library, key->library) == 0 &&
	       same_text(basis->key.version, key->version);
}

static enum dist_error add(struct bases *bases, const struct basis_key *key)
{
	struct basis **all =
		realloc(bases->all, (bases->num + 1) * sizeof(*bases->all));
	struct basis *basis = calloc(1, sizeof(*basis));

	if (all)
		bases->all = all;
	if (!all || !basis) {
		free(basis);
		return DIST_ERR_NO_MEMORY;
	}
	all[bases->num++] = basis;
	basis->key = *key;
	basis->fixed_scale = basis->transfer_scale = 1;
	dist__profile_init(&basis->profile);
	if (load(basis, &basis->refusal) == DIST_OK) {
		basis->refusal.text[0] = '\0';
		calibration_take(basis, bases);
	}
	return DIST_OK;
}

void bases_init(struct bases *bases, const struct collectives *const *tables,
		size_t num_tables)
{
	*bases = (struct bases){.tables = tables, .num_tables = num_tables};
}

enum dist_error bases_get(struct bases *bases, const struct basis_key *key,
			  const struct basis **basis)
{
	for (size_t i = 0; i < bases->num; i++)
		if (is_for(bases->all[i], key)) {
			*basis = bases->all[i];
			return DIST_OK;
		}
	if (add(bases, key))
		return DIST_ERR_NO_MEMORY;
	*basis = bases->all[bases->num - 1];
	return DIST_OK;
}

void bases_release(struct bases *bases)
{
	for (size_t i = 0; i < bases->num; i++) {
		dist__profile_release(&bases->all[i]->profile);
		free(bases->all[i]);
	}
	free(bases->all);
	*bases = (struct bases){.tables = NULL};
}
