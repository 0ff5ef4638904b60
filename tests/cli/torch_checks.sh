#!/bin/bash
# What PyTorch builds on a process group works on ours: functions of
# tests/torch/check_*.py, each in a world of four forks that meet in a file, with
# no launcher. ALL=yes: all of them, for torch 2.13.
. tests/cli/support.bash
needs_torch 1.13

export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore PYTHONPATH=$PWD/python
export LOCKSTEP_TORCH_BACKEND_AS=gloo MALLOC_PERTURB_=165 # freed memory is no use
LOCKSTEP_LIBRARY=$(dirname "$LOCKSTEP")/liblockstep.so
export LOCKSTEP_LIBRARY

# check NAME FUNCTION... - of check_NAME.py.
check() {
	local file=tests/torch/check_$1.py
	shift
	[ "${ALL-}" != yes ] || set --
	timeout 600 "$python" "$file" "$@" >"$scratch/out" 2>"$scratch/err" ||
		fail "$file: $(grep -v '^ok ' "$scratch/out") $(tail -n 5 "$scratch/err")"
}

PYTHONPATH=$PYTHONPATH:$PWD/tests/torch/light check c10d dropped dropped_messages from_a_thread_of_c futures messages objects options_of_gloo called_directly columns several_tensors words_of_gloo debug_detail made_directly kind_of_error subgroups twice prefixed given_up
case $torch in
1.* | 2.[0-5].*) ;;
*)
	fsdp2="fsdp2_with_tp comm_debug_mode"
	[[ $torch != 2.6.* ]] || fsdp2= # that of 2.6 asks for a GPU's streams
	# shellcheck disable=SC2086 # words
	check training ddp_hooks ddp_logging compiled_ddp ddp_beside_another join $fsdp2 pipeline_1f1b checkpoint_async
	[ "${ALL-}" != yes ] || check functional
	;;
esac

finish
