#!/bin/bash
# check-docs.sh COMMAND - what the documentation says is so: every function in
# include/ has a comment, make targets, links, anchors and source paths that the
# pages name exist, README says where things are, the API mapping names
# functions that exist and are tested, options exist, and every command of the
# pages prints what they show (run-docs.sh).
set -eu
cd "$(dirname "$0")/.."
command=$1
pages=(README.md docs/*.md)
complaints=()

# Printed at the end, where they are seen.
complain() {
	complaints+=("$*")
}

# A prototype starts in the first column with a word and is not a type, a macro
# or the second line of another; a comment, or another prototype that has one
# and follows without an empty line, stands right above.
awk '
FNR == 1 { documented = 0; inside = 0; brace = 0 }
/^[ \t]*\/\*/ { comment = 1 }
comment { if (/\*\//) { comment = 0; documented = 1 }; next }
/^[ \t]*$/ { documented = 0; next }
/^#/ { continued = /\\$/; next }
continued { continued = /\\$/; next }
inside { if (/[;{]$/) inside = 0; if (/\{$/) brace = 1; next }
brace { if (/^}/) brace = 0; next }
/^(struct|enum|union) [a-z_0-9]+( \{|;)/ || /^extern "C"/ || /^}/ || /^typedef/ {
	if (/\{$/ && !/^extern/) brace = 1
	next
}
/^[A-Za-z]/ {
	count++
	if (!documented) {
		print FILENAME ":" FNR ": no comment above: " $0
		bad = 1
	}
	if (/\{$/) brace = 1
	else if (!/;$/) inside = 1
}
END {
	if (bad) exit 1
	print "check-docs: " count " public functions, all with a comment"
}' include/lockstep/*.h

# ---- make targets, links, paths -----------------------------------------

# shellcheck disable=SC2013 # words
for target in $(grep -hoE '(^|`|[$] )make [a-z][a-z-]*' "${pages[@]}" |
	sed 's/.*make //' | sort -u); do
	grep -qE "^([a-z -]* )?$target( [a-z -]*)?:" Makefile ||
		grep -qE "^CHECKS :=.* ${target#check-}( |$)" Makefile ||
		complain "$(grep -l "make $target" "${pages[@]}" | head -n 1): no make target \"$target\""
done

# The anchor of a heading, as the pages' hosts make it.
anchors() {
	awk '/^```/ { inside = !inside } !inside && /^#+ /' "$1" |
		sed -E 's/^#+ //; s/[^A-Za-z0-9 _-]//g; s/ /-/g' | tr '[:upper:]' '[:lower:]'
}

links=0
for page in "${pages[@]}" CONTRIBUTING.md tests/README.md; do
	# shellcheck disable=SC2016 # backquotes of the page
	while read -r link; do
		file=${link%%#*}
		anchor=${link#"$file"}
		case $link in http*) continue ;; esac
		links=$((links + 1))
		target=$page
		[ -z "$file" ] || target=$(dirname "$page")/$file
		if [ ! -e "$target" ]; then
			complain "$page: no file \"$file\""
		elif [ -n "$anchor" ] && ! anchors "$target" | grep -qxF -- "${anchor#\#}"; then
			complain "$page: no heading \"$anchor\" in $target"
		fi
	done < <(sed 's/`[^`]*`//g' "$page" | grep -oE '\]\([^) ]+\)|src="[^"]+"' |
		sed -E 's/^\]\(|\)$|^src="|"$//g')
done

# Words that begin with a folder of ours are files or folders of ours.
folders=$(git ls-files 2>/dev/null | sed -n 's|/.*||p' | sort -u | grep -v '^\.' | paste -sd'|')
[ -n "$folders" ] || folders=$(find . -mindepth 1 -maxdepth 1 -type d -name '[a-z]*' ! -name build -printf '%f|' | sed 's/|$//')
paths=0
for page in "${pages[@]}" CONTRIBUTING.md tests/README.md; do
	while read -r path; do
		paths=$((paths + 1))
		compgen -G "$path" >/dev/null || compgen -G "${page%/*}/$path" >/dev/null ||
			complain "$page: no file \"$path\""
	done < <(grep -vE 'github\.com|^\| [a-z0-9-]+ \|.*\.(md|cc):' "$page" |
		grep -oE "(^|[^A-Za-z0-9_./-])($folders)/[A-Za-z0-9_.*/-]*" |
		sed -E 's/^[^a-z]//; s/[.,:]+$//' | grep -v NAME | sort -u)
done
echo "check-docs: $links links and $paths paths of ${#pages[@]} pages lead somewhere"

# ---- what a stranger asks -----------------------------------------------

# Each answer is a file, or a folder of them, that has what was asked for.
while IFS='|' read -r question has; do
	answer=$(sed -n "s/^| $question | [^\`]*\`\([^\`]*\)\`.*/\1/p" README.md)
	if [ -z "$answer" ]; then
		complain "README.md: no row \"$question\" that names a file"
	elif [ ! -e "$answer" ]; then
		complain "README.md: $question: no file \"$answer\""
	elif ! grep -rqE -- "$has" "$answer"; then
		complain "README.md: $question: $answer has nothing like \"$has\""
	fi
done <<'END'
the ring algorithm|^DIST__ALGORITHM\(ring, all_reduce,
a verdict's sentence|"lockstep: deadlock: no rank can ever move"
a machine|^title: DGX A100$
a collective|^	X\(ring_all_reduce\)
a test|^\| a function or file does .*`unit/`
a command|^	\{"run", .*&manual_run,
END
[ "$(wc -l <README.md)" -le 150 ] || complain "README.md: more than 150 lines"
for folder in ${folders//|/ }; do
	grep -qE "^\| \`$folder/" docs/internals.md ||
		complain "docs/internals.md: the source layout has no $folder/"
done

# ---- how accurate -------------------------------------------------------

blind=$(mktemp)
while read -r row; do
	for page in README.md docs/accuracy.md; do
		grep -qxF -- "$row" $page || complain "$page: expected this row (make validate): $row"
	done
done < <(tools/accuracy.sh "$command" "$blind")
diff <(grep -v '^# date' scenarios/measured/blind-errors.tsv) \
	<(grep -v '^# date' "$blind") ||
	complain 'blind-errors.tsv: "make validate" writes it anew; look at the diff'
"$command" validate --markdown | diff <(sed -n '/^| table /,$p' docs/validation.md) - ||
	complain 'docs/validation.md: "make validate" writes it anew; look at the diff'
rm -f "$blind"

# ---- pictures -----------------------------------------------------------

# Another gnuplot draws the same numbers in other bytes.
version=$(gnuplot --version 2>/dev/null | sed 's/gnuplot //')
if [ -n "$version" ] && grep -qF "GNUPLOT $version" docs/images/scaling.svg; then
	drawn=$(mktemp -d)
	tools/draw-docs.sh "$command" "$drawn"
	for picture in docs/images/*.svg; do
		cmp -s "$picture" "$drawn/${picture##*/}" ||
			complain "$picture: \"make docs\" draws it anew; look at it"
	done
	rm -rf "$drawn"
fi

# ---- the API mapping ----------------------------------------------------

# Our words in the second column; one with a * stands for all that begin so.
mapping() {
	sed -n '/^## The calls/,/^## /p' docs/api.md | awk -F'|' '/^\|/ { print $3 }'
}

count=0
# shellcheck disable=SC2016 # backquotes of the page
for word in $(mapping | grep -oE '`[^`]+`' | tr -d '`' | grep -E '^(dist|DIST)_' | sort -u); do
	name="(^|[^a-zA-Z0-9_])${word/%\*/[a-z0-9_]*}([^a-zA-Z0-9_]|$)"
	grep -qE "$name" include/lockstep/*.h || complain "docs/api.md: \"$word\" is in no header"
	grep -rqE "$name" tests || complain "docs/api.md: \"$word\" is in no test"
	count=$((count + 1))
done
[ $count -ge 80 ] || complain "docs/api.md: expected 80 names in \"The calls\", got $count"
if mapping | grep -q '\.\.\.'; then
	complain 'docs/api.md: a row that ends in "...": expected every word'
fi
echo "check-docs: $count names for torch.distributed's, all tested"

# ---- options, commands --------------------------------------------------

help=$(for word in run predict sweep bench check explore diagnose calibrate compare \
	validate trace platform list 'platform new' 'run tutorial_sgd' 'run tutorial_spawn'; do
	# shellcheck disable=SC2086 # words
	"$command" $word --help
done
for workload in $("$command" predict --help | tr -d '\n' | tr -s ' ' |
	grep -oE 'kind of step: [a-z_, ]+' | cut -d: -f2 | tr -d ,); do
	"$command" predict --workload "$workload" --help 2>/dev/null || true
done)
options=0
# shellcheck disable=SC2013,SC2016 # words; backquotes of the pages
for option in $(grep -hoE '`(lockstep |\.\.\. )[^`]*`' "${pages[@]}" | grep -oE -- ' --[a-z][a-z-]+' | sort -u); do
	options=$((options + 1))
	grep -qE -- "(^|[^a-z-])$option([^a-z-]|$)" <<<"$help" ||
		complain "no command has the option $option that these name: $(grep -l -- "$option" "${pages[@]}" | tr '\n' ' ')"
done
echo "check-docs: $options options of commands in the text"

tools/run-docs.sh "$command" "${pages[@]}" || complain "commands of the pages print something else: see above"
if [ ${#complaints[@]} -gt 0 ]; then
	printf 'check-docs: %s\n' "${complaints[@]}" >&2
	exit 1
fi
