#!/bin/bash
# torchrun's flags on one node: variables, restarts, logs, the list of failures,
# ranks of mpirun and srun, and what signals leave behind.
# shellcheck disable=SC2016,SC2317 # what programs expand; what wait_for calls
. tests/cli/support.bash

tcp=(run --backend tcp --nproc-per-node 2)

# ---- variables

program variables <<'END'
env | grep -E '^(RANK|LOCAL_RANK|GROUP_RANK|ROLE_RANK|ROLE_NAME|WORLD_SIZE|LOCAL_WORLD_SIZE|ROLE_WORLD_SIZE|GROUP_WORLD_SIZE|MASTER_ADDR|TORCHELASTIC_[A-Z_]*|OMP_NUM_THREADS)=' | sort | tr '\n' ' '
END
expect 0 "${tcp[@]}" --max-restarts 3 --rdzv-id job --role trainer \
	--local-ranks-filter 1 "$scratch/variables"
wanted='GROUP_RANK=0 GROUP_WORLD_SIZE=1 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 '
wanted+='MASTER_ADDR=127.0.0.1 OMP_NUM_THREADS=1 RANK=1 ROLE_NAME=trainer '
wanted+='ROLE_RANK=1 ROLE_WORLD_SIZE=2 TORCHELASTIC_MAX_RESTARTS=3 '
wanted+='TORCHELASTIC_RESTART_COUNT=0 TORCHELASTIC_RUN_ID=job '
wanted+='TORCHELASTIC_USE_AGENT_STORE=False WORLD_SIZE=2 '
[ "$(cat "$scratch/out")" = "$wanted" ] || fail "variables: $(cat "$scratch/out")"
OMP_NUM_THREADS=7 expect 0 "${tcp[@]}" "$scratch/variables"
expect_out 'OMP_NUM_THREADS=7'

free_port
program master <<<'echo "$MASTER_PORT"'
expect 0 run --master-port "$port" "$scratch/master"
expect_out "^$port$"
expect 0 run --rdzv-endpoint "localhost:$port" "$scratch/master"
expect_out "^$port$"

# Variables of torchrun stand for options, which win.
program size <<<'echo "size $WORLD_SIZE, at most $TORCHELASTIC_MAX_RESTARTS"'
PET_NPROC_PER_NODE=3 PET_MAX_RESTARTS=2 expect 0 run "$scratch/size"
expect_out '^size 3, at most 2$'
PET_NPROC_PER_NODE=3 expect 0 "${tcp[@]}" "$scratch/size"
expect_out '^size 2, at most 0$'
PET_NNODES=x expect_refusal 'nnodes' run hello
expect 0 run --nproc-per-node cpu "$scratch/size"
expect_out "^size $(nproc),"
if [ -e /dev/nvidia0 ]; then
	expect 0 run --nproc-per-node gpu "$scratch/size"
else
	expect_refusal 'no GPU' run --nproc-per-node gpu "$scratch/size"
fi

# Simulated nodes are ranks of one world.
platform=star-8
expect 0 run --backend sim --platform "$platform" --nnodes 2 \
	--nproc-per-node 3 --node-rank 0 --rdzv-backend c10d --tee 0 hello
expect_out '^6 ranks over sim'

# ---- restarts

program third <<'END'
echo "start $TORCHELASTIC_RESTART_COUNT"
[ "$RANK" -ne 1 ] || [ "$TORCHELASTIC_RESTART_COUNT" -eq 2 ]
END
expect 0 "${tcp[@]}" --max-restarts 2 "$scratch/third"
expect_out '^start 2$'
expect_err '^lockstep: rank 1 exited with status 1; restart 1 of 2$'
expect_err '^lockstep: rank 1 exited with status 1; restart 2 of 2$'
expect 1 "${tcp[@]}" --max-restarts 1 "$scratch/third"
expect_err '^lockstep: rank 1 exited with status 1$'

