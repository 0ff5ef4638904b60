#!/bin/bash
# check-headers.sh CC CFLAGS CXX HEADER ... - every header compiles alone, as
# C; those of include/ also as C++.
set -u

cc=$1 cflags=$2 cxx=$3
shift 3
bad=0
# shellcheck disable=SC2086 # the commands have words
for header; do
	$cc $cflags -Werror -fsyntax-only -x c - <<<"#include \"$header\"" ||
		bad=1
	case $header in
	include/*)
		$cxx -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ - \
			<<<"#include \"$header\"" || bad=1
		;;
	esac
done
[ $bad -eq 0 ] || exit 1
echo "check-headers: $# headers compile alone"
