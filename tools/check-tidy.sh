#!/bin/sh
# check-tidy.sh FILE FLAG ... - clang-tidy on one source, silent when it has
# nothing to say.
set -u

file=$1
shift
if ! out=$(clang-tidy --quiet "$file" -- "$@" 2>/dev/null); then
	printf '%s\n' "$out"
	echo "check-tidy: $file: see above" >&2
	exit 1
fi
