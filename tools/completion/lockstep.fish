# Completion of the lockstep command for fish: the command says what there is.

function __lockstep_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l found ($words[1] complete $words[2..-1] 2>/dev/null)
	if test (count $found) -gt 0
		string join \n -- $found
	else
		__fish_complete_path (commandline -ct)
	end
end

complete -c lockstep -f -a '(__lockstep_complete)'
