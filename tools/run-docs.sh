#!/bin/bash
# run-docs.sh COMMAND [--write|--list] PAGE.md ... - run every command of the pages
# and hold its output against what the page shows. --write: put what was printed
# into the page instead; look at the diff. --list: also name what is not run.
#
# In a block that begins with ```console a line "$ COMMAND" is run (one that ends
# in \ goes on in the next), and the lines below are its output, of stdout and
# stderr together. A line "..." stands for any number of lines that are left out,
# once an output. The commands of a page run one after the other, each at most two
# minutes, in a folder that has the files of docs/examples/, plots/, and python/examples/ as examples/; $? is the
# status of the one before. A word behind "console" says:
#
#	numbers   numbers vary: any number with its unit, any blanks between
#	torch     so, too; run where PyTorch is: by $LOCKSTEP_PYTHON, else by what
#	          make deps-torch made; elsewhere counted as not run
#	root, gpu, network, machine
#	          not run, only counted: needs root, a GPU, other hosts, or changes
#	          this machine, or takes minutes
#
# A block that begins with ```LANGUAGE FILE shows lines of docs/examples/FILE as
# they are there.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
command=$(realpath "$1") || exit 1
shift
write='' list=''
case $1 in
--write) write=yes && shift ;;
--list) list=yes && shift ;;
esac

all=$(mktemp -d) || exit 1
trap 'rm -rf "$all"' EXIT

# split PAGE FOLDER - the commands of a page as N.command, N.output, N.how and
# N.line in the folder; the files that it shows below files/.
split() {
	awk -v dir="$2" '
	function refuse(text) {
		print FILENAME ":" FNR ": " text
		bad = 1
	}
	/^ *```/ && !inside {
		inside = 1
		kind = $1
		gsub(/[` ]/, "", kind)
		how = $2
		if (kind == "console" && how !~ /^(numbers|torch|root|gpu|network|machine)?$/)
			refuse("expected numbers, torch, root, gpu, network or machine, got " how)
		file = kind != "console" && how != "" ? dir "/files/" how : ""
		next
	}
	/^ *```/ { inside = continued = 0; next }
	!inside { next }
	file { print > file; next }
	kind != "console" {
		if (kind !~ /^(c|yaml)$/ && /^ *([$] |lockstep [a-z]+ -|make [a-z]|mpirun |sudo )/)
			refuse("a command outside of a console block")
		next
	}
	continued || /^[$] / {
		if (!continued)
			n++
		base = dir "/" n
		print continued ? $0 : substr($0, 3) > (base ".command")
		if (!continued) {
			print FNR > (base ".line")
			print how > (base ".how")
			printf "" > (base ".output")
		}
		continued = /\\$/
		next
	}
	n == 0 { refuse("output before a command"); next }
	{ print > (base ".output") }
	END { exit bad }' "$1"
}

# What is the same in two outputs whose numbers differ.
mask() {
	sed -E 's/[-+]?[0-9]+([.,][0-9]+)?(e[-+]?[0-9]+)?( ?(ns|us|ms|s|min|[KMG]?i?B)\b)?/#/g
		s/[ \t]+/ /g; s/^ | $//g'
}

# same WANT GOT - whether the outputs are the same; what WANT leaves out is left
# out of GOT, too.
same() {
	local want=$1 got=$2 before after lines
	if ! grep -qx '\.\.\.' "$want"; then
		cmp -s "$want" "$got"
		return
	fi
	before=$(awk '/^\.\.\.$/ { exit } { n++ } END { print n + 0 }' "$want")
	after=$(awk '/^\.\.\.$/ { n = -1 } { n++ } END { print n + 0 }' "$want")
	lines=$(wc -l <"$got")
	[ $((before + after)) -le "$lines" ] || return 1
	{
		head -n "$before" "$got"
		echo ...
		tail -n "$after" "$got"
	} >"$got.short"
	mv "$got.short" "$got"
	cmp -s "$want" "$got"
}

# Runs the commands in the folder DIR/here; what each prints to N.printed.
run_all() {
	local dir=$1 n=1 status=0 text
	cd "$dir/here" || return
	while [ -e "$dir/$n.command" ]; do
		if grep -qE "^(numbers${python:+|torch})?$" "$dir/$n.how"; then
			text=$(cat "$dir/$n.command")
			timeout 120 bash -c "(exit $status)
$text" >"$dir/$n.printed" 2>&1 </dev/null
			status=$?
		fi
		n=$((n + 1))
	done
}

# One page: prints what differs, then a line of counts.
page() {
	local page=$1 dir n=1 run=0 bad=0 how
	dir=$all/${page//\//-}
	mkdir -p "$dir/here" "$dir/files"
	cp -r docs/examples/. "$dir/here/"
	ln -s "$root/plots" "$dir/here/plots"
	ln -s "$root/python/examples" "$dir/here/examples"
	split "$page" "$dir" || bad=1
	for file in "$dir/files"/*; do
		if [ -e "$file" ] && [[ $(cat "docs/examples/${file##*/}") != *"$(cat "$file")"* ]]; then
			echo "$page: these lines are not in docs/examples/${file##*/}:"
			cat "$file"
			bad=1
		fi
	done
	(run_all "$dir")
	while [ -e "$dir/$n.command" ]; do
		how=$(cat "$dir/$n.how")
		if [ ! -e "$dir/$n.printed" ]; then
			echo "$how" >>"$dir/left"
			[ -z "$list" ] || echo "$page:$(cat "$dir/$n.line"): not run ($how): $(head -n 1 "$dir/$n.command")"
			n=$((n + 1))
			continue
		fi
		run=$((run + 1))
		if [ "$how" ]; then
			mask <"$dir/$n.output" >"$dir/want"
			mask <"$dir/$n.printed" >"$dir/got"
		else
			cp "$dir/$n.output" "$dir/want"
			cp "$dir/$n.printed" "$dir/got"
		fi
		if ! same "$dir/want" "$dir/got"; then
			same "$dir/$n.output" "$dir/$n.printed"
			if [ "$write" ]; then
				cp "$dir/$n.printed" "$dir/$n.output"
			else
				bad=1
				echo "$page:$(cat "$dir/$n.line"): $(head -n 1 "$dir/$n.command")"
				diff -U 2 --label "in the page" --label printed "$dir/want" "$dir/got" | sed 's/^/    /'
			fi
		fi
		n=$((n + 1))
	done
	if [ "$write" ]; then
		rewrite "$page" "$dir" >"$dir/page"
		cmp -s "$dir/page" "$page" || cp "$dir/page" "$page"
	fi
	echo "$bad $run" >"$dir/counts"
}

# The page with the outputs in the folder.
rewrite() {
	awk -v dir="$2" '
	/^ *```/ {
		inside = !inside && $1 == "```console"
		continued = 0
		print
		next
	}
	!inside { print; next }
	continued || /^[$] / {
		if (!continued)
			n++
		print
		continued = /\\$/
		while (!continued && (getline line < (dir "/" n ".output")) > 0)
			print line
	}' "$1"
}

