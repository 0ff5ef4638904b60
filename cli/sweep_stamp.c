#include "cli/sweep_stamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "cli/provenance.h"

static unsigned long checksum(const char *path)
{
	unsigned long sum = crc32(0, NULL, 0);
	FILE *file = fopen(path, "rb");
	unsigned char block[4096];
	size_t n;

	while (file && (n = fread(block, 1, sizeof block, file)) > 0)
		sum = crc32(sum, block, (unsigned)n);
	if (file)
		fclose(file);
	return sum;
}

static void stamp_files(const struct study_axis *axis, FILE *out)
{
	char path[4096];

	for (size_t v = 0; v < axis->num_values; v++) {
		const char *text = axis->values[v].text;
		bool is_path = strcmp(axis->name, "compute") == 0;

		if (is_path)
			snprintf(path, sizeof path, "%s", text);
		if (is_path ||
		    provenance_find(axis->name, text, path, sizeof path))
			fprintf(out, "%s %s: crc32 %08lx\n", axis->name, text,
				checksum(path));
	}
}

char *sweep_stamp(const struct study *study)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "lockstep %s\n", LOCKSTEP_VERSION);
	study_stamp(study, out);
	for (size_t i = 0; i < study->num_axes; i++)
		stamp_files(&study->axes[i], out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
