/* story_ci.c - the verdict in the forms that CI systems read: JUnit XML, SARIF
 * 2.1.0, and the workflow commands of GitHub. */
#include <ctype.h>
#include <string.h>

#include "check/story.h"

/* ---- JUnit ------------------------------------------------------------ */

void check_print_xml(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		switch (c) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\n':
			fputs("&#10;", out);
			break;
		default:
			fputc(c < ' ' && c != '\t' ? '?' : c, out);
		}
	}
}

void check_print_junit(FILE *out, const struct check_story *story,
		       const char *name)
{
	bool bad = check_exit_status(story->job->verdict) != 0;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"1\" failures=\"%d\">\n"
		"  <testsuite name=\"lockstep\" tests=\"1\" failures=\"%d\">\n"
		"    <testcase classname=\"lockstep\" name=\"",
		bad, bad);
	check_print_xml(out, name);
	fputs("\">\n", out);
	if (bad) {
		fprintf(out, "      <failure type=\"%s\" message=\"",
			check_verdict_name(story->job->verdict->kind));
		check_print_xml(out, story->summary);
		fputs("\">", out);
		check_print_xml(out, story->text);
		fputs("</failure>\n", out);
	}
	fputs("    </testcase>\n  </testsuite>\n</testsuites>\n", out);
}

/* ---- SARIF ------------------------------------------------------------ */

/* A path as a URI reference: RFC 3986, section 2.3. */
static json_t *uri(const char *path)
{
	char text[3 * sizeof((struct check_site *)NULL)->file + 8];
	size_t used = 0;

	if (*path == '/')
		used = (size_t)snprintf(text, sizeof text, "file://");
	for (; *path; path++)
		used += (size_t)snprintf(text + used, sizeof text - used,
					 isalnum((unsigned char)*path) ||
							 strchr("/-._~", *path)
						 ? "%c"
						 : "%%%02X",
					 (unsigned char)*path);
	return json_string(text);
}

/* What the ranks of party did at its line: "rank 1 and others called all_reduce
 * for bucket 0 (fc.bias) here". */
static void describe(const struct check_party *party, char *words, size_t size)
{
	const struct check_call *call = party->call;

	snprintf(words, size, "rank %u%s %s %s%s%s here", party->first,
		 party->size > 1 ? " and others" : "",
		 party->role == CHECK_ACCESS ? "touched the memory of"
					     : "called",
		 call->op, call->label[0] ? " for " : "", call->label);
}

static json_t *location(const struct check_party *party)
{
	char called[192], words[208];

	describe(party, called, sizeof called);
	snprintf(words, sizeof words, "%s: %s", check_role_name(party->role),
		 called);
	return json_pack("{s:{s:{s:o}, s:{s:i}}, s:{s:s}}", "physicalLocation",
			 "artifactLocation", "uri", uri(party->site->file),
			 "region", "startLine",
			 party->site->line > 0 ? (int)party->site->line : 1,
			 "message", "text", words);
}

/* Of an end that is not fine: one result, with every line that shows it. */
static json_t *results(const struct check_story *story)
{
	const struct check_finding *f = &story->finding;
	json_t *locations;

	if (check_exit_status(story->job->verdict) == 0)
		return json_array();
	locations = json_array();
	for (uint32_t i = 0; i < f->num_parties; i++)
		if (f->parties[i].site)
			json_array_append_new(locations,
					      location(&f->parties[i]));
	return json_pack("[{s:s, s:s, s:{s:s}, s:o}]", "ruleId",
			 check_verdict_name(story->job->verdict->kind), "level",
			 "error", "message", "text",
			 *story->text ? story->text : story->summary,
			 "locations", locations);
}

json_t *check_story_sarif(const struct check_story *story)
{
	return json_pack(
		"{s:s, s:s, s:[{s:{s:{s:s, s:[{s:s}]}}, s:o}]}", "$schema",
		"https://json.schemastore.org/sarif-2.1.0.json", "version",
		"2.1.0", "runs", "tool", "driver", "name", "lockstep", "rules",
		"id", check_verdict_name(story->job->verdict->kind), "results",
		results(story));
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

static void print_annotation(FILE *out, const struct check_story *story,
			     const struct check_party *party)
{
	char called[192];

	fputs("::error ", out);
	if (party) {
		fputs("file=", out);
		print_escaped(out, party->site->file, true);
		fprintf(out, ",line=%d,", (int)party->site->line);
	}
	fprintf(out, "title=lockstep%%3A %s::",
		check_verdict_name(story->job->verdict->kind));
	if (party) {
		describe(party, called, sizeof called);
		print_escaped(out, called, false);
		fputs("; ", out);
	}
	print_escaped(out, story->summary, false);
	fputc('\n', out);
}

void check_print_annotations(FILE *out, const struct check_story *story)
{
	const struct check_finding *f = &story->finding;
	bool any = false;

	if (check_exit_status(story->job->verdict) == 0)
		return;
	for (uint32_t i = 0; i < f->num_parties; i++)
		if (f->parties[i].site) {
			print_annotation(out, story, &f->parties[i]);
			any = true;
		}
	if (!any)
		print_annotation(out, story, NULL);
	fflush(out);
}
