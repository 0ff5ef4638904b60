#!/bin/bash
# check-simgrid.sh SOURCE ... - whether sim/ compiles against the releases of
# SimGrid whose source trees are given. Only their headers are read: SimGrid need
# not be built. CC and CXX name the compilers. Exit status 77 without a tree.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

if [ $# -eq 0 ]; then
	echo "usage: tools/check-simgrid.sh SOURCE ..., source trees of SimGrid" >&2
	exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What a build of the tree would make of its two headers that are templates.
fill_templates() { # TREE
	local part number fill=()

	version=
	for part in MAJOR MINOR PATCH; do
		number=$(sed -nE "s/^set\(SIMGRID_VERSION_$part \"?([0-9]+).*/\1/p" \
			"$1/CMakeLists.txt")
		fill+=(-e "s/@SIMGRID_VERSION_$part@/${number:?"no version in $1"}/")
		version=$version${version:+.}$number
	done
	mkdir -p "$scratch/$version/simgrid"
	sed "${fill[@]}" "$1/include/simgrid/version.h.in" \
		>"$scratch/$version/simgrid/version.h"
	sed -E -e 's/^#cmakedefine01 (.*)/#define \1 0/' -e '/^#cmakedefine /d' \
		"$1/include/simgrid/config.h.in" \
		>"$scratch/$version/simgrid/config.h"
}

failed=0
for tree; do
	fill_templates "$tree"
	includes=(-I"$root" -I"$root/include" -D_POSIX_C_SOURCE=200809L
		-isystem "$scratch/$version" -isystem "$tree/include")
	bad=0
	for source in "$root"/sim/platform/*.c; do
		${CC:-gcc} -std=c17 -fsyntax-only "${includes[@]}" "$source" ||
			bad=$((bad + 1))
	done
	for source in "$root"/sim/engine/*.cpp; do
		${CXX:-g++} -std=c++17 -fsyntax-only "${includes[@]}" "$source" ||
			bad=$((bad + 1))
	done
	echo "SimGrid $version: $bad sources of sim/ do not compile"
	failed=$((failed + bad))
done
[ $failed -eq 0 ]
