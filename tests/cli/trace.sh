#!/bin/bash
# Traces: shown, drawn, compared; what is no trace is refused.
. tests/cli/support.bash

platform=star-8
sim=(run --backend sim --platform "$platform")
: "${scratch:?}"
a=$scratch/a.json.gz b=$scratch/b.json.gz

# The same simulation twice: the same bytes, and nothing to tell apart.
for trace in "$a" "$b"; do
	expect 0 "${sim[@]}" --nproc-per-node 4 --trace "$trace" all_reduce
done
cmp -s "$a" "$b" || fail "two equal simulations, two different traces"
expect 0 compare "$a" "$b" --max-error 0%
expect_out 'same calls in the same order'
expect_out 'worst 0.0 %'
expect_out 'platform: '
expect 0 compare "$a" "$b" --json --calls
expect_out '"passed": true'

# Another world is another job.
expect 0 "${sim[@]}" --nproc-per-node 3 --trace "$b" all_reduce
expect 1 compare "$a" "$b"
expect_out 'world sizes differ: predicted 4, measured 3'

# Remote calls have no order, and rows by function, beside those of calls.
expect 0 "${sim[@]}" --nproc-per-node 4 --trace "$scratch/sim.json" \
	tutorial_rpc_batch
expect 0 run --nproc-per-node 4 --trace "$scratch/tcp.json" tutorial_rpc_batch
expect 0 compare "$scratch/sim.json" "$scratch/tcp.json"
expect_out '^update_and_fetch +150 +150 +[0-9.]+ .s +[0-9.]+ .s +[0-9.]+ '
expect 0 compare "$scratch/sim.json" "$scratch/sim.json" --json
jq -e '.remote[] | select(.function == "update_and_fetch") |
	.predicted_calls == 150 and .ratio == 1 and
	.predicted_ns == .measured_ns and .predicted_ns > 0' "$scratch/out" \
	>"$scratch/jq" || fail 'compare --json: no row of a function'
jq -e '.wall.predicted_ns > 0' "$scratch/out" >"$scratch/jq" ||
	fail 'compare --json: no time from first start to last end'

expect 0 trace show "$a"
expect_out '^all_reduce '
expect 0 trace show "$a" --calls
expect_out ' all_reduce\(float'
expect 0 trace show "$a" --json
expect_out '"world_size": 4'
expect 0 trace show "$a" --tsv "$scratch/calls.tsv"
[ "$(wc -l <"$scratch/calls.tsv")" -eq "$("$LOCKSTEP" trace show "$a" --calls --json |
	jq '.calls | length + 1')" ] || fail "not every call in TSV"
expect 0 trace path "$a" --markdown
expect_out '^\| at_ms \| took_ms \| rank \| what \| why then \|$'
expect 0 trace gantt "$a" --tsv "$scratch/bars.tsv"
head -n 1 "$scratch/bars.tsv" | grep -q "^rank	track	start_ms	end_ms	label$" ||
	fail "gantt: $(head -n 1 "$scratch/bars.tsv")"
expect 0 trace path "$a"
expect_out '^critical path: .* ms computing \+ .* ms moving$'
expect 0 trace path "$a" --json
jq -e '(.compute_ms + .move_ms + .other_ms) as $sum |
	([.legs[].took_ms] | add) - $sum | fabs < 1e-6' "$scratch/out" \
	>/dev/null || fail "path: the legs are not the sum"
expect 0 trace path "$a" --from 0.001
expect_out '^ *0\.001 '

if command -v gnuplot >/dev/null; then
	for suffix in svg png; do
		expect 0 trace gantt "$a" -o "$scratch/bars.$suffix"
		expect 0 compare "$a" "$a" --plot "$scratch/times.$suffix"
		[ -s "$scratch/bars.$suffix" ] || fail "no bars.$suffix"
		[ -s "$scratch/times.$suffix" ] || fail "no times.$suffix"
	done
fi

