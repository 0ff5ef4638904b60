# Completion of the lockstep command for bash: the command says what there is.
# shellcheck shell=bash

_lockstep() {
	local word=${COMP_WORDS[COMP_CWORD]}

	mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" complete \
		"${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)" -- "$word")
}

complete -o default -F _lockstep lockstep
