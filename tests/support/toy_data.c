#include "tests/support/toy_data.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char folder[] = "/tmp/lockstep-toy-XXXXXX";

static const struct {
	const char *kind, *name, *text;
} files[] = {
	{"machines", "toy.yaml",
	 "title: t\nsource: s\nnodes: 2\nnetworks:\n"
	 "  - {transport: tcp, cards: 1, card_Gbps: 8}\n"},
	{"profiles", "toy.yaml", "name: toy\nversion: 1\nsource: s\n"},
	{"profiles", "nccl.yaml", "name: nccl\nversion: 1\nsource: s\n"},
	{"models", "toy.csv",
	 "parameter,numel,forward_flops\n"
	 "a,125000000,1000000000000000\n"
	 "b,125000000,1000000000000000\n"},
};

#define FILES (sizeof(files) / sizeof(files[0]))

const char *toy_data_path(const char *kind, const char *name, char *path,
			  size_t size)
{
	snprintf(path, size, "%s/%s%s%s", folder, kind, *name ? "/" : "", name);
	return path;
}

void toy_data_make(void)
{
	char path[256];

	cr_assert(mkdtemp(folder));
	for (size_t i = 0; i < FILES; i++) {
		FILE *file;

		mkdir(toy_data_path(files[i].kind, "", path, sizeof path),
		      0700);
		file = fopen(toy_data_path(files[i].kind, files[i].name, path,
					   sizeof path),
			     "w");
		cr_assert(file);
		fputs(files[i].text, file);
		cr_assert_eq(fclose(file), 0);
	}
	setenv("LOCKSTEP_DATA", folder, 1);
}

void toy_data_remove(void)
{
	char path[256];

	for (size_t i = 0; i < FILES; i++)
		cr_expect_eq(remove(toy_data_path(files[i].kind, files[i].name,
						  path, sizeof path)),
			     0);
	for (size_t i = 0; i < FILES; i++)
		remove(toy_data_path(files[i].kind, "", path, sizeof path));
	cr_expect_eq(remove(folder), 0);
}
