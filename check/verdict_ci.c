/* verdict_ci.c - the verdict in the forms of CI systems: JUnit XML, SARIF
 * 2.1.0, and GitHub's workflow commands. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "check/verdict_document.h"

/* ---- JUnit ------------------------------------------------------------ */

/* Writes text so that it may stand in an element or attribute of XML 1.0. What
 * XML cannot hold becomes a question mark. */
static void print_xml(FILE *out, const char *text)
{
	static const char *const escapes[UCHAR_MAX + 1] = {['&'] = "&amp;",
							   ['<'] = "&lt;",
							   ['>'] = "&gt;",
							   ['"'] = "&quot;",
							   ['\n'] = "&#10;"};

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (escapes[c])
			fputs(escapes[c], out);
		else
			fputc(c < ' ' && c != '\t' ? '?' : c, out);
	}
}

/* Seconds since this process, which runs the job, began; 0: not known. */
static double process_age_s(void)
{
	FILE *stat = fopen("/proc/self/stat", "r");
	unsigned long long ticks = 0;
	char text[1024] = "";
	const char *end;
	struct timespec now;

	if (!stat)
		return 0;
	text[fread(text, 1, sizeof text - 1, stat)] = '\0';
	fclose(stat);
	end = strrchr(text, ')'); /* proc(5): of the second field; 22 is ours */
	for (int field = 3; end && field <= 22; field++)
		end = strchr(end + 1, ' ');
	if (!end || sscanf(end, "%llu", &ticks) != 1 ||
	    clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return 0;
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 -
	       (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static void print_case(FILE *out, const struct check_document *document,
		       const char *p2p, bool failed, double seconds)
{
	const struct check_job *job = document->job;

	fputs("    <testcase classname=\"", out);
	print_xml(out, document->name);
	fprintf(out, "\" name=\"%s", job->world);
	if (job->board)
		fprintf(out, ", %u ranks", job->board->world_size);
	if (p2p)
		fprintf(out, ", sends %s", p2p);
	fprintf(out, "\" time=\"%.3f\">\n", seconds);
	if (failed) {
		fprintf(out, "      <failure type=\"%s\" message=\"",
			check_verdict_name(job->verdict->kind));
		print_xml(out, document->finding->summary);
		fputs("\">", out);
		print_xml(out, document->finding->report.text);
		fputs("</failure>\n", out);
	}
	if (job->facts->warning) {
		fputs("      <system-err>warning: ", out);
		print_xml(out, job->facts->warning);
		fputs("</system-err>\n", out);
	}
	fputs("    </testcase>\n", out);
}

void check_print_junit(FILE *out, const struct check_document *document)
{
	const struct check_explored *e = document->job->explored;
	bool bad = check_is_bad(document->job->verdict);
	double seconds = process_age_s();
	int worlds = 1;

	while (e && e[worlds - 1].p2p && e[worlds].p2p)
		worlds++;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%d\" failures=\"%d\" time=\"%.3f\">\n"
		"  <testsuite name=\"lockstep\" tests=\"%d\" failures=\"%d\" "
		"errors=\"0\" time=\"%.3f\">\n",
		worlds, bad, seconds, worlds, bad, seconds);
	/* Who explores ends with the first world that is bad. */
	for (int i = 0; i < worlds; i++)
		print_case(out, document, e ? e[i].p2p : NULL,
			   bad && i == worlds - 1, seconds / worlds);
	fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- SARIF ------------------------------------------------------------ */

/* A path as a URI reference: RFC 3986, section 2.3. */
static json_t *uri(const char *path)
{
	char text[3 * sizeof((struct check_site *)NULL)->file + 8] = "";

	if (*path == '/')
		strcpy(text, "file://");
	for (; *path; path++)
		(void)dist__append(text, sizeof text,
				   isalnum((unsigned char)*path) ||
						   strchr("/-._~", *path)
					   ? "%c"
					   : "%%%02X",
				   (unsigned char)*path);
	return json_string(text);
}

/* The file of a site from the top of the checkout, as CI systems name it; a
 * file that is not there stays as the compiler named it. */
static const char *in_checkout(const struct check_document *document,
			       const char *file, char path[PATH_MAX])
{
	size_t len = document->root ? strlen(document->root) : 0;

	if (len && realpath(file, path) &&
	    strncmp(path, document->root, len) == 0 && path[len] == '/')
		return path + len + 1;
	while (strncmp(file, "./", 2) == 0)
		file += 2;
	return file;
}

/* What the ranks of party did at its line: "rank 1 and others called all_reduce
 * for bucket 0 (fc.bias) here, from train.py:12", "rank 1 was in train here".
 */
static void describe(const struct check_party *party, char *text, size_t size)
{
	static const char *const did[] = {
		[CHECK_CULPRIT] = "called",
		[CHECK_PARTNER] = "called",
		[CHECK_ACCESS] = "touched the memory of",
		[CHECK_BETWEEN] = "was nearest to touching the memory of"};
	const struct check_call *call = party->call;

	if (!call) {
		snprintf(text, size, "rank %u was%s%s here", party->first,
			 *party->function ? " in " : "", party->function);
		return;
	}
	snprintf(text, size, "rank %u%s %s %s%s%s here", party->first,
		 party->size > 1 ? " and others" : "", did[party->role],
		 call->op, call->label[0] ? " for " : "", call->label);
	if (call->from.file[0])
		(void)dist__append(text, size, ", from %s:%d", call->from.file,
				   (int)call->from.line);
}

static json_t *location(const struct check_document *document,
			const struct check_party *party)
{
	char called[288], text[304], path[PATH_MAX];
	const char *file = in_checkout(document, party->site->file, path);

	describe(party, called, sizeof called);
	snprintf(text, sizeof text, "%s: %s", check_role_name(party->role),
		 called);
	return json_pack(
		"{s:{s:{s:o, s:s*}, s:{s:i}}, s:{s:s}}", "physicalLocation",
		"artifactLocation", "uri", uri(file), "uriBaseId",
		*file == '/' ? NULL : "%SRCROOT%", "region", "startLine",
		party->site->line > 0 ? (int)party->site->line : 1, "message",
		"text", text);
}

/* The lines of culprits, or those of all others; NULL where there is none. */
static json_t *locations(const struct check_document *document, bool culprits)
{
	const struct check_finding *f = document->finding;
	json_t *array = json_array();

	for (uint32_t i = 0; i < f->num_parties; i++)
		if (f->parties[i].site &&
		    (f->parties[i].role == CHECK_CULPRIT) == culprits)
			json_array_append_new(
				array, location(document, &f->parties[i]));
	if (json_array_size(array) > 0)
		return array;
	json_decref(array);
	return NULL;
}

/* What stays the same when lines above move and other ranks fare alike: the
 * verdict and, of every line that shows it, file, role and operation. */
static json_t *fingerprint(const struct check_document *document)
{
	const struct check_finding *f = document->finding;
	json_t *text =
		json_string(check_verdict_name(document->job->verdict->kind));
	char path[PATH_MAX];

	for (uint32_t i = 0; text && i < f->num_parties; i++) {
		const struct check_party *party = &f->parties[i];
		json_t *longer;

		if (!party->site)
			continue;
		longer = json_sprintf(
			"%s|%s %s %s", json_string_value(text),
			check_role_name(party->role),
			party->call ? party->call->op : party->function,
			in_checkout(document, party->site->file, path));
		json_decref(text);
		text = longer;
	}
	return json_pack("{s:o}", "lockstepVerdict/v1", text);
}

/* Of an end that is not fine: one result, with every line that shows it. */
static json_t *results(const struct check_document *document)
{
	const char *text = document->finding->report.text;
	json_t *first, *others;

	if (!check_is_bad(document->job->verdict))
		return json_array();
	first = locations(document, true);
	others = locations(document, false);
	if (!first) {
		first = others;
		others = NULL;
	}
	return json_pack("[{s:s, s:i, s:s, s:{s:s}, s:o*, s:o*, s:o}]",
			 "ruleId",
			 check_verdict_name(document->job->verdict->kind),
			 "ruleIndex", 0, "level", "error", "message", "text",
			 *text ? text : document->finding->summary, "locations",
			 first, "relatedLocations", others,
			 "partialFingerprints", fingerprint(document));
}

static json_t *rules(const struct check_document *document)
{
	enum check_verdict_kind kind = document->job->verdict->kind;

	if (!check_is_bad(document->job->verdict))
		return json_array();
	return json_pack("[{s:s, s:{s:s}, s:{s:s}, s:{s:s}}]", "id",
			 check_verdict_name(kind), "shortDescription", "text",
			 check_verdict_rule(kind), "help", "text",
			 "docs/verdicts.md describes every verdict.",
			 "defaultConfiguration", "level", "error");
}

json_t *check_document_sarif(const struct check_document *document)
{
	return json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o}]}",
			 "$schema",
			 "https://json.schemastore.org/sarif-2.1.0.json",
			 "version", "2.1.0", "runs", "tool", "driver", "name",
			 "lockstep", "version", LOCKSTEP_VERSION, "rules",
			 rules(document), "results", results(document));
}

