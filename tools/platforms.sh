#!/bin/bash
# platforms.sh LOCKSTEP FOLDER - write the platforms that come with Lockstep and
# are made by `lockstep platform new` into FOLDER, with the source of every
# number.
set -eu
lockstep=$1 folder=$2

rates='github.com/stas00/ml-engineering, network/README.md'
a100="A GPU's link inside: 235.3 GB/s, ring all-reduce on 8 A100 under NVSwitch
(nccl-tests, github.com/microsoft/superbenchmark,
tests/data/nccl_allreduce.log)."
h100="A GPU's link inside: 367.2 GB/s, the bus bandwidth of a ring all-reduce
of 16 GiB without NVLS on 8 H200, whose NVLink 4 is the same; 82 % of its 450
GB/s each way ($rates)."
pcie3="A GPU's link inside: 12.4 GB/s, a pinned copy from the host over PCIe 3
x16 (github.com/microsoft/superbenchmark, tests/data/cuda_memory_h2d_bw.log).
Between the sockets: one UPI link of 10.4 GT/s, 20.8 GB/s each way (Intel). A
library that goes by way of host memory is slower than its links."
hdr="Cards: InfiniBand HDR ports of 196.6 Gbit/s (perftest ib_write_bw,
github.com/Azure/aks-rdma-infiniband), one a GPU, behind PCIe 4 x16 at 31 GB/s
($rates)."
ethernet="Cards and links between switches: 100 Gbit/s Ethernet at its line
rate (IEEE 802.3bj-2014)."
efa="Latency: 20 us, a round figure."

# new NAME TITLE SOURCES OPTIONS... - sources are flowed anew.
new() {
	local name=$1 title=$2 sources
	sources=$(echo "$3" | tr '\n' ' ' | sed 's/ *$//')
	shift 3
	"$lockstep" platform new "$@" --note "$title"$'\n'"$sources" \
		-o "$folder/$name.xml"
}

new h100-nvswitch-8 '8 H100 GPUs of one machine under NVSwitch' "$h100" \
	--gpus 8 --gpu 'H100 80GB' --intra nvswitch:367.2GB/s,reached

new v100-nvswitch-16 '16 V100 GPUs of one DGX-2 under NVSwitch' \
	"A GPU's link: all-reduce on 12 of them reaches 123.6 GB/s of bus
bandwidth (nccl-tests), 82 % of NVLink 2's 6 links of 25 GB/s each way
($rates)." \
	--gpus 16 --gpu 'V100 32GB' --intra nvswitch:123.6GB/s,reached

new v100-cube-mesh-8 '8 V100 GPUs of one DGX-1 in a hybrid cube mesh' \
	"NVLinks as nvidia-smi topo -m shows them, six of each GPU, one or two
to each of four others. A single one: 86 % of NVLink 2's 25 GB/s each way
($rates), as ring all-reduce reaches 129.1 GB/s of bus bandwidth over all six
(nccl-tests). A message takes one way; to use several is what a library's
channels are for." \
	--gpus 8 --gpu 'V100' --intra cube-mesh:21.5GB/s,reached

new pcie4-a100-4 '4 A100 GPUs on PCIe 4, two a socket, without NVLink' \
	"A GPU's link: 80 % of the 31 GB/s of PCIe 4 x16 ($rates), the part of
PCIe 3's 15.75 GB/s that a pinned copy reaches
(github.com/microsoft/superbenchmark, tests/data/cuda_memory_h2d_bw.log).
Between the sockets: one UPI link of 10.4 GT/s, 20.8 GB/s each way (Intel). A
library that goes by way of host memory is slower than its links." \
	--gpus 4 --gpu 'A100 40GB PCIe' --intra pcie:24.8GB/s,reached,sockets=2,socket=20.8GB/s

new pcie3-v100-4 '4 V100 GPUs on PCIe 3, two a socket, without NVLink' \
	"$pcie3" --gpus 4 --gpu 'V100' --intra pcie:12.4GB/s,reached,sockets=2,socket=20.8GB/s