# Ended while gnuplot draws: no picture, and no part of one.
mkdir "$scratch/bin" "$scratch/killed"
cat >"$scratch/bin/gnuplot" <<'END'
#!/bin/sh
picture=${2#*output=\'}
echo half >"${picture%%\'*}"
kill -TERM $PPID
END
chmod +x "$scratch/bin/gnuplot"
(PATH=$scratch/bin:$PATH && lockstep trace gantt "$a" -o "$scratch/killed/a.svg")
[ "$(ls "$scratch/killed")" = a.tsv ] ||
	fail "gantt, killed: left $(ls "$scratch/killed")"

echo '{"traceEvents": [{"ph": }]}' >"$scratch/bad.json"
gzip -dc "$a" | head -c 3000 >"$scratch/cut.json"
head -c 500 "$a" >"$scratch/cut.json.gz"
expect_refusal 'bad.json:1:[0-9]+: ' trace show "$scratch/bad.json"
expect_refusal 'cut.json:[0-9]+:[0-9]+: the file ends too early' \
	trace show "$scratch/cut.json"
expect_refusal 'cut.json.gz:[0-9]+:[0-9]+: the compressed data is damaged' \
	compare "$a" "$scratch/cut.json.gz"
expect_refusal 'nonexistent: cannot be read' compare "$a" /nonexistent
expect_refusal 'expected show, gantt or path' trace frobnicate "$a"
expect_refusal 'expected one trace' trace show
expect_refusal 'expected two traces' compare "$a"
expect_refusal 'max-error: expected a percentage' compare "$a" "$b" --max-error ten
expect_refusal 'ends in .svg or .png' trace gantt "$a" -o "$scratch/x.pdf"
expect_refusal 'a range of ranks' trace gantt "$a" --ranks 3-1 --tsv "$scratch/x"
expect_refusal 'no events of these ranks' trace gantt "$a" --ranks 7 -o "$scratch/y.svg"
for left in "$scratch"/x* "$scratch"/y* "$scratch"/*.tmp*; do
	[ ! -e "$left" ] || fail "left behind: $left"
done

# A disk that is full: one line says so, and nothing is left of the parts.
ln -s /dev/full "$scratch/full.json"
for world in 'tcp' 'sim --platform star-8'; do
	# shellcheck disable=SC2086 # words
	expect 1 run --backend $world --nproc-per-node 2 \
		--trace "$scratch/full.json" hello
	expect_err '^lockstep: .*full\.json: cannot be written: No space left'
	[ "$(wc -l <"$scratch/err")" -eq 1 ] ||
		fail "$world: not one line: $(cat "$scratch/err")"
done
# The verdict on the job comes first.
expect 10 run --backend sim --platform star-8 --trace "$scratch/full.json" \
	--nproc-per-node 3 mismatch
[ -z "$(find "$scratch" -name 'full.json.*')" ] || fail "parts are left"

# A job of which a rank is killed leaves what its ranks had, that one too; and so
# does one that is ended from outside, also in simulation.
mkdir "$scratch/ranks"
trace=$scratch/killed.json
simulated='--backend sim --platform star-8'
for signal in 9 15 "15 $simulated" "1 $simulated"; do
	rm -f "$scratch/ranks"/*
	read -r signal words <<<"$signal"
	# shellcheck disable=SC2086 # words
	"$LOCKSTEP" run $words --trace "$trace" --nproc-per-node 3 \
		"$(dirname "$LOCKSTEP")/tests/cli/endless" "$scratch/ranks" \
		>"$scratch/out" 2>"$scratch/err" </dev/null &
	id=$!
	for rank in 0 1 2; do
		wait_for grep -q joined "$scratch/ranks/$rank" ||
			fail "rank $rank did not join"
	done
	sleep 0.2
	victim=$id wanted=$((128 + signal))
	if [ "$signal" -eq 9 ]; then
		victim=$(sed -n 's/^start \([0-9]*\) .*/\1/p' "$scratch/ranks/1")
		wanted=13
	fi
	kill "-$signal" "$victim"
	wait $id
	status=$?
	[ $status -eq $wanted ] || fail "signal $signal: status $status"
	for rank in 0 1 2; do
		grep -q "\"pid\":$rank,.*\"allreduce\"" "$trace" ||
			grep -q "allreduce.*\"pid\":$rank" "$trace" ||
			fail "signal $signal: nothing of rank $rank"
	done
	expect 0 trace show "$trace"
	expect_out '3 ranks'
	left=$(find "$scratch" -name 'killed.json.*')
	[ -z "$left" ] || fail "left: $left"
	rm -f "$trace"
done

finish
