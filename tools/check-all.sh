#!/bin/bash
# check-all.sh MAKE PART ... - run `MAKE check-PART` for every part, then say
# for each whether it passed. The last line is "N passed, N failed".
set -u

make=$1
shift
passed=0 failed=0 lines=()
for part; do
	# shellcheck disable=SC2086 # the command has words
	if $make -k "check-$part"; then
		passed=$((passed + 1))
		lines+=("pass  check-$part")
	else
		failed=$((failed + 1))
		lines+=("FAIL  check-$part")
	fi
done
printf '%s\n' "${lines[@]}"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
