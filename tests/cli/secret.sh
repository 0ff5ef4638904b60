#!/bin/bash
# LOCKSTEP_SECRET works through the command and shows nowhere: not in traces,
# not in output, not on a command line.
. tests/cli/support.bash

secret=vN9-only-the-ranks-know-this
export LOCKSTEP_SECRET=$secret

expect 0 run --backend tcp --nproc-per-node 3 --trace "$scratch/trace.json" hello
expect_out 'the sum of ones is 3'
[ -s "$scratch/trace.json" ] || fail "no trace"

# What a rank, and its launcher, show to anybody who looks at processes.
cat >"$scratch/look" <<'END'
#!/bin/sh
tr '\0' ' ' <"/proc/$$/cmdline"
tr '\0' ' ' <"/proc/$PPID/cmdline"
[ -n "$LOCKSTEP_SECRET" ] || exit 1
END
chmod +x "$scratch/look"
if [ -d /proc/self ]; then
	expect 0 run --backend tcp --nproc-per-node 2 "$scratch/look"
	cp "$scratch/out" "$scratch/cmdlines"
fi

# A port that is taken: a failure with words.
"$LOCKSTEP" run --backend tcp --nproc-per-node 2 --master-port 1 hello \
	>"$scratch/words" 2>&1
unset LOCKSTEP_SECRET
if grep -rlF "$secret" "$scratch"; then
	fail "the secret stands in these files"
fi
finish