# A program of ours meets anew after each restart, and the verdict is on the
# last of them.
endless=$(dirname "$LOCKSTEP")/tests/cli/endless
mkdir "$scratch/endless"
program die <<END
[ "\$TORCHELASTIC_RESTART_COUNT" -eq 1 ] || [ "\$RANK" -ne 1 ] || exec sh -c 'kill -11 \$\$'
[ "\$TORCHELASTIC_RESTART_COUNT" -eq 0 ] || [ "\$RANK" -ne 0 ] || {
	(while ! grep -qs joined $scratch/endless/*; do sleep 0.02; done
	kill -9 \$\$) &
}
exec $endless $scratch/endless
END
expect 13 "${tcp[@]}" --max-restarts 1 "$scratch/die"
expect_err 'rank 1 was killed by signal 11.*; restart 1 of 1$'
expect_err 'rank 0 was killed by signal 9'
rm -rf "$scratch/endless"

# ---- the list of failures

program fail <<'END'
[ "$RANK" -eq 0 ] || kill -9 $$
exec sleep 60
END
expect 13 "${tcp[@]}" "$scratch/fail"
expect_err "^$scratch/fail FAILED\$"
expect_err '^  <NO_OTHER_FAILURES>$'
expect_err '^Root Cause \(first observed failure\):$'
expect_err '^  time      : 20[0-9]{2}-[0-9]{2}-[0-9]{2}_[0-9:]{8}$'
expect_err '^  rank      : 1 \(local_rank: 1\)$'
expect_err '^  exitcode  : -9 \(pid: [0-9]+\)$'
expect_err '^  traceback : Signal 9 \(Killed\) received by PID [0-9]+$'

# Where there is a verdict, its rank is the cause, not whoever failed first or
# at all: here rank 3 of 4 ends well, in another call than the others.
programs=$(dirname "$LOCKSTEP")/tests/programs/programs
expect 10 run --backend tcp --nproc-per-node 4 "$programs" reduce_for_all_reduce
expect_err '^Root Cause \(by the verdict above\):$'
[ "$(sed -n '/^Root Cause/,$ s/^  rank *: //p' "$scratch/err")" = '3 (local_rank: 3)' ] ||
	fail "the cause is not the rank of the verdict"

# ---- where output goes

program talk <<'END'
echo "out $RANK"
echo "err $RANK" >&2
[ "$TORCHELASTIC_RESTART_COUNT" -eq 1 ]
END
log() { # attempt, rank, file
	cat "$scratch"/logs/job_*/attempt_"$1"/"$2"/"$3" 2>/dev/null
}
expect 0 "${tcp[@]}" --max-restarts 1 --log-dir "$scratch/logs" --rdzv-id job \
	--redirects 0:1,1:2 --tee 0:2 "$scratch/talk"
[ "$(log 1 0 stdout.log)" = 'out 0' ] || fail "stdout of rank 0 is in no file"
compgen -G "$scratch/logs/job_*/attempt_0/0/stdout.log" >/dev/null ||
	fail "no attempt_0"
[ "$(log 1 0 stderr.log)" = 'err 0' ] || fail "stderr of rank 0 is in no file"
[ "$(log 1 1 stderr.log)" = 'err 1' ] || fail "stderr of rank 1 is in no file"
[ -z "$(log 1 1 stdout.log)" ] || fail "stdout of rank 1 is in a file"
expect_out '^out 1$'
expect_err '^\[default0\]:err 0$'
! grep -q 'out 0' "$scratch/out" || fail "stdout of rank 0 was to be in a file"
! grep -q 'err 1' "$scratch/err" || fail "stderr of rank 1 was to be in a file"
rm -rf "$scratch/logs"

expect 0 "${tcp[@]}" --max-restarts 1 --log-dir "$scratch/logs" --rdzv-id job \
	--tee 3 --role w --local-ranks-filter 1 "$scratch/talk"
expect_out '^\[w1\]:out 1$'
! grep -v '^\[w1\]:' "$scratch/out" || fail "rank 0 was not to be shown"
[ "$(log 1 0 stdout.log)" = 'out 0' ] || fail "rank 0 was to be in a file"
rm -rf "$scratch/logs"
expect 13 "${tcp[@]}" --log-dir "$scratch/logs" --redirects 2 "$scratch/fail"
expect_err '^  log_file  : .*/attempt_0/1/stderr.log$'
rm -rf "$scratch/logs"
TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE='<${role_name} ${rank}.${local_rank}> ' \
	expect 0 "${tcp[@]}" --max-restarts 1 --log-dir "$scratch/logs" -t 1 \
	"$scratch/talk"
expect_out '^<default 1.1> out 1$'
rm -rf "$scratch/logs"
TMPDIR=$scratch expect 0 "${tcp[@]}" --max-restarts 1 -r 1 "$scratch/talk"
[ ! -s "$scratch/out" ] || fail "-r 1 was to hide stdout"
grep -q 'out' "$scratch"/lockstep_none_*/attempt_0/*/stdout.log ||
	fail "no logs below the temporary folder"
rm -rf "$scratch"/lockstep_none_*
: >"$scratch/file"
expect 2 "${tcp[@]}" --log-dir "$scratch/file" "$scratch/talk"
expect_err "--log-dir: expected a folder that can be written to, not \"$scratch/file\""

# ---- mpirun and srun, whose variables are faked

free_port
for rank in 0 1; do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 \
		OMPI_COMM_WORLD_LOCAL_SIZE=2 MASTER_PORT=$port \
		timeout 250 "$LOCKSTEP" run hello >"$scratch/out$rank" 2>&1 &
done
wait
cat "$scratch"/out[01] >"$scratch/out"
expect_out '^2 ranks over tcp'
for rank in 0 1 2; do
	SLURM_PROCID=$rank SLURM_STEP_NUM_TASKS=3 SLURM_JOB_ID=$$ \
		SLURM_STEP_ID=0 SLURM_STEP_NODELIST=localhost \
		timeout 250 "$LOCKSTEP" run hello >"$scratch/out$rank" 2>&1 &
done
wait
cat "$scratch"/out[012] >"$scratch/out"
expect_out '^3 ranks over tcp'
# With a word about ranks they are ours.
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 expect 0 "${tcp[@]}" hello
expect_out '^2 ranks over tcp'
if command -v mpirun >/dev/null; then
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 250 \
		mpirun --oversubscribe -n 3 "$LOCKSTEP" run hello \
		>"$scratch/out" 2>"$scratch/err"
	expect_out '^3 ranks over tcp'
else
	echo "no mpirun here: tried with its variables only"
fi

# ---- signals

program stay <<END
trap '' TERM
echo \$\$ >>$scratch/pids
while :; do sleep 0.1; done
END
all_started() {
	[ "$(wc -l <"$scratch/pids")" -eq 2 ]
}
for signal in TERM INT HUP QUIT; do
	rm -f "$scratch/pids"
	# Asynchronous commands of a script ignore SIGINT and SIGQUIT.
	env --default-signal=INT,QUIT "$LOCKSTEP" run --nproc-per-node 2 \
		--max-restarts 3 "$scratch/stay" >"$scratch/out" 2>&1 </dev/null &
	launcher=$!
	wait_for all_started || fail "SIG$signal: the ranks did not start"
	kill -s "$signal" $launcher
	wait $launcher
	status=$?
	[ $status -eq $((128 + $(kill -l $signal))) ] ||
		fail "SIG$signal: status $status"
	while read -r pid; do
		! kill -0 "$pid" 2>/dev/null || fail "SIG$signal: $pid is left"
	done <"$scratch/pids"
done

finish