new fat-tree-hdr-16x8 \
	'16 machines of 8 A100, 8 rails of InfiniBand HDR, a fat tree 1:1' \
	"$a100 $hdr 4 machines a leaf, 4 leaves: an example of the shape." \
	--nodes 16 --gpus 8 --gpu 'A100 80GB' --intra nvswitch:235.3GB/s,reached \
	--inter ib:8x196.6G,pcie=31GB/s --topology fat-tree:4x4

new fat-tree-ndr-16x8 \
	'16 machines of 8 H100, 8 rails of InfiniBand NDR, a fat tree 1:1' \
	"$h100 Cards: InfiniBand NDR ports of 396 Gbit/s (ib_send_bw from GPU
memory, github.com/NVIDIA/nccl-tests, issue 309), one a GPU, behind PCIe 5 x16
at 63 GB/s ($rates). 4 machines a leaf, 4 leaves: an example of the shape." \
	--nodes 16 --gpus 8 --gpu 'H100 80GB' --intra nvswitch:367.2GB/s,reached \
	--inter ib:8x396G,pcie=63GB/s --topology fat-tree:4x4

new dragonfly-hdr-36x4 \
	'36 machines of 4 A100, 4 rails of InfiniBand HDR, a dragonfly' \
	"$a100 $hdr Between two routers of a group, and between two groups, 4
ports of 200 Gbit/s; 3 groups of 3 routers of 4 machines: an example of the
shape." \
	--nodes 36 --gpus 4 --gpu 'A100 80GB' --intra nvswitch:235.3GB/s,reached \
	--inter ib:4x196.6G,pcie=31GB/s \
	--topology dragonfly:3x3x4,local=800G,global=800G

new leaf-spine-roce-16x4 \
	'16 machines of 4 V100, one 100 Gbit/s RoCE card each, leaf-spine 2:1' \
	"$pcie3 $ethernet 4 machines a leaf, 2 spines: an example of the shape." \
	--nodes 16 --gpus 4 --gpu 'V100' --intra pcie:12.4GB/s,reached,sockets=2,socket=20.8GB/s \
	--inter roce:100G --topology leaf-spine:4x2,uplink=100G

new efa-p4d-8x8 '8 machines of 8 A100, 4 EFA cards of 100 Gbit/s, as AWS p4d' \
	"$a100 Cards: one for two GPUs, behind PCIe 4 x16 at 31 GB/s ($rates).
$efa" \
	--nodes 8 --gpus 8 --gpu 'A100 40GB' --intra nvswitch:235.3GB/s,reached \
	--inter efa:4x100G,lat=20us,pcie=31GB/s

new efa-p5-8x8 '8 machines of 8 H100, 32 EFA cards of 100 Gbit/s, as AWS p5' \
	"$h100 Cards: four a GPU, which are one link, behind PCIe 5 x16 at 63
GB/s ($rates). $efa" \
	--nodes 8 --gpus 8 --gpu 'H100 80GB' --intra nvswitch:367.2GB/s,reached \
	--inter efa:32x100G,lat=20us,pcie=63GB/s

new tcp-10g-8x4 '8 machines of 4 GPUs on PCIe 3, 10 Gbit/s Ethernet over TCP' \
	"$pcie3 Cards: what Ethernet carries; a library that reaches less says so in
its profile (MPI over TCP 1.105 GB/s at 4 MiB,
github.com/dexhunter/allreduce-experiments, 10g-latency.txt)." \
	--nodes 8 --gpus 4 --intra pcie:12.4GB/s,reached,sockets=2,socket=20.8GB/s \
	--inter tcp:10G

new tcp-100g-16x1 \
	'16 machines of one GPU, 100 Gbit/s Ethernet over TCP, leaf-spine 1:1' \
	"$ethernet 4 machines a leaf, 4 spines: an example of the shape." \
	--nodes 16 --gpus 1 --inter tcp:100G \
	--topology leaf-spine:4x4,uplink=100G
