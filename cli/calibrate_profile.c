/* calibrate_profile.c - a profile as a file. */
#include "cli/calibrate_log.h"
#include "base/output.h"

/* A text in single quotes, in which YAML doubles them. */
static void write_text(struct dist__output *out, const char *key,
		       const char *text)
{
	dist__output_print(out, "%s: '", key);
	for (; *text; text++)
		dist__output_print(out, *text == '\'' ? "''" : "%c", *text);
	dist__output_text(out, "'\n");
}

enum dist_error calibrate_write_profile(const char *path,
					const struct dist__profile *profile,
					struct dist_message *message)
{
	struct dist__output *out;
	enum dist_error error = dist__output_open(path, &out, message);
	char mode[32];

	if (error)
		return error;
	dist__p2p_mode_print(&profile->p2p, mode, sizeof mode);
	write_text(out, "name", profile->name);
	write_text(out, "version", profile->version);
	write_text(out, "source", profile->source);
	if (profile->library[0])
		write_text(out, "library", profile->library);
	if (profile->num_constants > 0)
		dist__output_text(out, "constants:\n");
	for (size_t i = 0; i < profile->num_constants; i++)
		dist__output_print(out, "  %s: %.9g\n",
				   profile->constants[i].name,
				   profile->constants[i].value);
	dist__output_print(out, "message_overhead_ns: %.9g\n",
			   profile->message_overhead_ns);
	if (profile->reduce_Bps > 0)
		dist__output_print(out, "reduce_Bps: %.9g\n",
				   profile->reduce_Bps);
	dist__output_print(out, "segment_bytes: %d\np2p: %s\n",
			   profile->segment_bytes, mode);
	return dist__output_close(out, message);
}
