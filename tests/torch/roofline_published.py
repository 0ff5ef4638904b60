"""Steps of one GPU that others published, and what the roofline says of them:
python3 tests/torch/roofline_published.py [FIRST ROWS]. No constant of the
roofline was fitted to these rows; the share of the float32 peak was set with
those marked * in sight."""

import contextlib
import importlib
import io
import sys

from lockstep import roofline

LECTURE = "Karpathy, Let's reproduce GPT-2 (124M), chapters of the lecture"
DLE = "NVIDIA/DeepLearningExamples, ConvNets/resnet50v1.5/README.md"
LAMBDA = "lambdal/deeplearning-benchmark, pytorch-train-throughput-fp16.csv"
# GPU, script, arguments, published ms, source.
ROWS = (
    ("a100", "resnet50", "--channels-last", 256e3 / 2470, DLE),
    ("a100", "gpt2", "--compile --flash", 96, LECTURE),
    ("a100", "resnet50", "--precision tf32", 256e3 / 938, DLE),
    ("a100", "resnet50", "--batch 1280", 1280e3 / 1582, LAMBDA),
    ("v100-16gb", "resnet50", "--channels-last", 256e3 / 1200, DLE),
    ("v100-16gb", "resnet50", "--precision fp32 --batch 112",
     112e3 / 367, DLE + " *"),
    ("h100", "resnet50", "--batch 1280", 1280e3 / 2790, LAMBDA),
    ("h100-pcie", "resnet50", "--batch 1280", 1280e3 / 1866, LAMBDA),
    ("a10", "resnet50", "--batch 448", 448e3 / 638, LAMBDA),
    ("rtx4090", "resnet50", "--batch 448", 448e3 / 1301, LAMBDA),
    ("a100", "gpt2", "--precision fp32", 1000, LECTURE + " *"),
    ("a100", "gpt2", "--precision tf32", 333, LECTURE),
    ("a100", "gpt2", "", 300, LECTURE),
    ("a100", "gpt2", "--compile", 130, LECTURE),
    ("a100", "gpt2", "--compile --flash --vocabulary 50304", 93, LECTURE),
    ("a100", "gpt2", "--compile --flash --vocabulary 50304 --fused", 90,
     LECTURE),
    ("a100-40gb", "gpt2", "--batch 12", 250,
     "karpathy/nanoGPT, README.md, efficiency notes"),
    ("a100-40gb", "gpt2", "--batch 12 --compile", 135,
     "karpathy/nanoGPT, README.md, efficiency notes"),
    ("h100", "gpt2",
     "--compile --flash --vocabulary 50304 --fused --batch 64",
     45 * 60e3 / (10e9 / (8 * 64 * 1024)),
     "KellerJordan/modded-nanogpt, README.md: 10^10 tokens in 45 minutes on 8 "
     "GPUs (C and CUDA), as if communication took nothing"),
)  # fmt: skip


def predict(gpu, script, arguments):
    """Milliseconds of a step."""
    program = importlib.import_module(script)
    sys.argv = [script] + arguments.split() + ["--steps", "2"]
    with roofline.Run(gpu) as run:
        with contextlib.redirect_stdout(io.StringIO()):
            program.main()
    return run.step_ns() / 1e6


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else len(ROWS)
    errors = []
    print("published predicted  error  step")
    for gpu, script, arguments, published, source in ROWS[:count]:
        predicted = predict(gpu, script, arguments)
        error = predicted / published - 1
        errors.append(abs(error))
        print(
            "%9.1f %9.1f %+5.0f%%  %s %s %s (%s)"
            % (published, predicted, 100 * error, gpu, script, arguments,
               source)
        )  # fmt: skip
    errors.sort()
    print(
        "absolute error: median %.0f%%, most %.0f%% of %d"
        % (100 * errors[len(errors) // 2], 100 * errors[-1], len(errors))
    )


if __name__ == "__main__":
    main()
