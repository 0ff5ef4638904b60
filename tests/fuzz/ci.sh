#!/bin/bash
# Every reader is fed with mutants of its corpus for FUZZ_SECONDS (10), two
# readers at a time.
fuzz=$(dirname "$LOCKSTEP")/tests/fuzz/fuzz

set -o pipefail
"$fuzz" list | xargs -P 2 -I NAME "$fuzz" NAME \
	--seconds "${FUZZ_SECONDS:-10}" --seed "${FUZZ_SEED:-1}"