# A program is compiled against the build that the command is of.
mkdir "$all/pkgconfig"
cat >"$all/pkgconfig/lockstep-uninstalled.pc" <<END
Name: lockstep
Description: the library as it is built
Version: 0
Cflags: -I$root/include
Libs: -L${command%/*} -Wl,-rpath,${command%/*} -llockstep
END
export PKG_CONFIG_PATH=$all/pkgconfig PATH=${command%/*}:$PATH
python=$(command -v "${LOCKSTEP_PYTHON:-build/torch/bin/python}")
if [ "$python" ]; then
	[[ $python == /* ]] || python=$root/$python
	PATH=${python%/*}:$PATH
fi
export LC_ALL=C.UTF-8 NO_COLOR=1
unset "${!LOCKSTEP_@}" "${!PET_@}" RANK WORLD_SIZE LOCAL_RANK

lanes=$(nproc)
for page; do
	while [ "$(jobs -rp | wc -l)" -ge "$lanes" ]; do
		wait -n
	done
	page "$page" >"$all/${page//\//-}.log" 2>&1 &
done
wait

failed=0 run=0
for page; do
	cat "$all/${page//\//-}.log"
	read -r bad ran <"$all/${page//\//-}/counts" || exit 1
	failed=$((failed + bad)) run=$((run + ran))
done
left=$(cat "$all"/*/left 2>/dev/null | sort | uniq -c | awk '{ printf "%s%s %s", n++ ? ", " : "", $1, $2 }')
echo "run-docs: ran $run commands of $# pages${left:+; not run: $left}"
[ $failed -eq 0 ] || { echo "run-docs: $failed pages differ; \"make docs\" rewrites them" >&2 && exit 1; }
