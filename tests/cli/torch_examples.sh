#!/bin/bash
# The scripts of python/examples/ print over ours what they print on plain Gloo.
. tests/cli/support.bash
needs_torch 1.13

unset PYTHONUNBUFFERED # it breaks lines in two
export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore MASTER_ADDR=127.0.0.1
export PYTHONPATH=$PWD/tests/torch/light
examples=$PWD/python/examples
commands=(send_recv.py collectives.py 'gpt2.py --steps 2')
case $torch in
1.* | 2.[0-5].*) ;;
2.6.*) commands+=('gpt2.py --steps 2 --parallel tp') ;;
*) commands+=('gpt2.py --steps 2 --parallel fsdp2'
	'gpt2.py --steps 2 --parallel tp') ;;
esac
# Debian's is built without libuv.
case $torch in
*debian*) plain=(env USE_LIBUV=0) ;;
*) plain=() ;;
esac
# ALL=yes: the others, too.
[ "${ALL-}" != yes ] || commands+=('ring.py --numel 10'
	"ddp.py --checkpoint $scratch/checkpoint --steps 4"
	'mnist.py --images 128 --epochs 1' 'imagenet.py --images 32 --epochs 1')

# On plain Gloo, as PyTorch's own launcher would start two ranks.
free_port
mkdir "$scratch/left" "$scratch/left_ours"
MASTER_PORT=$port WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 "${plain[@]}" timeout 250 \
	"$python" tests/torch/examples.py "$scratch/left" "${commands[@]}" \
	>"$scratch/gloo.txt" 2>"$scratch/err" ||
	fail "plain Gloo: $(tail -n 5 "$scratch/err")"
sort "$scratch/gloo.txt" >"$scratch/gloo"
grep -qx 'step 1: loss 5.45713' "$scratch/gloo" || fail 'GPT-2 did not train'

# The same scripts, which say gloo, over ours.
warm_torch torch._dynamo torch.optim torch.distributed.fsdp torch.distributed.tensor.parallel
expect 0 run --nproc-per-node 2 --torch-backend-as gloo \
	"$python" tests/torch/examples.py "$scratch/left_ours" "${commands[@]}"
sort "$scratch/out" | diff "$scratch/gloo" - || fail 'ours prints otherwise than Gloo'

# Ranks that a script starts itself, under the launcher.
printf '%s\n' "rank 0 of 2: the ranks' sum is 1" "rank 1 of 2: the ranks' sum is 1" >"$scratch/want"
expect 0 run --nproc-per-node 1 --torch-backend-as gloo \
	"$python" "$examples/spawn.py" --start-method fork
sort "$scratch/out" | diff "$scratch/want" - || fail "spawn.py: $(tail -n 5 "$scratch/err")"

finish
