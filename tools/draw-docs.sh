#!/bin/bash
# draw-docs.sh COMMAND [FOLDER] - draw the pictures of README and docs/ into
# docs/images, or FOLDER.
set -eu
cd "$(dirname "$0")/.."
images=$(realpath "${2:-docs/images}")
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

"$1" predict --model bert_large --batch 16 --machine dgx-a100 --profile nccl --no-explain \
	--world-size 8,16,32,64,128,256,512,1024 --tsv "$data/steps.tsv" >/dev/null
gnuplot -e "input='$data/steps.tsv'; output='$images/scaling.svg'" \
	-e "title='BERT-large on DGX A100, 16 sequences a GPU'" plots/scaling.gp

command=$(realpath "$1")
cd docs/examples
"$command" validate --machine h100.yaml --transport ib --calibrate --plot "$data/h100.svg" h100.log >/dev/null
mv "$data/h100.svg" "$images/h100.svg"
"$command" validate --llm --plot "$data/llm.svg" >/dev/null
mv "$data/llm.svg" "$images/llm.svg"
