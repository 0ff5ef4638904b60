#!/bin/bash
# Programs in Python, without torch: which words are one, who runs it, what it
# finds in its environment.
# shellcheck disable=SC2016 # what programs expand
. tests/cli/support.bash

command -v python3 >/dev/null || {
	echo "no python3"
	exit 77
}
[ "$SANITIZED" = no ] || {
	echo "Python cannot load a library with sanitizers"
	exit 77
}
cd "$scratch" || exit 1
folder=$(realpath "$OLDPWD/python")

cat >train.py <<'END_PY'
import os, sys
print(os.environ["RANK"], *sys.argv, os.environ["LOCKSTEP_JOB"])
END_PY
cp train.py hello.py

# ---- what is a Python program

expect 0 run --nproc-per-node 2 train.py --lr 1
expect_out '^0 train.py --lr 1 train.py$'
expect_out '^1 train.py --lr 1 train.py$'
expect_err '^lockstep run: OMP_NUM_THREADS=1 for each rank'
expect 0 run ./train.py
expect_out '^0 ./train.py train.py$'
[ ! -s err ] || fail "one rank: $(cat err)"
expect 0 run python3 -X utf8 train.py x
expect_out '^0 train.py x train.py$'
PYTHONPATH=$scratch expect 0 run -m train x
expect_out '^0 .*train.py x train$'
# A scenario has its name, a module may have the same.
PYTHONPATH=$scratch expect 0 run --module hello
expect_out '^0 .*hello.py hello$'
expect 0 run hello
expect_out '^1 ranks over'
# Any program that a shell would find.
expect 0 run sh -c 'echo "rank $RANK"'
expect_out '^rank 0$'

expect_refusal '^lockstep run: no file "absent.py"$' run absent.py
expect_refusal '^lockstep run: no file "absent.py"$' run --nproc-per-node 4 \
	python3 -u absent.py --lr 1
expect_refusal 'no scenario and no program "absent"' run absent
expect_refusal 'train.py: expected a program that may be executed' run --no-python train.py
expect_refusal '-m and --no-python' run -m --no-python train
expect_refusal '--torch-backend-as: expected gloo, nccl, .*, not "gloo,mpi"' \
	run --torch-backend-as gloo,mpi train.py
PYTHON_EXEC=python9 expect_refusal 'no python9 to run train.py with' run train.py
{ echo '#!/bin/sh' && echo 'echo "by itself $1"'; } >itself.py
chmod +x itself.py
expect 0 run --no-python ./itself.py x
expect_out '^by itself x$'
echo 'echo "another, $*"' | program another
PYTHON_EXEC=$scratch/another expect 0 run train.py x
expect_out '^another, -u train.py x$'

# ---- what it finds

cat >look.py <<'END_PY'
import os, sys
print(os.environ["PYTHONPATH"])
print("as", os.environ.get("LOCKSTEP_TORCH_BACKEND_AS"))
print("library", os.path.exists(os.environ["LOCKSTEP_LIBRARY"]))
print([name for name in ("torch", "lockstep", "inspect") if name in sys.modules])
END_PY
expect 0 run look.py
expect_out '^as gloo$'
expect 0 run --torch-backend-as none look.py
expect_out '^as $'
LOCKSTEP_TORCH_BACKEND_AS=nccl expect 0 run look.py
expect_out '^as nccl$'
expect 0 run --torch-backend-as gloo,nccl look.py
[ "$(cat out)" = "$folder
as gloo,nccl
library True
[]" ] || fail "environment: $(cat out)"
expect 0 run "$LOCKSTEP" run look.py
expect_out "^$folder\$"

# The user's own sitecustomize is imported as well, its errors are his.
mkdir mine
cat >mine/sitecustomize.py <<'END_PY'
import sys
sys.mine = __file__
END_PY
cat >ask.py <<'END_PY'
import sitecustomize, sys
print(sys.mine == sitecustomize.__file__, sys.path[2:3])
END_PY
PYTHONPATH=mine expect 0 run ask.py
expect_out "^True \['$scratch/mine'\]\$"
echo 'raise ValueError("broken")' >mine/sitecustomize.py
PYTHONPATH=mine expect 0 run train.py
expect_err 'Error in sitecustomize'
expect_out '^0 train.py'

# ---- how it ends

echo 'import sys; sys.exit(7)' >exits.py
expect 1 run exits.py
expect_err '^lockstep: rank 0 exited with status 7$'
expect_err '^exits.py FAILED$'
cat >raises.py <<'END_PY'
import os
def check(rank):
    if rank:
        raise ValueError("no luck\nat all")
check(os.environ["RANK"] == "1")
END_PY
expect 1 run --nproc-per-node 2 raises.py
expect_err '^lockstep: rank 1 exited with status 1: ValueError: no luck$'
expect_err '^  traceback : ValueError: no luck$'
expect_err '^              at all$'
expect_err "^              at $scratch/raises.py:4 in check\$"
echo 'raise ValueError("x" * 200)' >long.py
expect 1 run long.py
expect_err '^lockstep: rank 0 exited with status 1: ValueError: x{80,100}\.\.\.$'
echo 'raise ModuleNotFoundError("No module named torch", name="torch")' >torchless.py
expect 1 run torchless.py
expect_err '^              /.*/python3[0-9.]* has no torch: PYTHON_EXEC names another Python$'
echo 'import os; os.abort()' >aborts.py
expect 13 run aborts.py
expect_err '^  traceback : Signal 6'

# ---- where it is

cat >busy.py <<'END_PY'
import os, subprocess, sys, time
def wait():
    while True:
        time.sleep(0.01)
# A child of a rank does not answer for it, nor does it die.
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print("here", flush=True)
wait()
END_PY
"$LOCKSTEP" run --nproc-per-node 2 busy.py >out 2>err &
job=$!
wait_for sh -c '[ "$(grep -c here out)" = 2 ]' || fail "the ranks do not start"
kill -USR1 $job
for rank in 0 1; do
	wait_for grep -q "^Python stacks of rank $rank (process [0-9]*)\$" err ||
		fail "no stacks of rank $rank: $(cat err)"
done
[ "$(grep -cE '^    File ".*busy.py", line 4 in wait$' err)" = 2 ] ||
	fail "not both are in wait(): $(cat err)"
kill -TERM $job
wait $job
[ $? -eq 143 ] || fail "it did not go on"

finish
