#!/bin/bash
# A sweep answers every point as predict does, gives the same bytes however it
# was run, loses nothing when it is ended, and refuses a bad study by its line.
. tests/cli/support.bash

cat >"$scratch/small.yaml" <<'END'
title: A small study
predict:
  model: mnist
  platform: star-8
  flops: 60e12
grid:
  world-size: 1..8 *2
  algorithm: [ring, double_tree]
  batch: [16, 32]
END
study=$scratch/small.yaml

same() { # DIR - holds the results of $scratch/a
	for file in "$scratch"/a/*; do
		case $file in *.jsonl) continue ;; esac
		cmp -s "$file" "$1/${file##*/}" ||
			fail "${file##*/} differs in ${1##*/}"
	done
}

expect 0 sweep "$study" -o "$scratch/a" --jobs 2
expect_out 'a/points\.tsv$'
expect_out 'a/report\.html$'
[ "$(grep -c '^[0-9]' "$scratch/a/points.tsv")" -eq 16 ] || fail "not 16 points"

# A point is what predict answers.
expect 0 predict --model mnist --platform star-8 --world-size 4 --flops 60e12 \
	--algorithm double_tree --batch 16 --json
step=$(jq '.rows[0].step_ms' "$scratch/out")
awk -F'\t' -v step="$step" '
	NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 2 && $at["world-size"] == 4 && $at["algorithm"] == "double_tree" &&
	$at["batch"] == 16 { d = $at["step_ms"] - step; found = d * d < 1e-11 }
	END { exit !found }' "$scratch/a/points.tsv" ||
	fail "the point is not predict's $step ms"

# The page stands alone, is well formed, and tells what it stands on.
for name in scaling-1 scaling-2 breakdown; do
	for suffix in svg png tsv; do
		[ -s "$scratch/a/$name.$suffix" ] || fail "no $name.$suffix"
	done
done
xmllint --noout "$scratch/a/report.html" || fail "the page is not well formed"
for words in 'A small study' 'star-8, 8 hosts' 'message: every message' \
	'batch: \[16, 32\]' 'IEEE 802.3by' 'data:image/svg'; do
	grep -q "$words" "$scratch/a/report.html" || fail "no \"$words\""
done
grep -qE '(href|src)="[^d#]' "$scratch/a/report.html" &&
	fail "the page needs other files"

# Again, in one job, in another place; nothing is done twice.
expect 0 sweep "$study" -o "$scratch/b" --jobs 1
same "$scratch/b"
cp "$scratch/a/journal.jsonl" "$scratch/journal"
expect 0 sweep "$study" -o "$scratch/a"
cmp -s "$scratch/a/journal.jsonl" "$scratch/journal" || fail "done twice"

# The points for a program, and for a page.
expect 0 sweep "$study" -o "$scratch/a" --json
jq -e 'length == 16 and all(.[]; (.batch | type) == "number" and .step_ms > 0)' \
	"$scratch/out" >/dev/null || fail "points: $(cat "$scratch/out")"
expect 0 sweep "$study" -o "$scratch/a" --markdown
expect_out '^\| *point \|'

# In parts, told by flag and by the scheduler's variables; then put together.
expect 0 sweep "$study" -o "$scratch/parts" --part 1/3
expect_out 'part 1 of 3 is done; 10 of 16 points are missing'
expect 1 sweep --merge "$scratch/parts"
expect_err '10 of 16 points are missing'
SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=3 SLURM_JOB_ID=1 \
	expect 0 sweep "$study" -o "$scratch/parts"
expect_out 'part 2 of 3 is done; 5 of 16'
OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 \
	expect 0 sweep "$study" -o "$scratch/parts"
same "$scratch/parts"
rm "$scratch/parts/points.tsv"
expect 0 sweep --merge "$scratch/parts"
same "$scratch/parts"

# Killed in the middle: what was done is kept, the rest is done by the next.
sed 's/steps: .*//; s/batch: .*/batch: [16, 32]\n  steps: [1, 2, 3]/' "$study" \
	>"$scratch/long.yaml"
expect 0 sweep "$scratch/long.yaml" -o "$scratch/whole"
"$LOCKSTEP" sweep "$scratch/long.yaml" -o "$scratch/killed" --jobs 1 \
	>/dev/null 2>&1 &
