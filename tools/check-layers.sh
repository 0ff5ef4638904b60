#!/bin/sh
# check-layers.sh BUILD OBJECT... - who may include and call whom: the table of
# CONTRIBUTING.md, held against every #include line, and against what the
# objects leave undefined. A folder may include its own headers, what its line
# lists (a trailing / stands for all in that folder), and of <...> the headers
# of libc and those that its line names. It may call what the folders of the
# former define, and dist_...() where it may include lockstep/. No folder at the
# top may need another that needs it, over however many others; nor a file of
# these folders another of them; in the strict ones a header counts to the file
# of its name:
strict='base core core/rpc check/watch sim sim/explore sim/seat
realbackend/wire realbackend/store realbackend/launch realbackend/nccl realbackend/mpi
realbackend/seat trace worlds ddp
model/training model/cluster model/loopback model/validation cli/sweep'
downhill='base core core/rpc check check/recorder check/watch sim sim/engine sim/explore
sim/platform sim/seat
realbackend/wire realbackend/store realbackend/launch realbackend/agree realbackend/nccl realbackend/mpi realbackend/seat trace worlds ddp model/training
model/library model/measured model/cluster model/loopback model/llm model/validation cli cli/sweep'
set -eu
cd "$(dirname "$0")/.."

# folder | "..." of other folders | <...> beyond libc
table='
include/lockstep        | lockstep/ |
base                    | lockstep/ | yaml.h zlib.h jansson.h
core                    | lockstep/ base/ check/record.h check/watch/ | yaml.h
check/watch             |  | dwarf.h elfutils/ linux/ unwind.h
core/rpc                | lockstep/ base/ core/ check/record.h |
coll                    | lockstep/ base/ core/ | yaml.h
model/library           | lockstep/ base/ core/op.h core/fidelity.h coll/algorithm.h coll/profile.h |
check                   | lockstep/ base/ | jansson.h
check/recorder          | lockstep/ base/ check/ | jansson.h
sim/engine              | base/array.h base/data.h base/hash.h base/heap.h base/input.h | simgrid/ xbt/ xbt.h cxxabi.h sanitizer/
sim/platform            | lockstep/ base/ model/library/ core/backend.h sim/engine/ | simgrid/ xbt/
sim                     | lockstep/ base/ model/library/ coll/p2p_backend.h trace/recorder.h core/op.h core/backend.h core/transport.h coll/profile.h core/reduce.h core/fidelity.h core/init_method.h check/record.h check/verdict.h check/outputs.h check/simulated.h check/cause.h check/death.h check/watch/frames.h check/watch/source.h |
sim/explore             | lockstep/ base/ coll/profile.h sim/ check/outputs.h check/verdict.h |
sim/seat                | lockstep/ base/ core/seat.h core/backend.h core/op.h sim/ check/record.h |
realbackend/wire        | lockstep/ base/ core/op.h core/backend.h core/transport.h core/reduce.h | sys/socket.h sys/statvfs.h netinet/ arpa/inet.h netdb.h sys/un.h linux/membarrier.h nettle/
realbackend/store       | lockstep/ base/ realbackend/wire/socket.h realbackend/wire/secret.h core/backend.h core/init_method.h check/record.h | sys/socket.h netinet/ arpa/inet.h netdb.h
realbackend/launch      | lockstep/ base/ realbackend/store/ realbackend/wire/socket.h realbackend/wire/secret.h realbackend/wire/memory_file.h realbackend/wire/transport.h core/backend.h coll/profile.h coll/p2p_backend.h trace/recorder.h check/ | sys/socket.h netinet/ arpa/inet.h netdb.h sys/un.h
realbackend/agree       | lockstep/ base/ core/op.h core/backend.h core/transport.h coll/p2p_backend.h |
realbackend/nccl        | lockstep/ base/ core/op.h core/backend.h core/transport.h trace/recorder.h realbackend/agree/ realbackend/launch/world.h check/record.h | nccl.h cuda_runtime.h
realbackend/mpi         | lockstep/ base/ core/op.h core/backend.h core/transport.h core/reduce.h trace/recorder.h realbackend/agree/ realbackend/launch/world.h realbackend/launch/cores.h | mpi.h ftw.h sys/socket.h
realbackend/mpi/pmi     |  |
realbackend/seat        | lockstep/ base/ realbackend/store/store.h core/seat.h core/backend.h core/transport.h check/record.h |
trace                   | lockstep/ base/ core/op.h core/backend.h core/transport.h coll/algorithm.h | jansson.h zlib.h
worlds                  | lockstep/ base/ core/backend.h realbackend/launch/world.h realbackend/nccl/world.h realbackend/mpi/world.h realbackend/seat/world.h sim/launch.h |
ddp                     | lockstep/ base/ |
model/training          | lockstep/ base/ |
scenarios               | lockstep/ base/ model/training/ model/llm/ model/measured/collectives.h |
scenarios/tutorial      | lockstep/ base/ scenarios/ |
tests/conformance/cases | lockstep/ base/ scenarios/element.h |
model/measured          | lockstep/ base/ model/library/calibration.h model/library/transport.h | yaml.h jansson.h
model/cluster           | lockstep/ base/ model/library/fabric.h model/library/transport.h model/measured/machine.h | expat.h
model/loopback          | lockstep/ base/ coll/profile.h |
model/llm               | lockstep/ base/ core/op.h coll/profile.h model/library/ | jansson.h
cli/sweep               | lockstep/ base/ | yaml.h jansson.h
cli                     | lockstep/ base/ worlds/ model/ trace/ check/ scenarios/ tests/conformance/cases/ coll/profile.h core/reduce.h coll/algorithm.h core/backend.h core/capability.h realbackend/launch/cores.h realbackend/launch/launcher.h realbackend/store/scheduler.h sim/platform/platform.h sim/launch.h sim/tally.h sim/watcher.h sim/seat/seat.h core/fidelity.h | jansson.h zlib.h
model/validation        | lockstep/ base/ model/ core/op.h coll/profile.h |
bench/peers             |  | mpi.h gloo/ ucc/ sys/socket.h netinet/
tests/conformance       | lockstep/ base/ tests/support/ | criterion/
tests/programs          | lockstep/ tests/programs/ |
'

