#!/bin/bash
# A torch module as CSV: the same as the models that come with Lockstep, which
# were written from the shapes that constructors state.
. tests/cli/support.bash

needs_torch 2.1
export PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$PWD/tests/torch/light LIGHT=torch._dynamo
warm_torch torch._meta_registrations
export PYTHON_EXEC=$python

# Order, elements, FLOP, width and positions of all 161 tensors.
expect 0 model new --from tests/torch/resnet50.py:ResNet50 --input 3x224x224 \
	-o "$scratch/net.csv"
columns() { grep -v '^#' "$1" | cut -d , -f 2-5 | sed '1d; s/,*$//'; }
columns scenarios/models/resnet50.csv >"$scratch/wanted"
columns "$scratch/net.csv" >"$scratch/got"
cmp -s "$scratch/wanted" "$scratch/got" ||
	fail "resnet50: $(diff "$scratch/wanted" "$scratch/got" | head -n 5)"

# A tied projection is work without parameters of its own, scores belong to the
# row before them: 2 x 2 x 1024 x 1024 x 768 FLOP of each of 12 layers more.
cat >"$scratch/gpt.py" <<PROGRAM
import sys
sys.path.insert(0, "$PWD/tests/torch")
from gpt2 import GPT2
from torch import nn

def small():
    return GPT2(50257, True)

def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4), 2)

def wrong():
    return 3

class Odd(nn.Module):
    def __init__(self, size):
        super().__init__()
PROGRAM
expect 0 model new --from "$scratch/gpt.py:small" -o "$scratch/gpt.csv" \
	--input tokens:1024,tokens:1024
for file in "$scratch/gpt.csv" scenarios/models/gpt2_small.csv; do
	awk -F , -v file="$file" '!/^#/ {
		numel += $2; flops += $3; heads += $6; mlp += $7
	} END { printf "%d %.0f %d %d\n", numel, flops, heads, mlp }' "$file"
done >"$scratch/sums"
awk 'NR == 1 { for (i = 1; i <= 4; i++) own[i] = $i }
END {
	exit !(own[1] == $1 && own[2] == $2 + 12 * 4 * 1024 * 1024 * 768 &&
	own[3] == 12 * 12 && own[3] == $3 && own[4] == $4)
}' "$scratch/sums" || fail "sums of gpt2: $(cat "$scratch/sums")"
grep -qx 'head,0,79047426048,50257,1024,,' "$scratch/gpt.csv" ||
	fail "no head: $(tail -n 1 "$scratch/gpt.csv")"
expect 0 predict --workload hybrid --tp 2 --pp 2 --model "$scratch/gpt.csv" \
	--machine dgx-a100 --world-size 8 --no-explain

expect 0 model new --from "$scratch/gpt.py:encoder" --input 16x64
expect_out '^layers\.1\.self_attn\.in_proj_weight,12288,[0-9]+,64,16,4,$'
expect_out '^layers\.1\.linear2\.weight,131072,[0-9]+,64,16,,1$'

from() { expect_refusal "$1" model new --from "$2" --input "${3:-4}"; }
from 'no file none.py' none.py:Net
from 'expected FILE.py:NAME, got gpt.py' gpt.py
from 'gpt.py has no Net' "$scratch/gpt.py:Net"
from 'to make a torch.nn.Module, got int' "$scratch/gpt.py:wrong"
from 'expected a shape such as 3x224x224 or tokens:2048, got x' \
	"$scratch/gpt.py:small" 3,x
expect 1 model new --from "$scratch/gpt.py:Odd" --input 4
expect_err '^lockstep model new: --from .*Odd: TypeError: .*size'
expect_refusal 'expected --from and --input both' model new --from net.py:Net
expect_refusal 'no option beside --from' model new --from net.py:Net --input 4 \
	--layers 3
PYTHON_EXEC=no-such expect_refusal 'no no-such: expected python3' \
	model new --from net.py:Net --input 4

finish