sweep=$!
# shellcheck disable=SC2317 # called by wait_for
some_points() {
	[ "$(wc -l <"$scratch/killed/journal.jsonl")" -ge 4 ]
}
wait_for some_points
kill -9 $sweep
wait $sweep 2>/dev/null
kept=$(grep -c '"point"' "$scratch/killed/journal.jsonl")
[ "$kept" -lt 48 ] || fail "ended before it was killed"
# As a write that was cut off would leave it.
printf '{"point":40,"answ' >>"$scratch/killed/journal.jsonl"
# shellcheck disable=SC2317 # called by wait_for
again() {
	lockstep sweep "$scratch/long.yaml" -o "$scratch/killed"
	[ "$status" -eq 0 ]
}
wait_for again || fail "not resumed: $(cat "$scratch/err")"
cmp -s "$scratch/killed/points.tsv" "$scratch/whole/points.tsv" ||
	fail "resumed, it differs"
[ "$(grep -c '"point"' "$scratch/killed/journal.jsonl")" -eq 48 ] ||
	fail "points were done again"

# Another study does not take these points for its own.
sed 's/title: .*/title: Other words/' "$study" >"$scratch/words.yaml"
expect 0 sweep "$scratch/words.yaml" -o "$scratch/b"
sed 's/16, 32/16, 33/' "$study" >"$scratch/other.yaml"
expect_refusal 'b/journal\.jsonl:1: .*--restart' sweep "$scratch/other.yaml" \
	-o "$scratch/b"
expect 0 sweep "$scratch/other.yaml" -o "$scratch/b" --restart

# Nor do the points of a platform that was changed meanwhile.
cp scenarios/platforms/star-8.xml "$scratch/own.xml"
printf 'title: t\npredict: {model: mnist, flops: 60e12, platform: %s}\ngrid: {world-size: 2}' \
	"$scratch/own.xml" >"$scratch/own.yaml"
expect 0 sweep "$scratch/own.yaml" -o "$scratch/own"
expect 0 sweep "$scratch/own.yaml" -o "$scratch/own"
sed -i 's/3.125GBps/1.25GBps/' "$scratch/own.xml"
expect_refusal 'own/journal\.jsonl:1: .*--restart' sweep "$scratch/own.yaml" \
	-o "$scratch/own"

# Links of another speed are an axis, of the table, the curves and the page.
cat >"$scratch/speed.yaml" <<'END'
title: Faster links
predict: {model: mnist, flops: 60e12, platform: star-8, inter-latency: 5us}
grid:
  world-size: [2, 8]
  inter-bandwidth: [x0.5, 25G, 12.5GB/s]
END
expect 0 sweep "$scratch/speed.yaml" -o "$scratch/speed"
expect 0 predict --model mnist --platform star-8 --world-size 8 --json --flops 60e12 \
	--inter-latency 5us --inter-bandwidth 12.5GB/s
step=$(jq '.rows[0].step_ms' "$scratch/out")
awk -F'\t' -v step="$step" '
	NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i }
	$at["world-size"] == 8 { ms[$at["inter-bandwidth"]] = $at["step_ms"] }
	END { d = ms["12.5GB/s"] - step
	      exit !(ms["x0.5"] > ms["25G"] && ms["25G"] > step && d * d < 1e-11) }
' "$scratch/speed/points.tsv" || fail "points: $(cat "$scratch/speed/points.tsv")"
grep -q '^inter-bandwidth 12.5GB/s' "$scratch/speed/scaling.tsv" ||
	fail "no curve of its own"
for words in 'inter-bandwidth 25G, inter-latency 5us' '<td[^>]*>12.5GB/s<'; do
	grep -q "$words" "$scratch/speed/report.html" || fail "no \"$words\""
done

# What no device can do is marked, and never best: a model of 7 B that does not
# fit in 80 GB whole, and one that is computed faster than the peak.
cat >"$scratch/large.csv" <<'END'
parameter,numel,forward_flops
layers.0.w,3369000000,6738000000
layers.1.w,3369000000,6738000000
END
cat >"$scratch/fit.yaml" <<END
title: What fits
predict: {model: $scratch/large.csv, machine: hgx-h100-400g, fidelity: formula}
grid:
  world-size: [2, 8]
  workload: [ddp_step, fsdp]
END
expect 0 sweep "$scratch/fit.yaml" -o "$scratch/fit"
expect_out '^2 of 4 points are impossible: points.tsv says why$'
awk -F'\t' 'NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 2 { bad = $at["impossible"] != "-"
		needs = bad ? "^needs 107.8 GB .* has 85.9 GB$" : "^-$"
		if ($at["impossible"] !~ needs ||
		    bad != ($at["workload"] == "ddp_step")) exit 1
		rate[$at["workload"]] = $at["samples_per_s"]
		rows += bad }
	END { exit rows != 2 || rate["fsdp"] > rate["ddp_step"] }' "$scratch/fit/points.tsv" ||
	fail "points: $(cat "$scratch/fit/points.tsv")"
