# Completion of the lockstep command for bash.
# shellcheck shell=bash

_lockstep_list() {
	lockstep list "$1" --json 2>/dev/null |
		sed -n 's/.*"name": *"\([^"]*\)".*/\1/p'
}

_lockstep() {
	local word=${COMP_WORDS[COMP_CWORD]}
	local before=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]}
	local words=

	if [ "$COMP_CWORD" -eq 1 ]; then
		words="run predict sweep bench check explore diagnose calibrate
			compare validate trace platform testbed list help --help
			--version"
	elif [[ $before == --backend ]]; then
		words="sim tcp nccl"
	elif [[ $before == --fidelity ]]; then
		words="auto message flow formula"
	elif [[ $before == --debug ]]; then
		words="off info detail"
	elif [[ $before == --rdzv-backend ]]; then
		words="static c10d"
	elif [[ $before == --nproc-per-node ]]; then
		words="auto cpu gpu"
	elif [[ $before == --platform ]]; then
		words=$(_lockstep_list platforms)
	elif [[ $before == --profile ]]; then
		words=$(_lockstep_list profiles)
	elif [[ $before == --model ]]; then
		words=$(_lockstep_list models)
	elif [[ $before == --machine ]]; then
		words=$(_lockstep_list machines)
	elif [[ $before == --workload ]]; then
		words="ddp_step fsdp hybrid moe pipeline ps
			tensor_parallel"
	elif [[ $before == --schedule ]]; then
		words="gpipe 1f1b"
	elif [[ $before == --comm-hook ]]; then
		words="allreduce fp16_compress bf16_compress"
	elif [[ $before == --precision ]]; then
		words="fp32 tf32 amp"
	elif [[ $before == --intra && $command != platform ]]; then
		words="shm tcp"
	elif [[ $before == --bind-to ]]; then
		words="none core"
	elif [[ $before == --intra ]]; then
		words="nvswitch: cube-mesh: pcie:"
	elif [[ $before == --inter ]]; then
		words="ib: roce: efa: tcp:"
	elif [[ $before == --topology ]]; then
		words="star leaf-spine: fat-tree: dragonfly:"
	elif [[ $command == platform && ${COMP_WORDS[2]} == new ]]; then
		words=$(lockstep platform new --help 2>/dev/null |
			grep -oE -- '--[a-z][a-z-]*')
	elif [[ $word == -* ]]; then
		words=$(lockstep "$command" --help 2>/dev/null |
			grep -oE -- '--[a-z][a-z-]*')
	elif [[ $command == help ]]; then
		words="run predict sweep bench check explore diagnose calibrate
			compare validate trace platform testbed list"
	elif [[ $command == list ]]; then
		words="backends scenarios algorithms models platforms profiles machines
			measured studies"
	elif [[ $command == platform && $COMP_CWORD -eq 2 ]]; then
		words="list show new"
	elif [[ $command == platform ]]; then
		words=$(_lockstep_list platforms)
	elif [[ $command == testbed && $COMP_CWORD -eq 2 ]]; then
		words="up show exec down run platform"
	elif [[ $command == sweep ]]; then
		words=$(_lockstep_list studies)
	elif [[ $command == trace && $COMP_CWORD -eq 2 ]]; then
		words="show gantt path"
	elif [[ $command == validate ]]; then
		words=$(_lockstep_list measured)
	elif [[ $command == run || $command == explore ]]; then
		words=$(_lockstep_list scenarios)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _lockstep lockstep
