# What the tests of the command share. Sourced, not run. The command under test
# is $LOCKSTEP, with sanitizers if $SANITIZED is yes; $scratch is an empty folder
# that goes away at the end.
# shellcheck shell=bash disable=SC2034 # for whoever sources this

set -u
export LC_ALL=C.UTF-8
: "${LOCKSTEP:=build/default/lockstep}" "${SANITIZED:=no}"
if [ ! -x "$LOCKSTEP" ]; then
	echo "no command at $LOCKSTEP; set LOCKSTEP"
	exit 1
fi
LOCKSTEP=$(realpath "$LOCKSTEP")
# The catalogue of wrong programs: $wrong NAME, or $wrong NAME correct.
wrong=$(dirname "$LOCKSTEP")/tests/programs/programs
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
unset LOCKSTEP_BACKEND LOCKSTEP_PLATFORM LOCKSTEP_PROFILE LOCKSTEP_ALGORITHM
unset LOCKSTEP_TRACE LOCKSTEP_TIMEOUT LOCKSTEP_PATIENCE LOCKSTEP_DATA
unset LOCKSTEP_SECRET LOCKSTEP_STACK_SIZE
unset LOCKSTEP_P2P LOCKSTEP_REPLAY LOCKSTEP_EXPLORE OMP_NUM_THREADS
unset LOCKSTEP_JSON LOCKSTEP_JUNIT LOCKSTEP_SARIF LOCKSTEP_ANNOTATE
unset LOCKSTEP_DUMP LOCKSTEP_INTRA LOCKSTEP_BIND_TO LOCKSTEP_LINKS
unset LOCKSTEP_STORE_PORT LOCKSTEP_MASTER_PORT LOCKSTEP_NOTES LOCKSTEP_LAUNCHER
unset LOCKSTEP_LIBRARY LOCKSTEP_TORCH_BACKEND_AS PYTHON_EXEC PYTHONPATH
# shellcheck disable=SC2086 # names
unset ${!PET_*} ${!TORCHELASTIC_*} ${!OMPI_*} ${!PMI*} ${!SLURM_*}

failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# Runs the command; its output lands in $scratch/out and $scratch/err, its
# status in $status. It may take $limit seconds.
lockstep() {
	timeout "${limit:-200}" "$LOCKSTEP" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
}

# expect STATUS WORDS... - the command with these words ends with STATUS.
expect() {
	local wanted=$1
	shift
	lockstep "$@"
	if [ "$status" -ne "$wanted" ]; then
		fail "lockstep $*: status $status, not $wanted"
		head -n 20 "$scratch/err"
	fi
}

# expect_refusal PATTERN WORDS... - bad input: status 2, nothing on stdout, one
# line on stderr that matches PATTERN.
expect_refusal() {
	local pattern=$1
	shift
	expect 2 "$@"
	[ ! -s "$scratch/out" ] || fail "lockstep $*: wrote to stdout"
	if [ "$(wc -l <"$scratch/err")" -ne 1 ]; then
		fail "lockstep $*: not one line on stderr:"
		head -n 5 "$scratch/err"
	fi
	grep -qE -- "$pattern" "$scratch/err" ||
		fail "lockstep $*: no /$pattern/ in: $(cat "$scratch/err")"
}

# expect_out PATTERN - the last command's stdout has a line that matches.
expect_out() {
	grep -qE -- "$1" "$scratch/out" || fail "no /$1/ on stdout"
}

# expect_err PATTERN - the same of its stderr.
expect_err() {
	grep -qE -- "$1" "$scratch/err" ||
		fail "no /$1/ on stderr: $(head -n 20 "$scratch/err")"
}

# needs_torch [VERSION] - stores in $python an interpreter that has torch, that
# version or later: $LOCKSTEP_PYTHON if set, else the one of make deps-torch or
# the system's; and in $torch the version. Without one the script is skipped.
needs_torch() {
	local candidates=("${LOCKSTEP_PYTHON:-build/torch/bin/python}")
	[ "$SANITIZED" != yes ] || {
		echo "the interpreter is not built with sanitizers"
		exit 77
	}
	[ -n "${LOCKSTEP_PYTHON-}" ] || candidates+=(python3 /usr/bin/python3)
	for python in "${candidates[@]}"; do
		python=$(command -v "$python") || continue
		# Found and read, not imported: that takes seconds.
		torch=$("$python" - "${1:-1.13}" <<-'END' 2>/dev/null
			import importlib.util, os, re, sys
			spec = importlib.util.find_spec("torch")
			path = os.path.join(os.path.dirname(spec.origin), "version.py")
			have = re.search(r"__version__ = '([^']*)", open(path).read())[1]
			order = lambda text: [int(n) for n in re.findall(r"\d+", text)[:2]]
			sys.exit(print(have) or order(have) < order(sys.argv[1]))
		END
		) || continue
		[[ $python == /* ]] || python=$PWD/$python
		return 0
	done
	echo "no torch ${1:+$1 or later }here: make deps-torch"
	exit 77
}

# warm_torch MODULE... - from now on $python forks a process that has imported
# torch and these modules (tests/torch/warm.py). For scripts that find Lockstep's
# package, and whose subject is not how an interpreter starts.
warm_torch() {
	local code='__name__ = "warm"; import sys; exec(compile(open(sys.argv[1]).read(), "<warm>", "exec"))'
	mkdir "$scratch/warm"
	ln -s "$(dirname "$LOCKSTEP")/tests/cli/warm" "$scratch/warm/python3"
	export WARM_SOCKET=$scratch/warm/socket WARM_PATH=$PWD/python
	export WARM_PYTHON=$python
	PYTHONPATH=$PWD/python:$PWD/tests/torch/light OMP_NUM_THREADS=1 PYTHONHASHSEED=0 \
		"$python" -c "$code" tests/torch/warm.py $$ "$WARM_SOCKET" "$WARM_PATH" torch \
		lockstep.group lockstep.rendezvous "$@" >"$scratch/warm/log" 2>&1 </dev/null &
	# shellcheck disable=SC2064 # this process
	trap "kill $!; wait $!; rm -rf '$scratch'" EXIT
	wait_for [ -S "$WARM_SOCKET" ]
	python=$scratch/warm/python3
}

# program NAME - makes the script on stdin a program, $scratch/NAME.
program() {
	{ echo '#!/bin/sh' && cat; } >"$scratch/$1"
	chmod +x "$scratch/$1"
}

# Stores in $port a port where nobody else listens until this script has ended:
# a process keeps it, for as long as what it prints can be read here.
free_port() {
	local kept
	# No child of this script, so that a bare wait does not wait for it.
	exec {kept}< <("$(dirname "$LOCKSTEP")/tests/cli/port" &)
	read -r port <&"$kept" || fail 'no port is free'
}

# wait_for COMMAND... - until it succeeds; false after two minutes.
wait_for() {
	local until=$((SECONDS + 120))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.02
	done
}

finish() {
	[ "$failures" -eq 0 ] && echo fine
	exit $((failures > 0))
}
