#!/bin/sh
# check-docs.sh - every function in include/ has a comment directly above it,
# and the make targets that the README names exist.
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
