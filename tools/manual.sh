#!/bin/sh
# manual.sh COMMAND VERSION FOLDER - write the pages for man to FOLDER: those of
# the commands, from their own tables of options, and the one of all.
set -eu

"$1" manual "$3"
entries=$(mktemp)
trap 'rm -f "$entries"' EXIT
"$1" manual >"$entries"
sed -e "/^@COMMANDS@\$/{r $entries
d}" -e "s|@VERSION@|$2|" docs/lockstep.1 >"$3/lockstep.1"
