#!/bin/bash
# check-same-symbols.sh OBJECT OBJECT - whether two objects define the same
# functions of ours: one source, compiled for two releases of a library.
set -eu

defined() {
	nm --defined-only --extern-only "$1" | awk '$3 ~ /^dist_/ { print $3 }' | sort
}

if ! diff <(defined "$1") <(defined "$2") >&2; then
	echo "check-same-symbols: $1 and $2 define other functions" >&2
	exit 1
fi