/* ---- GitHub ----------------------------------------------------------- */

/* The escapes of workflow commands; a property has two more. */
static void print_escaped(FILE *out, const char *text, bool property)
{
	for (; *text; text++)
		if (strchr("%\r\n", *text) || (property && strchr(":,", *text)))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
}

static void print_annotation(FILE *out, const struct check_document *document,
			     const struct check_party *party)
{
	char called[288], path[PATH_MAX];

	fputs("::error ", out);
	if (party) {
		fputs("file=", out);
		print_escaped(out,
			      in_checkout(document, party->site->file, path),
			      true);
		fprintf(out, ",line=%d,", (int)party->site->line);
	}
	fprintf(out, "title=lockstep%%3A %s::",
		check_verdict_name(document->job->verdict->kind));
	if (party) {
		describe(party, called, sizeof called);
		print_escaped(out, called, false);
		fputs("; ", out);
	}
	print_escaped(out, document->finding->summary, false);
	fputc('\n', out);
}

void check_print_annotations(FILE *out, const struct check_document *document)
{
	const struct check_finding *f = document->finding;
	bool any = false;

	if (!check_is_bad(document->job->verdict))
		return;
	for (uint32_t i = 0; i < f->num_parties; i++)
		if (f->parties[i].site) {
			print_annotation(out, document, &f->parties[i]);
			any = true;
		}
	if (!any)
		print_annotation(out, document, NULL);
	fflush(out);
}
