#!/bin/sh
# check-size.sh FILE ... - no source is longer than 800 lines, none is called
# after nothing in particular.
set -eu

awk '
FNR == 801 { print FILENAME ": longer than 800 lines"; bad = 1 }
FNR == 1 && FILENAME ~ /(^|\/)(utils?|common|misc|helpers?)\.(c|h|py)$/ {
	print FILENAME ": name the concept"; bad = 1
}
END { exit bad }' "$@" >&2
echo "check-size: $# files, none longer than 800 lines"
