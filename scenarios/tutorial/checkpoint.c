#include "scenarios/tutorial/checkpoint.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* How a checkpoint begins; the parameters follow, in the machine's order. */
struct head {
	char magic[8];
	uint64_t numel;
};

static const char magic[8] = "weights";

static bool refuse(struct dist_message *message, const char *path,
		   const char *why)
{
	snprintf(message->text, sizeof message->text, "%.400s: %s", path, why);
	return false;
}

static bool write_all(FILE *file, const struct toymodel *model)
{
	struct head head = {.numel = TOYMODEL_NUMEL};

	memcpy(head.magic, magic, sizeof magic);
	return fwrite(&head, sizeof head, 1, file) == 1 &&
	       fwrite(model->params, sizeof(float), TOYMODEL_NUMEL, file) ==
		       TOYMODEL_NUMEL &&
	       fflush(file) == 0 && fsync(fileno(file)) == 0;
}

bool checkpoint_save(const struct toymodel *model, const char *path,
		     struct dist_message *message)
{
	char beside[PATH_SIZE];
	struct stat info;
	FILE *file;
	bool fine;

	/* Renaming would put a plain file in the place of a device. */
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return refuse(message, path, "expected a plain file");
	snprintf(beside, sizeof beside, "%s.new", path);
	file = fopen(beside, "wb");
	if (!file)
		return refuse(message, beside, strerror(errno));
	fine = write_all(file, model);
	fine = fclose(file) == 0 && fine;
	if (fine && rename(beside, path) == 0)
		return true;
	refuse(message, path, strerror(errno));
	remove(beside);
	return false;
}

bool checkpoint_load(struct toymodel *model, const char *path,
		     struct dist_message *message)
{
	FILE *file = fopen(path, "rb");
	struct head head;
	bool fine;

	if (!file)
		return refuse(message, path, strerror(errno));
	fine = fread(&head, sizeof head, 1, file) == 1 &&
	       memcmp(head.magic, magic, sizeof magic) == 0 &&
	       head.numel == TOYMODEL_NUMEL &&
	       fread(model->params, sizeof(float), TOYMODEL_NUMEL, file) ==
		       TOYMODEL_NUMEL &&
	       fgetc(file) == EOF;
	fclose(file);
	return fine ||
	       refuse(message, path, "expected a checkpoint of this network");
}
