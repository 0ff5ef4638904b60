#!/bin/sh
# check-symbols.sh LIBRARY - what the archive shows to the linker: globals are
# called dist_x (public), dist__x (ours), check_x or library_x, and the folders that
# thousands of simulated ranks share hold nothing writable. In late.o there are
# jumps that are called as where they lead to, in SimGrid; `make install` renames
# them.
set -eu

library=$1
bad=0

wrong=$(nm --defined-only --extern-only "$library" 2>/dev/null | awk '
/:$/ { object = $0 }
object == "late.o:" && $3 ~ /^(sg|simgrid)_/ { next }
NF == 3 && $2 !~ /^[VWuw]$/ && $3 !~ /^(dist_[a-z]|dist__[a-z]|check_[a-z]|library_[a-z])/ {
	print object " " $3
}')
if [ -n "$wrong" ]; then
	echo "$wrong" | sed 's/^/check-symbols: ill-named: /' >&2
	bad=1
fi

# Writable data: d and b (and their globals, and common). The worlds may keep
# some, since one process holds one simulation or one real rank; tables of
# function pointers land in .data.rel.ro, which nm also calls d, so ask for
# sections instead. Which world all ranks of the process are of, whether it is a
# copy, and which groups a real rank destroyed last, core may note.
worlds=$2
writable=$(for object in $worlds; do
	objdump -t "$object" | awk -v object="$object" '
	$0 ~ / O / && $0 ~ / (\.data|\.bss|\*COM\*)[^ \t]*\t/ &&
	$0 !~ / \.data\.rel\.ro/ && $0 !~ /\.(lto|gnu)/ {
		print object ": " $NF
	}'
done | grep -v -E ': (__|_ZZ|DW\.)|/core/here.o: (entered|is_copied|is_over|retired|num_retired)$' || true)
if [ -n "$writable" ]; then
	echo "$writable" | sed 's/^/check-symbols: writable: /' >&2
	bad=1
fi

[ $bad -eq 0 ] || exit 1
echo "check-symbols: globals are well named; nothing writable is shared"
