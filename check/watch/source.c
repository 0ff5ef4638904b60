#include "check/watch/source.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *path_of(Dwfl_Module *module)
{
	return dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL,
				NULL);
}

/* Whether module does what others ask it for. */
static bool is_servant(Dwfl_Module *module)
{
	static const char *const names[] = {
		"libc.",      "libm.",       "libasan.", "libgcc_s.",
		"libstdc++.", "libsimgrid.", "libtsan.", "libubsan."};
	const char *file = file_of(path_of(module));

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(file, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Where an address is in the source. Texts are dwfl's. */
struct place {
	const char *path, *folder; /* folder: where the compiler ran */
	const char *function;      /* may be part of others; NULL: not known */
	int line;
};

/* Where the inlined function `call` was called. */
static void find_call(struct place *place, Dwarf_Die *unit, Dwarf_Die *call)
{
	Dwarf_Attribute file, line, folder;
	Dwarf_Files *files;
	Dwarf_Word at, number;
	size_t num;

	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &file), &at) ||
	    dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &line),
			    &number) ||
	    dwarf_getsrcfiles(unit, &files, &num) || at >= num)
		return;
	place->path = dwarf_filesrc(files, at, NULL, NULL);
	place->line = (int)number;
	place->folder =
		dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &folder));
}

/* The innermost function that address is in, with what it is inlined into: from
 * scopes[0] outwards. Returns their number; the caller frees *scopes. */
static int find_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
	Dwarf_Die *lexical = NULL;
	int num = dwarf_getscopes(unit, address, &lexical);

	/* Around an inlined function these are the scopes of its source. */
	num = num > 0 ? dwarf_getscopes_die(&lexical[0], scopes) : 0;
	free(lexical);
	return num;
}

/* The function that the line stands in. The C library's own wrappers of its
 * functions (_FORTIFY_SOURCE), which are marked as artificial, count as their
 * caller. */
static void find_function(struct place *place, Dwfl_Module *module,
			  Dwarf_Addr address)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
	Dwarf_Die *scopes = NULL;
	int num = unit ? find_scopes(unit, address - bias, &scopes) : 0;

	for (int i = 0; i < num && !place->function; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_inlined_subroutine &&
		    dwarf_hasattr_integrate(&scopes[i], DW_AT_artificial))
			find_call(place, unit, &scopes[i]);
		else if (tag == DW_TAG_inlined_subroutine ||
			 tag == DW_TAG_subprogram)
			place->function = dwarf_diename(&scopes[i]);
	}
	free(scopes);
}

static struct place find_place(Dwfl_Module *module, Dwarf_Addr address)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	struct place place = {.path = NULL};

	if (line) {
		place.path = dwfl_lineinfo(line, NULL, &place.line, NULL, NULL,
					   NULL);
		place.folder = dwfl_line_comp_dir(line);
	}
	find_function(&place, module, address);
	return place;
}

/* A path below the folder where the compiler ran is given without it. */
static void set_line(struct dist__source *source, const struct place *place)
{
	const char *path = place->path;
	size_t len = place->folder ? strlen(place->folder) : 0;

	if (!path)
		return;
	if (len > 0 && strncmp(path, place->folder, len) == 0 &&
	    path[len] == '/')
		path += len + 1;
	snprintf(source->file, sizeof source->file, "%s", path);
	source->line = place->line;
}

static void set_function(struct dist__source *source, const char *name,
			 Dwfl_Module *module, Dwarf_Addr address)
{
	Dwarf_Addr begin = 0;

	if (!name)
		name = dwfl_module_addrname(module, address);

	if (name) {
		/* The compiler calls what it made of f "f.part.0". */
		snprintf(source->function, sizeof source->function, "%.*s",
			 (int)strcspn(name, "."), name);
		return;
	}
	dwfl_module_info(module, NULL, &begin, NULL, NULL, NULL, NULL, NULL);
	snprintf(source->function, sizeof source->function, "%.24s+0x%llx",
		 file_of(path_of(module)),
		 (unsigned long long)(address - begin));
}

/* The function at address, if a program may have called it; else "". */
static const char *name_of_ours(Dwfl_Module *module, Dwarf_Addr address)
{
	const char *name =
		module ? dwfl_module_addrname(module, address) : NULL;

	return name && strncmp(name, "dist_", strlen("dist_")) == 0 &&
			       name[strlen("dist_")] != '_'
		       ? name
		       : "";
}

static struct dist__source find(Dwfl *dwfl, const uintptr_t *frames, size_t num)
{
	struct dist__source source = {.line = 0};
	struct place place;

	for (size_t i = 0; i < num && frames[i]; i++) {
		Dwarf_Addr address = frames[i];
		Dwfl_Module *module = dwfl_addrmodule(dwfl, address);

		if (!module || is_servant(module))
			continue;
		place = find_place(module, address);
		set_line(&source, &place);
		set_function(&source, place.function, module, address);
		break;
	}
	return source;
}

/* What is loaded in a process; NULL: that is not known. */
static Dwfl *look_at(pid_t process)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (dwfl && dwfl_linux_proc_report(dwfl, process) == 0 &&
	    dwfl_report_end(dwfl, NULL, NULL) == 0)
		return dwfl;
	dwfl_end(dwfl);
	return NULL;
}

struct dist__source dist__source_find(const uintptr_t *frames, size_t num)
{
	struct dist__source source = {.line = 0};
	Dwfl *dwfl = look_at(getpid());

	if (!dwfl)
		return source;
	source = find(dwfl, frames, num);
	dwfl_end(dwfl);
	return source;
}

struct dist__source dist__source_of(pid_t process, const uintptr_t *frames,
				    size_t num)
{
	struct dist__source source = {.line = 0};
	Dwfl *dwfl = look_at(process);
	size_t caller;

	if (!dwfl)
		return source;
	/* The number of the innermost instruction outside our functions, but
	 * within the rank's program. */
	caller = 0;
	for (size_t i = 0; i + 1 < num && frames[i + 1]; i++) {
		const char *name = name_of_ours(
			dwfl_addrmodule(dwfl, frames[i]), frames[i]);

		/* Not as a whole: that text in a program says that it calls it
		 * (cli/run_plan.c). */
		if (*name && strcmp(name + strlen("dist_"), "launch") == 0)
			break;
		if (*name)
			caller = i + 1;
	}
	source = find(dwfl, frames + caller, num - caller);
	dwfl_end(dwfl);
	return source;
}
