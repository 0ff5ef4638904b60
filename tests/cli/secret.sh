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

# One that is empty is a mistake, not the same as none.
LOCKSTEP_SECRET='' expect_refusal LOCKSTEP_SECRET run --backend tcp \
	--nproc-per-node 2 hello
env LOCKSTEP_SECRET='' RANK=0 WORLD_SIZE=1 "$LOCKSTEP" run --backend tcp hello \
	>"$scratch/out" 2>&1
status=$?
[ $status -eq 2 ] || fail "an empty secret: status $status"

# Without one, a job that others can reach says so, once.
for host in 127.0.0.1 0.0.0.0; do
	expect 0 run --nproc-per-node 2 --master-addr "$host" hello
	wanted=1
	[ "$host" = 0.0.0.0 ] || wanted=0
	[ "$(grep -c 'no LOCKSTEP_SECRET' "$scratch/err")" -eq $wanted ] ||
		fail "$host: warned otherwise: $(cat "$scratch/err")"
done
LOCKSTEP_SECRET=$secret expect 0 run --nproc-per-node 2 \
	--master-addr 0.0.0.0 hello
! grep -q LOCKSTEP_SECRET "$scratch/err" || fail "warned with a secret"
if grep -rlF "$secret" "$scratch"; then
	fail "the secret stands in these files"
fi
finish
