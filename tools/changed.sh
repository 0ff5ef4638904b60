#!/bin/bash
# changed.sh [BASE] - print the C sources that differ from commit BASE, and for
# each header that does one source that includes it, committed or not. Without
# BASE: from where this branch left main; on main itself, from the commit before
# (of a merge: from what main was). "%", all, where there is no such commit.
set -u
cd "$(dirname "$0")/.." || exit 1

base=${1:-}
if [ -n "$base" ] && ! git rev-parse -q --verify "$base^{commit}" >/dev/null; then
	echo "changed.sh: BASE=$base is no commit: all sources" >&2
	echo %
	exit 0
fi
if [ -z "$base" ]; then
	head=$(git rev-parse -q --verify HEAD 2>/dev/null)
	for main in origin/main main; do
		fork=$(git merge-base "$main" HEAD 2>/dev/null) || continue
		[ "$fork" = "$head" ] || base=$fork
		break
	done
	[ -n "$base" ] || base=$(git rev-parse -q --verify HEAD^1 2>/dev/null) ||
		{ echo % && exit 0; }
fi

{
	git diff --name-only --diff-filter=d "$base"
	git ls-files --others --exclude-standard
} | sort -u | while read -r file; do
	case $file in
	*.c) echo "$file" ;;
	.clang-tidy | tests/.clang-tidy) echo % ;;
	*.h)
		own=${file%.h}.c
		if [ -e "$own" ]; then
			echo "$own"
		else
			git grep -lF "#include \"${file#include/}\"" -- '*.c' |
				head -n 1
		fi
		;;
	esac
done
