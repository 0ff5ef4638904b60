#!/bin/bash
# PyTorch scripts whose tensors lie on a GPU, through NCCL: on the GPUs that are
# here, or four ranks on the one, where NCCL allows that.
. tests/cli/support.bash
needs_torch 2.0

found=$("$LOCKSTEP" list backends | sed -n 's/^nccl *//p')
[[ $found == yes* ]] || { echo "skipped: nccl: ${found##*  }" && exit 77; }
# A process that has torch has its NCCL, unless another is named.
read -r gpus version < <("$python" -c 'import torch
if torch.cuda.is_available():
    major, minor = torch.cuda.nccl.version()[:2]
    print(torch.cuda.device_count(), 100 * major + minor)')
[ -n "${gpus-}" ] || { echo "skipped: $python has a torch without CUDA" && exit 77; }
[[ -z ${LOCKSTEP_NCCL_LIBRARY-} || ! $found =~ NCCL\ ([0-9]+)\.([0-9]+) ]] ||
	version=$((BASH_REMATCH[1] * 100 + BASH_REMATCH[2]))
export PYTHON_EXEC=$python OMP_NUM_THREADS=1
ranks=$gpus
[ "$gpus" -gt 1 ] || [ "$version" -lt 230 ] || ranks=4

expect 0 run --backend nccl --nproc-per-node "$ranks" --timeout 60 \
	--torch-backend-as nccl tests/torch/gpu.py
expect_out '^fine$'

# Over TCP memory of a GPU is refused, where the script stands.
cat >"$scratch/on_gpu.py" <<-'END'
	import torch
	import torch.distributed as dist
	dist.init_process_group("lockstep")
	dist.all_reduce(torch.ones(4, device="cuda"))
END
expect 19 run --backend tcp --nproc-per-node 1 "$scratch/on_gpu.py"
expect_err 'a tensor on cuda:0: expected one on the cpu, or --backend nccl$'
expect_err 'rank 0 called all_reduce at .*/on_gpu\.py:4, which was refused'

finish
