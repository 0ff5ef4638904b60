#!/bin/bash
# Platforms from a few words: written, loaded, shown; and changed by hand.
. tests/cli/support.bash

new=(platform new --nodes 4 --gpus 2 --intra nvswitch:300GB/s
	--inter ib:2x200G --topology fat-tree:2x2)

# To stdout and to a file the same, with the command in it.
expect 0 "${new[@]}"
cp "$scratch/out" "$scratch/stdout.xml"
expect 0 "${new[@]}" -o "$scratch/a.xml"
cmp -s "$scratch/stdout.xml" "$scratch/a.xml" ||
	fail "platform new: -o differs from stdout"
grep -qF "value=\"lockstep ${new[*]}\"" "$scratch/a.xml" ||
	fail "platform new: no command in the file"
if command -v xmllint >/dev/null; then
	xmllint --noout --nonet "$scratch/a.xml" || fail "platform new: no XML"
fi
expect 0 run --backend sim --platform "$scratch/a.xml" --nproc-per-node 8 hello
expect_out 'the sum of ones is 8'
expect 2 run --backend sim --platform "$scratch/a.xml" --nproc-per-node 9 hello

# Drawn, with what leaves a node, and what crosses the middle.
expect 0 platform show "$scratch/a.xml"
expect_out "^written by +lockstep platform new --nodes 4"
expect_out '^└─ leaf0 \.\. leaf1: 2 alike, each$'
expect_out 'node0.gpu0 .. node0.gpu1: 2 ranks, 300 GB/s inside, 25 GB/s out$'
expect_out '^node0.nic0_UP .. node3.nic1_UP +8 +200 +25 +0.85$'
expect_out '^node0.gpu0 -> node1.gpu0 .* first two nodes$'
expect_out '^bisection 100 GB/s each way: .* a host has 25 GB/s of it'

# A fat tree that is four times as wide below; one card of half the bandwidth.
expect 0 "${new[@]}" --topology fat-tree:2x2,taper=4 -o "$scratch/taper.xml"
expect 0 platform show "$scratch/taper.xml"
expect_out '^bisection 25 GB/s each way: .* the slowest 6.25$'
expect 0 "${new[@]}" --degrade node1.nic0:0.5 -o "$scratch/worn.xml"
expect 0 platform show "$scratch/worn.xml"
expect_out 'node1.gpu0: 1 rank, 300 GB/s inside, 12.5 GB/s out$'
expect_out '^node1.nic0_UP +1 +100 +12.5 +0.85$'
expect_out '^bisection 87.5 GB/s each way: .* the slowest 12.5$'

# A node as NCCL saw it, four times.
cat >"$scratch/topology.xml" <<'END'
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" modelid="85">
    <pci busid="0000:0a:00.0" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="80"><nvlink target="c" count="12" tclass="0x068000"/></gpu>
    </pci>
    <pci busid="0000:0b:00.0" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="80"><nvlink target="c" count="12" tclass="0x068000"/></gpu>
    </pci>
    <pci busid="0000:0c:00.0" link_speed="16.0 GT/s PCIe" link_width="16">
      <nic><net name="mlx5_0" speed="100000"/></nic>
    </pci>
  </cpu>
</system>
END
expect 0 platform new --nodes 4 --import-nccl-topo "$scratch/topology.xml" \
	-o "$scratch/seen.xml"
expect 0 platform show "$scratch/seen.xml"
expect_out 'node0.gpu0 .. node0.gpu1: 2 ranks, 240 GB/s inside, 12.5 GB/s out$'

# A node as others measured it, with fewer GPUs and cards, and a kind of GPU.
expect 0 platform new --machine aws-p5 --nodes 2 --gpus 2 --gpu 'H200 "SXM"' \
	-o "$scratch/measured.xml"
grep -qF '<prop id="gpu" value="H200 &quot;SXM&quot;"/>' \
	"$scratch/measured.xml" || fail "platform new: no kind of GPU"
expect 0 platform show "$scratch/measured.xml"
expect_out 'node0.gpu0 .. node0.gpu1: 2 ranks, 450 GB/s inside, 50 GB/s out$'
expect 0 platform new --machine alps-gh200:tcp --nodes 2 \
	-o "$scratch/measured.xml"
expect 0 platform show "$scratch/measured.xml"
expect_out '^node0.nic0_UP .. node1.nic3_UP +8 +200 +25 +10.6$'

# Words of the user's own, which XML must not take for its own.
expect 0 "${new[@]}" --note 'A & B -- <our cluster> "C"
measured --> 3 times' -o "$scratch/note.xml"
expect 0 run --backend sim --platform "$scratch/note.xml" --nproc-per-node 8 \
	hello
grep -qF '<!-- A & B - - <our cluster> "C"' "$scratch/note.xml" ||
	fail "platform new: no note in the file"

# Nodes of two sorts, the second as the first but for what is said.
expect 0 "${new[@]}" --nodes 1 --gpus 4 --inter ib:4x200G --topology star \
	-o "$scratch/mixed.xml"
expect 0 run --backend sim --platform "$scratch/mixed.xml" \
	--nproc-per-node 12 hello
expect_out 'the sum of ones is 12'

# milliseconds FILE - simulated time of a step of computing alone.
milliseconds() {
	expect 0 predict --model mnist --platform "$1" --world-size 1 \
		--step-ms 10 --json
	sed -n 's/.*"step_ms": \([0-9.]*\).*/\1/p' "$scratch/out" | head -n 1
}
expect 0 "${new[@]}" --slow node0:0.5 -o "$scratch/slow.xml"
whole=$(milliseconds "$scratch/a.xml")
slow=$(milliseconds "$scratch/slow.xml")
awk -v a="$whole" -v b="$slow" 'BEGIN { exit !(a > 0 && b == 2 * a) }' ||
	fail "--slow node0:0.5: a step of $slow ms, $whole ms before"

# Those that come with Lockstep are what their commands write.
mkdir "$scratch/bundled"
bash tools/platforms.sh "$LOCKSTEP" "$scratch/bundled" ||
	fail "tools/platforms.sh: status $?"
for file in "$scratch"/bundled/*; do
	cmp -s "$file" "scenarios/platforms/${file##*/}" ||
		fail "${file##*/} is not what tools/platforms.sh writes"
done

# As many GPUs as a large cluster has: written and loaded in seconds.
expect 0 platform new --nodes 2048 --gpus 8 --intra nvswitch:450GB/s \
	--inter ib:8x400G --topology fat-tree:32x8x8 -o "$scratch/large.xml"
expect 0 run --backend sim --platform "$scratch/large.xml" \
	--nproc-per-node 64 hello
expect_out 'the sum of ones is 64'
expect 0 platform show "$scratch/large.xml"
expect_out '^bisection 409600 GB/s'
[ "$(wc -l <"$scratch/out")" -lt 60 ] || fail "platform show: too long"

# The same for machines.
expect 0 platform show --json star-8
jq -e '.facts.hosts == "8" and .bisection.GBps == 12.5 and
	([.links[].count] | add) == 17 and .routes[0].latency_us == 21.2' \
	"$scratch/out" >/dev/null || fail "platform show --json: $(jq -c . "$scratch/out")"
expect 0 platform show --markdown star-8
expect_out '^\| host-0 -> host-1 \| 2 \| 25 \| 3\.125 \| 21\.2 \| first two hosts \|$'

# What SimGrid says of a file quotes it: nothing that a terminal would obey.
sed 's/CM02/CM\x1b[2J/' scenarios/platforms/star-8.xml >"$scratch/raw.xml"
expect_refusal 'CM\?\[2J' platform show "$scratch/raw.xml"

finish