sed -n '/Best at each/,/<\/tbody>/p' "$scratch/fit/report.html" >"$scratch/best"
grep -q '>8</td><td[^>]*>fsdp<' "$scratch/best" || fail "the best is not best"
grep -q ddp_step "$scratch/best" && fail "the best cannot be"
grep -q '2 of them cannot be' "$scratch/fit/report.html" || fail "not told"
sed 's/fidelity/flops: 989e12, batch: 512, &/; s/8\]/8]\n  gpu: [H100, A100]/
	s/, fsdp\]/]/; s/ddp_step/fsdp/; s/\[2, /[/' "$scratch/fit.yaml" \
	>"$scratch/fast.yaml"
expect 0 sweep "$scratch/fast.yaml" -o "$scratch/fast"
expect_out '^1 of 2 points are impossible: points.tsv says why$'
grep -q 'A100.*	computes at 989 TFLOP/s, above the A100-SXM-80GB bf16 peak, 312' \
	"$scratch/fast/points.tsv" || fail "$(cat "$scratch/fast/points.tsv")"

# Nonsense is refused before anything runs.
bad() { # LINE PATTERN
	printf 'title: t\npredict: {model: mnist, flops: 60e12, platform: star-8}\n%s' \
		"grid: {world-size: [2]}" >"$scratch/bad.yaml"
	sed -i "$3" "$scratch/bad.yaml"
	expect_refusal "bad\.yaml:$1: .*$2" sweep "$scratch/bad.yaml" \
		-o "$scratch/bad"
	[ ! -e "$scratch/bad" ] || fail "left something: $3"
}
bad 3 'at most 8' 's/\[2\]/[2,9]/'
bad 3 'world-size' 's/\[2\]/[0]/'
bad 3 'world-size' 's/\[2\]/["2,4"]/'
bad 3 'world-size: expected FIRST\.\.LAST' 's/\[2\]/8..4/'
bad 2 'no-such' 's/mnist/no-such/'
bad 2 'no-such' 's/star-8/no-such/'
bad 3 'bucket-cap-mb: expected a number, 0 or more' 's/grid: {/&bucket-cap-mb: [1, -1], /'
bad 3 'batch' 's/grid: {/&batch: 4 MB, /'
bad 3 'unknown key "wombats" of grid: expected one of.* bucket-cap-mb' \
	's/grid: {/&wombats: 1, /'
bad 3 'unknown key "bucket-cap" of grid; did you mean "bucket-cap-mb"\?$' \
	's/grid: {/&bucket-cap: 1, /'
for value in 100 0G -1G x0 5us; do
	bad 3 "--inter-bandwidth: expected .* unit.* factor of x0.001 to x1000, not \"$value\"" \
		"s/grid: {/&inter-bandwidth: [25G, $value], /"
done
bad 3 '--inter-latency: expected .* above 0 and up to 10s' \
	's/grid: {/&inter-latency: [5us, 0us], /'
bad 3 'unknown key "uplink-bandwidth" of grid: .* inter-bandwidth inter-latency' \
	's/grid: {/&uplink-bandwidth: 25G, /'
bad 3 '--intra-bandwidth: .* has no links within nodes' \
	's/grid: {/&intra-bandwidth: [x1, x2], /'
bad 2 'unknown key "json"' 's/predict: {/&json: true, /'
bad 3 'algorithm.*no-such' 's/grid: {/&algorithm: [ring, no-such], /'
bad 2 'unknown key' 's/predict/frobs/'
bad 3 'workload no-such: expected' 's/grid: {/&workload: no-such, /'
bad 3 'per-tensor: expected true or false, not "maybe"' \
	's/grid: {/&per-tensor: maybe, /'

# The line is that of the option, whatever else its sentence names.
printf 'title: t\npredict:\n  workload: pipeline\n  model: bert_base\n%s' \
	"$(printf '  flops: 60e12\n  platform: star-8\n  micro-batches: 5
  batch: 32\ngrid: {world-size: [2, 4]}')" >"$scratch/bad.yaml"
expect_refusal 'bad\.yaml:7: --micro-batches 5: expected a divisor of --batch, 32' \
	sweep "$scratch/bad.yaml" -o "$scratch/bad"

# What comes with Lockstep can be predicted.
expect 0 list studies --json
mapfile -t names < <(jq -r '.[].name' "$scratch/out")
[ "${#names[@]}" -ge 4 ] || fail "${#names[@]} studies"
for name in "${names[@]}"; do
	expect 0 sweep --dry-run "$name" -o "$scratch/dry"
	[ ! -e "$scratch/dry" ] || fail "a dry run leaves something"
done

finish
