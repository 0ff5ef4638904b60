"""What torch's own analyser of Flight Recorder dumps says of jobs:
recorder.py FOLDER JOB... prints a line a job: its name, what torch finds first,
and in which ranks."""
import logging
import os
import re
import sys

from torch.distributed.flight_recorder import fr_trace

FINDINGS = (
    (r"missing ranks: \{(.*)\}", "missing"),
    (r"Error type: (\w+)", None),
    (r"We cannot decide.*", "undecided"),
)


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def ranks_of(text):
    return ",".join(sorted(set(re.findall(r"\d+", text)), key=int))


def first_finding(lines):
    for line in lines:
        for pattern, name in FINDINGS:
            found = re.search(pattern, line)
            if not found:
                continue
            if name == "missing":
                return "missing " + ranks_of(found[1])
            if name:
                return name
            culprits = re.findall(r"Culprit rank (\d+)", line)
            return found[1] + " " + ranks_of(" ".join(culprits))
    return "nothing"


def walk(folder):
    """As os.walk(), in one order everywhere: torch's answer depends on it."""
    for root, folders, files in _walk(folder):
        yield root, folders, sorted(files)


_walk, os.walk = os.walk, walk


def main():
    logger = logging.getLogger("Flight Recorder")
    lines = Lines()
    logger.handlers = [lines]
    for job in sys.argv[2:]:
        lines.lines = []
        fr_trace.main([os.path.join(sys.argv[1], job), "--prefix",
                       "nccl_trace_rank_", "--allow-incomplete-ranks"])
        print(job, first_finding(lines.lines))


main()
