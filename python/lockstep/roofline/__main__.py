"""python -m lockstep.roofline --gpu h100 train.py: its step on one GPU."""

import argparse
import os
import runpy
import sys

from . import Run, Unknown, catalogue


def report(run, out):
    device, gpu = run.device, run.gpu
    device.synchronize()
    steps = run.script.steps
    print("gpu          %s" % gpu.name, file=out)
    step = run.step_ns()
    if step is not None:
        print(
            "step         %.3f ms, the last of %d" % (step / 1e6, len(steps)),
            file=out,
        )
    elif steps:
        print("step         %.3f ms, the only one" % (steps[0] / 1e6), file=out)
    print("time         %.3f ms in all" % (device.clock.now() / 1e6), file=out)
    if len(steps):
        print(
            "work         %.3f TFLOP, %.2f GB and %d kernels a step"
            % (
                device.flops / 1e12 / len(steps),
                device.traffic / 1e9 / len(steps),
                device.kernels / len(steps),
            ),
            file=out,
        )
    parts = [("%.2f GB " % (size / 1e9)) + what for size, what in zip(
        run.state_bytes(), ("parameters", "gradients", "optimizer"))]
    print(
        "peak memory  %.2f GB of %.0f GiB (%s)"
        % (run.peak / 1e9, gpu.memory / 2**30, ", ".join(parts)),
        file=out,
    )
    if run.peak > gpu.memory:
        print("does not fit: the GPU has less memory", file=out)
    for text in gpu.assumed:
        print("assumed      " + text, file=out)


def main():
    parser = argparse.ArgumentParser(
        prog="python -m lockstep.roofline",
        description="predicts the step of a script on one GPU, without one",
    )
    parser.add_argument("--gpu", default="a100", help="one of --list")
    parser.add_argument("--list", action="store_true", help="list the GPUs")
    parser.add_argument(
        "--steps", type=int, default=0,
        help="stop after so many steps of an optimizer; 0: at the end",
    )  # fmt: skip
    parser.add_argument(
        "--fuse", action="store_true",
        help="take all code as compiled: chains of element-wise operations "
        "are one kernel",
    )  # fmt: skip
    parser.add_argument("script", nargs="?")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    try:
        if options.list:
            print("\n".join(catalogue.names()))
            return 0
        if not options.script:
            parser.error("expected a script")
        if not os.path.exists(options.script):
            raise Unknown(
                "%s: expected a script, no such file" % options.script
            )
        run = Run(options.gpu, fuse=options.fuse)
    except Unknown as error:
        print("lockstep: %s" % error, file=sys.stderr)
        return 2
    from .answers import Unanswered

    run.script.stop_after = options.steps
    sys.argv = [options.script] + options.arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.script)))
    status = 0
    with run:
        try:
            runpy.run_path(options.script, run_name="__main__")
        except Unanswered as error:
            print("lockstep: %s" % error, file=sys.stderr)
            status = 1
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            status = 0 if end.code is None else status
    if status == 0:
        report(run, sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main())