# Headers of libc (and of POSIX) that anyone may include; sockets are not
# among them, being the tcp folder's alone.
libc='assert.h ctype.h errno.h fcntl.h float.h inttypes.h limits.h locale.h
malloc.h math.h poll.h pthread.h sched.h setjmp.h signal.h spawn.h stdalign.h
stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h
stdnoreturn.h string.h strings.h time.h unistd.h wchar.h dirent.h dlfcn.h
fnmatch.h glob.h libgen.h semaphore.h regex.h fenv.h sys/mman.h sys/resource.h
sys/stat.h sys/time.h sys/types.h sys/uio.h sys/wait.h sys/utsname.h
sys/prctl.h sys/file.h sys/ioctl.h sys/select.h linux/futex.h sys/syscall.h
sys/random.h sys/eventfd.h search.h elf.h'

count=0 bad=0
check_folder() { # folder, quoted allowed, angle allowed
	files=$(find "$1" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 \
		-name '*.cpp' 2>/dev/null | sort)
	[ -n "$files" ] || return 0
	# shellcheck disable=SC2086 # one word a file
	awk -v own="$1/" -v quoted="$2" -v angle="$3" -v libc="$libc" '
	function allowed(name, list,    i, n, words) {
		n = split(list, words, /[ \t\n]+/)
		for (i = 1; i <= n; i++) {
			if (words[i] == "") continue
			if (words[i] == name) return 1
			if (words[i] ~ /\/$/ && index(name, words[i]) == 1)
				return 1
		}
		return 0
	}
	function complain(what) {
		print FILENAME ":" FNR ": " what " is not for " own
		bad = 1
	}
	/^[ \t]*#[ \t]*include/ {
		name = $0
		sub(/^[^<"]*/, "", name)
		kind = substr(name, 1, 1)
		name = substr(name, 2)
		sub(/[>"].*/, "", name)
		if (kind == "\"" && index(name, "..") > 0)
			complain("the relative \"" name "\"")
		else if (kind == "\"" && index(name, own) != 1 &&
			 !allowed(name, quoted))
			complain("\"" name "\"")
		else if (kind == "<" && name ~ /^lockstep\// &&
			 allowed("lockstep/", quoted))
			next
		else if (kind == "<" && FILENAME ~ /\.cpp$/ && name !~ /[.\/]/)
			next
		else if (kind == "<" && !allowed(name, libc " " angle))
			complain("<" name ">")
	}
	END { exit bad }' $files >&2 || bad=1
	count=$((count + 1))
}

while IFS='|' read -r folder quoted angle; do
	folder=$(echo "$folder" | tr -d ' ')
	[ -n "$folder" ] || continue
	[ -d "$folder" ] || { echo "check-layers: no folder $folder" >&2; bad=1; }
	check_folder "$folder" "$quoted" "$angle"
done <<END
$table
END

# Every pair "folder other" that the objects, or the sources, show; and "file
# other" of the folders that go downhill.
calls() { # build folder, objects
	build=$1
	shift
	{
		echo "$table"
		nm -A -P "$@" 2>/dev/null
	} | awk -v build="$build/" -v downhill=" $(echo "$downhill" | tr '\n' ' ') " '
	function folder_of(path) {
		sub(/\/[^\/]*$/, "", path)
		return path
	}
	function may_call(folder, other, symbol,    i, n, words) {
		if (index(other "/", folder "/") == 1)
			return 1
		n = split(may[folder], words, /[ \t]+/)
		for (i = 1; i <= n; i++) {
			if (words[i] == "lockstep/" && symbol ~ /^dist_[a-z]/)
				return 1
			if (words[i] ~ /\/$/ && index(other "/", words[i]) == 1)
				return 1
			if (words[i] != "" && folder_of(words[i]) == other)
				return 1
		}
		return 0
	}
	/[|]/ { split($0, row, "|"); gsub(/ /, "", row[1]); may[row[1]] = row[2]; next }
	NF < 3 { next }
	{ sub(/:$/, "", $1); object = substr($1, length(build) + 1) }
	$3 ~ /^[TDBRC]$/ { file[$2] = object; home[$2] = folder_of(object) }
	$3 == "U" { needs[object " " $2] = 1 }
	$3 == "U" && $2 ~ /^(sg|simgrid)_/ && object !~ /^sim\/(engine|platform)\// {
		print "check-layers: " object ": " $2 "() of SimGrid is for " \
			"sim/engine/ and sim/platform/" >"/dev/stderr"
	}
	END {
		for (need in needs) {
			split(need, pair, " ")
			folder = folder_of(pair[1])
			other = home[pair[2]]
			if (other == folder && index(downhill, " " folder " "))
				print pair[1], file[pair[2]]
			if (other == "" || other == folder)
				continue
			if (!may_call(folder, other, pair[2]))
				print "check-layers: " pair[1] ": " pair[2] \
					"() of " other "/ is not for " folder "/" >"/dev/stderr"
			print folder, other
		}
	}'
}

includes() {
	echo "$table" | awk '/[|]/ { print $1 }' | while read -r folder; do
		find "$folder" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.cpp'
	done | xargs grep -H '^#include "' | awk -F '[:"]' '{
		sub(/\/[^\/]*$/, "", $1)
		sub(/\/[^\/]*$/, "", $3)
		print $1, $3
	}'
}

# What the command walks of the tests lies above nothing else of these.
top() {
	grep -v '\.o ' | grep -v '^include/\| lockstep$' |
		sed 's|tests/conformance/cases|cases|g; s|/[^ ]*||g' |
		awk '$1 != $2 && $1 !~ /^(tests|bench)$/' | sort -u
}

pairs=$(mktemp)
trap 'rm -f "$pairs" "$pairs.words" "$pairs.units"' EXIT
calls "$@" >"$pairs" 2>"$pairs.words"
includes >>"$pairs"
if [ -s "$pairs.words" ]; then
	sort "$pairs.words" >&2
	bad=1
fi
circle_of() { # of what; pairs come in
	circle=$(tsort 2>&1 >/dev/null) || {
		echo "check-layers: a circle of $1: $(echo "$circle" |
			sed -n 's/^tsort: //p' | grep -v 'input contains' | tr '\n' ' ')" >&2
		bad=1
	}
}
top <"$pairs" >"$pairs.words"
circle_of folders <"$pairs.words"
awk '/\.o / && $1 != $2' "$pairs" >"$pairs.words"
circle_of files <"$pairs.words"
for folder in $strict; do
	grep -H '^#include "' "$folder"/*.[ch] | awk -F '[:"]' '{
		sub(/[.][ch]$/, ".o", $1)
		sub(/[.]h$/, ".o", $3)
		print $1, $3
	}' | cat - "$pairs.words" | awk -v folder="$folder/" '
		{ other = $2; sub(/[^\/]*$/, "", other); own = $1; sub(/[^\/]*$/, "", own) }
		own == folder && other == folder && $1 != $2' >"$pairs.units"
	circle_of "files and headers" <"$pairs.units"
done

# Options are structs. The environment is read where a process, or a world in
# it, begins; and where the system's own folders, libraries and terminal are.
readers=$(grep -lE 'getenv\(|dist__variable(_or)?\(' base/*.c core/*.c coll/*.c check/*.c check/*/*.c \
	model/*/*.c sim/*.c sim/*/*.c realbackend/*/*.c trace/*.c ddp/*.c worlds/*.c |
	grep -vE '^(worlds/|realbackend/launch/|sim/launch\.c|check/outputs\.c)' |
	grep -vE '^realbackend/(store/(environment|scheduler)|nccl/world|seat/slot|seat/world)\.c' |
	grep -vE '^(base/(data|terminal)|realbackend/(wire/memory_file|nccl/libraries|mpi/(library|begin|world)))\.c' ||
	true)
if [ -n "$readers" ]; then
	echo "check-layers: getenv() is for where a process begins, not for $readers" >&2
	bad=1
fi

slots=$(awk '
/^struct dist__transport_ops \{/ { inside = 1; next }
inside && /^}/ { exit }
inside { text = text $0 " " }
END {
	while (at = index(text, "/*"))
		text = substr(text, 1, at - 1) \
			substr(text, at + index(substr(text, at), "*/") + 1)
	print gsub(/;/, ";", text)
}' core/transport.h)
if [ "$slots" -gt 14 ]; then
	echo "check-layers: core/transport.h: a transport has $slots slots: at most 14" >&2
	bad=1
fi

[ $bad -eq 0 ] || exit 1
echo "check-layers: the folders include and call only what they may ($count of them), in no circle"
