"""Steps of one GPU that others published, or with --measured those measured
on one H100 and one H200 (torch-steps-*.tsv), and what the roofline says of
them: python3 tests/torch/roofline_published.py [--measured [h100 | h200]]
[FIRST ROWS]. No constant of the roofline was fitted to the time of these rows;
the share of the float32 peak was set with those marked * in sight, and some
rates of kernels are from traces of three of the H200's (docs/roofline.md)."""

import contextlib
import csv
import importlib
import io
import os
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


STEPS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)),
    "../../scenarios/measured/hardware/torch-steps-%s.tsv",
)


def run(gpu, script, arguments):
    """The run of a script."""
    program = importlib.import_module(script)
    sys.argv = [script] + arguments.split() + ["--steps", "2"]
    with roofline.Run(gpu) as result:
        with contextlib.redirect_stdout(io.StringIO()):
            program.main()
    return result


def predict(gpu, script, arguments):
    """Milliseconds of a step."""
    return run(gpu, script, arguments).step_ns() / 1e6


def summary(what, errors):
    errors = sorted(map(abs, errors))
    print(
        "%s: median %.0f%%, most %.0f%% of %d"
        % (what, 100 * errors[len(errors) // 2], 100 * errors[-1], len(errors))
    )


def measured_rows(gpu):
    with open(STEPS % gpu) as table:
        lines = [line for line in table if line[0] != "#"]
    rows = list(csv.DictReader(lines, delimiter="\t"))
    for row in rows:
        if row["arguments"] == "-":
            row["arguments"] = ""
    return rows


def measured(gpu="h100", count=None):
    rows = measured_rows(gpu)[: count and int(count)]
    errors = {"blind": [], "absolute error": [], "memory": []}
    print("measured  blind predicted  error   GB predicted  step")
    for row in rows:
        step = run(row["gpu"], row["script"], row["arguments"])
        ms, gb = float(row["ms"]), float(row["peak_gb"])
        blind, predicted = float(row["blind_ms"]), step.step_ns() / 1e6
        errors["blind"].append(blind / ms - 1)
        errors["absolute error"].append(predicted / ms - 1)
        errors["memory"].append(step.peak / 1e9 / gb - 1)
        print(
            "%8.1f %+5.0f%% %9.1f %+5.0f%% %5.1f %9.1f  %s %s %s"
            % (ms, 100 * (blind / ms - 1), predicted,
               100 * (predicted / ms - 1), gb, step.peak / 1e9, row["gpu"],
               row["script"], row["arguments"])
        )  # fmt: skip
    for what, values in errors.items():
        summary(what, values)


def main():
    words = sys.argv[1:]
    if words[:1] == ["--measured"]:
        return measured(*words[1:])
    count = int(words[0]) if words else len(ROWS)
    errors = []
    print("published predicted  error  step")
    for gpu, script, arguments, published, source in ROWS[:count]:
        predicted = predict(gpu, script, arguments)
        error = predicted / published - 1
        errors.append(error)
        print(
            "%9.1f %9.1f %+5.0f%%  %s %s %s (%s)"
            % (published, predicted, 100 * error, gpu, script, arguments,
               source)
        )  # fmt: skip
    summary("absolute error", errors)


if __name__ == "__main__":
    main()
