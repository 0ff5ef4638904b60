#!/bin/sh
# check-layers.sh - who may include whom: the table of CONTRIBUTING.md, held
# against every #include line. A folder may include its own headers, what its
# line lists (a trailing / stands for all in that folder), and of <...> the
# headers of libc and those that its line names.
set -eu
cd "$(dirname "$0")/.."

# folder | "..." of other folders | <...> beyond libc
table='
include/lockstep  | lockstep/ |
core              | lockstep/ check/record.h guard/ | yaml.h
guard             | | dwarf.h elfutils/ unwind.h
coll              | lockstep/ core/op.h core/backend.h core/flow.h core/transport.h core/algorithm.h core/profile.h core/reduce.h |
library           | lockstep/ core/op.h core/algorithm.h core/fidelity.h core/profile.h |
check             | | jansson.h
sim               | lockstep/ library/ core/op.h core/backend.h core/transport.h core/data.h core/profile.h core/quantity.h core/reduce.h core/fidelity.h core/init_method.h check/record.h check/verdict.h check/outputs.h check/simulated.h | simgrid/ xbt/ xbt.h
realbackend/tcp   | lockstep/ core/op.h core/backend.h core/transport.h core/data.h core/profile.h core/clock.h core/endian.h core/parcel.h core/reduce.h core/table.h core/store.h core/init_method.h check/record.h check/verdict.h check/outputs.h check/cause.h check/dump.h check/proof.h | sys/socket.h netinet/ arpa/inet.h netdb.h sys/un.h linux/membarrier.h nettle/
realbackend/nccl  | lockstep/ core/op.h core/backend.h core/transport.h core/half.h check/record.h | nccl.h cuda_runtime.h
trace             | lockstep/ core/op.h core/backend.h core/transport.h core/algorithm.h | jansson.h zlib.h
ddp               | lockstep/ core/half.h |
scenarios         | lockstep/ | popt.h
scenarios/zoo     | lockstep/ scenarios/ |
scenarios/tutorial    | lockstep/ scenarios/ | popt.h
scenarios/tutorial/nn | | cblas.h
conformance       | lockstep/ scenarios/element.h |
measured          | lockstep/ core/yaml_keys.h | yaml.h
platform          | lockstep/ core/quantity.h library/fabric.h measured/machine.h | expat.h
testbed           | lockstep/ platform/description.h | linux/if.h linux/if_tun.h
study             | lockstep/ core/yaml_keys.h trace/output.h | yaml.h jansson.h
cli               | lockstep/ testbed/ library/ trace/ check/ scenarios/ conformance/ measured/ platform/ study/ core/data.h core/profile.h core/reduce.h core/algorithm.h core/backend.h realbackend/tcp/cores.h realbackend/tcp/launcher.h realbackend/tcp/scheduler.h sim/platform.h sim/tally.h core/fidelity.h validation/ | jansson.h popt.h zlib.h
validation        | lockstep/ library/ measured/ scenarios/model.h scenarios/schedule.h platform/machine.h trace/statistics.h core/op.h core/data.h core/profile.h |
bench/peers       | | mpi.h gloo/
tests/conformance | lockstep/ conformance/ tests/support/ | criterion/
tests/programs | lockstep/ tests/programs/ |
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
sys/random.h'

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
	[ -d "$folder" ] || continue
	check_folder "$folder" "$quoted" "$angle"
done <<END
$table
END

[ $bad -eq 0 ] || exit 1
echo "check-layers: the folders include only what they may ($count of them)"
