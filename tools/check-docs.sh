#!/bin/sh
# check-docs.sh - every function in include/ has a comment directly above it,
# the make targets that the README names exist, and so does every word of ours in
# its table of torch.distributed's, with a test.
set -eu

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

[ -f README.md ] || exit 0
# shellcheck disable=SC2013,SC2016 # words; backquotes of the README
for target in $(grep -oE '(^|`|[$] )make [a-z][a-z-]*' README.md |
	sed 's/.*make //' | sort -u); do
	if ! grep -qE "^([a-z -]* )?$target( [a-z -]*)?:" Makefile &&
		! grep -qE "^CHECKS :=.* ${target#check-}( |$)" Makefile; then
		echo "README.md: no make target \"$target\"" >&2
		exit 1
	fi
done

# Our words in the second column; one with a * stands for all that begin so.
# shellcheck disable=SC2016 # backquotes of the README
words=$(sed -n "/^### torch.distributed's words/,/^## /p" README.md |
	awk -F'|' '/^\|/ { print $3 }' | grep -oE '`[^`]+`' | tr -d '`' |
	grep -E '^(dist|DIST)_' | sort -u)
count=0
for word in $words; do
	name=$(echo "$word" | sed 's/\*$/[a-z0-9_]*/')
	if ! grep -qE "(^|[^a-zA-Z0-9_])$name([^a-zA-Z0-9_]|$)" \
		include/lockstep/*.h; then
		echo "README.md: \"$word\" is in no header" >&2
		exit 1
	fi
	if ! grep -rqE "(^|[^a-zA-Z0-9_])$name([^a-zA-Z0-9_]|$)" tests \
		conformance; then
		echo "README.md: \"$word\" is in no test" >&2
		exit 1
	fi
	count=$((count + 1))
done
if sed -n "/^### torch.distributed's words/,/^## /p" README.md |
	awk -F'|' '/^\|/ { print $3 }' | grep -q '\.\.\.'; then
	echo 'README.md: a row that ends in "...": expected every word' >&2
	exit 1
fi
echo "check-docs: $count words for torch.distributed's, all tested"
