#!/usr/bin/env python3
"""Dumps as torch's Flight Recorder writes them, of jobs that hung and of jobs
that are well: make.py DIR makes DIR/CASE/nccl_trace_rank_N for each case, and
prints a line for each: the status that `lockstep diagnose` has to end with, the
case, and a pattern that its report has to match. make.py DIR big RANKS CALLS
makes one large job.

The fields are those of torch/csrc/distributed/c10d/FlightRecorderDetail.hpp.
"""
import json
import os
import pickle
import sys
import time

BEGIN = 1724779239936775119
TORCH = "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py"
DONE, STARTED, QUEUED = "completed", "started", "scheduled"


class Rank:
    """The calls of one rank, in the order in which it enqueued them."""

    def __init__(self, job, rank):
        self.job, self.rank, self.entries = job, rank, []
        self.seq, self.p2p_seq, self.op_id = {}, {}, {}
        self.first = 0  # record_id of the first one

    def _entry(self, name, group, state, line, p2p, given, got, dtype):
        n = self.first + len(self.entries)
        created = self.job.begin + n * 1000 + self.rank
        self.op_id[group] = self.op_id.get(group, 0) + 1
        frames = [
            {"name": "wrapper", "filename": TORCH, "line": 83},
            {"name": "step", "filename": self.job.file, "line": line},
            {"name": "<module>", "filename": "/job/train.py", "line": 99},
            {"name": "_main", "line": 120, "filename":
             "/usr/lib/python3.13/multiprocessing/spawn.py"},
            {"name": "<module>", "filename": "<string>", "line": 1},
        ]
        self.entries.append({
            "frames": frames,
            "record_id": n,
            "pg_id": int(group),
            "process_group": (group, self.job.groups[group][0]),
            "thread_name": "python",
            "thread_id": "140",
            "collective_seq_id": self.seq.get(group, 0),
            "p2p_seq_id": self.p2p_seq.get(group, 0),
            "op_id": self.op_id[group],
            "profiling_name": name,
            "time_created_ns": created,
            "input_sizes": [[given]] if given is not None else [],
            "input_dtypes": [dtype] if given is not None else [],
            "output_sizes": [[got]] if got is not None else [],
            "output_dtypes": [dtype] if got is not None else [],
            "state": state,
            "time_discovered_started_ns":
                created + 10 if state != QUEUED else None,
            "time_discovered_completed_ns":
                created + 500 if state == DONE else None,
            "retired": state == DONE,
            "timeout_ms": 600000,
            "is_p2p": p2p,
        })

    def call(self, op, size, state=DONE, line=40, group="0", dtype="Float",
             got=None):
        """A collective."""
        self.seq[group] = self.seq.get(group, 0) + 1
        self._entry("nccl:" + op, group, state, line, False, size,
                    size if got is None else got, dtype)

    def message(self, op, peer, size, state=DONE, line=50, group="0",
                batch=False):
        """A send to, or a recv from, a rank of the group."""
        arrow = "->" if op == "send" else "<-"
        own = self.job.groups[group][1].index(self.rank)
        if not batch:
            self.p2p_seq[group] = self.p2p_seq.get(group, 0) + 1
        self._entry("nccl:%s %d%s%d" % (op, own, arrow, peer), group, state,
                    line, True, size, size, "Float")

    def coalesced(self, sizes, state=DONE, line=65, group="0"):
        """Collectives of one batch, which share a number."""
        for size in sizes:
            self.call("all_gather_into_tensor", size, QUEUED, line, group)
            self.seq[group] -= 1
            self.entries[-1]["retired"] = False
        self.seq[group] = self.seq.get(group, 0) + 1
        self._entry("nccl:ALLGATHER_coalesced", group, state, line, False,
                    None, None, "Float")

    def batch(self, messages, state=DONE, line=60, group="0"):
        """batch_isend_irecv: the parts never complete by themselves."""
        self.p2p_seq[group] = self.p2p_seq.get(group, 0) + 1
        for op, peer, size in messages:
            self.message(op, peer, size, QUEUED, line, group, True)
            self.entries[-1]["retired"] = False
        self._entry("nccl:coalesced", group, state, line, True, None, None,
                    "Float")


class Job:
    def __init__(self, n, groups=None, begin=BEGIN):
        self.begin, self.file = begin, "/job/train.py"
        self.groups = {"0": ("default_pg", list(range(n)))}
        self.groups.update(groups or {})
        self.ranks = [Rank(self, r) for r in range(n)]
        self.version, self.json, self.protocol = "2.10", False, 2
        self.absent = []  # ranks without a dump
        self.change = None  # of a dump, before it is written

    def all(self, *args, **more):
        for rank in self.ranks:
            rank.call(*args, **more)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        for rank in self.ranks:
            if rank.rank in self.absent:
                continue
            dump = {
                "version": self.version,
                "pg_config": {
                    name: {"name": name, "desc": desc, "ranks": str(ranks)}
                    for name, (desc, ranks) in self.groups.items()
                    if rank.rank in ranks},
                "pg_status": {},
                "entries": rank.entries,
            }
            if self.change:
                self.change(dump)
            text = (json.dumps(dump).encode() if self.json
                    else pickle.dumps(dump, self.protocol))
            name = "nccl_trace_rank_%d" % rank.rank
            with open(os.path.join(folder, name), "wb") as out:
                out.write(text)


CASES = []


def case(status, pattern):
    def add(make):
        CASES.append((status, make.__name__, pattern, make))
        return make
    return add


def warm(job, calls=2):
    for i in range(calls):
        job.all("all_reduce", 1024 * (i + 1), line=40 + i)


def absent(job, late, state=STARTED, group="0"):
    for rank in job.ranks:
        if rank.rank not in late and rank.rank in job.groups[group][1]:
            rank.call("all_reduce", 1024, state, 40, group)


# ---- a rank is absent ------------------------------------------------------

@case(12, "ranks 0-1,3 .*all_reduce.float32, 1024. #2 of group default at "
      "/job/train.py:40.*rank 2 runs in its own code.*#1 .*:41")
def one_is_absent():
    job = Job(4)
    warm(job)
    absent(job, [2])
    return job


@case(12, "wait in all_reduce.* at /job/model.py:40, from /job/train.py:99")
def one_is_absent_from_a_library():
    job = Job(4)
    job.file = "/job/model.py"
    warm(job)
    absent(job, [2])
    return job


@case(12, "ranks 3,6 .* run in their own code")
def two_of_eight_are_absent():
    job = Job(8)
    warm(job)
    absent(job, [3, 6])
    return job


@case(12, "rank 0 waits in .*group tp.*rank 1 runs in its own code")
def one_is_absent_in_a_group():
    job = Job(4, {"1": ("tp", [0, 1]), "2": ("tp", [2, 3])})
    warm(job)
    absent(job, [1], group="1")
    for rank in job.ranks[2:]:
        rank.call("all_reduce", 64, group="2")
    return job


@case(12, "wait in all_reduce.float32, 1024. #2 .*rank 2 runs")
def the_others_enqueued_more():
    job = Job(4)
    warm(job)
    absent(job, [2])
    for rank in job.ranks:
        for i in range(50 if rank.rank != 2 else 0):
            rank.call("all_reduce", 7, QUEUED, 44)
    return job


@case(12, "#6999 of group default.*rank 1 runs")
def the_buffer_wrapped():
    job = Job(4)
    for rank in job.ranks:
        rank.first, rank.seq["0"] = 5000, 5000
        for i in range(1999 if rank.rank == 1 else 2000):
            rank.call("all_reduce", 64, DONE if i < 1999 else STARTED)
    return job


@case(12, "no dump of rank 3.*rank 3 has no records here")
def the_rank_that_raised_left_no_dump():
    job = one_is_absent()
    job.ranks[2].call("all_reduce", 1024, STARTED, 40)
    job.absent = [3]
    return job


@case(12, "ranks 0-1,3 .*rank 2 runs in its own code")
def as_json():
    job = one_is_absent()
    job.json = True
    return job


@case(12, "group dp_37.*rank 1 runs")
def many_groups():
    job = Job(4, {str(i): ("dp_%d" % i, [0, 1, 2, 3]) for i in range(1, 60)})
    for i in range(60):
        job.all("all_reduce", 8 + i, group=str(i))
    absent(job, [1], group="37")
    return job


@case(12, "quantum_gather.* #2 .*rank 2 runs")
def of_an_unknown_operation():
    job = Job(4)
    warm(job)
    for rank in job.ranks:
        if rank.rank != 2:
            rank.call("quantum_gather", 5 + rank.rank, STARTED)
    return job


@case(12, "ranks 0-1,3 .*#2 .*rank 2 runs")
def in_version_2_1():
    job = one_is_absent()
    job.version = "2.1"

    def old(dump):
        for entry in dump["entries"]:
            entry["seq_id"] = entry.pop("collective_seq_id")
            for name in ("p2p_seq_id", "op_id", "is_p2p", "timeout_ms",
                         "thread_name", "thread_id", "input_dtypes",
                         "output_dtypes"):
                del entry[name]
    job.change = old
    return job


def with_protocol(protocol):
    def make():
        job = one_is_absent()
        job.protocol = protocol
        return job
    make.__name__ = "in_protocol_%d" % protocol
    return make


for number in (0, 1, 3, 4, 5):
    case(12, "ranks 0-1,3 .*at /job/train.py:40.*rank 2 runs")(
        with_protocol(number))


@case(12, "rank 1 runs in its own code")
def a_send_has_no_receive():
    job = Job(2)
    warm(job)
    job.ranks[0].message("send", 1, 64, STARTED)
    return job


@case(12, "rank 0 waits in (send|recv).*rank 1 runs in its own code")
def a_batch_has_no_other_end():
    job = Job(2)
    warm(job)
    for rank in job.ranks:
        rank.batch([("send", 1 - rank.rank, 64), ("recv", 1 - rank.rank, 64)])
    job.ranks[0].batch([("send", 1, 64), ("recv", 1, 64)], STARTED)
    return job


@case(12, "rank 0 runs in its own code.*rank 1 waits in recv.*"
      "rank 2 waits in recv")
def a_pipeline_waits_for_its_head():
    job = Job(3)
    warm(job)
    job.ranks[1].message("recv", 0, 64, STARTED)
    job.ranks[1].message("send", 2, 64, QUEUED)
    job.ranks[2].message("recv", 1, 64, STARTED)
    return job


@case(12, "wait in all_gather_single.float32, 30. #2 .*rank 2 runs")
def collectives_of_one_batch():
    job = Job(4)
    for state in (DONE, DONE, STARTED):
        for rank in job.ranks:
            if state == DONE or rank.rank != 2:
                rank.coalesced([10, 20], state)
    return job


@case(10, "rank 1 called all_gather_single.float32, 31")
def a_batch_of_another_size():
    job = Job(4)
    for rank in job.ranks:
        rank.coalesced([10, 21 if rank.rank == 1 else 20], STARTED)
    return job


# ---- ranks disagree --------------------------------------------------------

@case(10, "rank 3 called all_reduce.float32, 4095. at /job/train.py:57.*"
      "ranks 0-2 .*4096. at /job/train.py:41")
def one_has_another_size():
    job = Job(4)
    job.all("all_reduce", 1024)
    for rank in job.ranks:
        last = rank.rank == 3
        rank.call("all_reduce", 4095 if last else 4096, STARTED,
                  57 if last else 41)
    return job


@case(10, "rank 1 called all_reduce.float16, 64")
def one_has_another_type():
    job = Job(4)
    warm(job)
    for rank in job.ranks:
        rank.call("all_reduce", 64, STARTED,
                  dtype="Half" if rank.rank == 1 else "Float")
    return job


@case(10, "rank 0 called broadcast.*ranks 1-3 .* called all_reduce")
def one_calls_another_operation():
    job = Job(4)
    warm(job)
    for rank in job.ranks:
        rank.call("all_reduce" if rank.rank else "broadcast", 64, QUEUED)
    return job


@case(10, "collective #300 of group default.*rank 2 called "
      "all_reduce.float32, 65")
def they_parted_long_ago():
    job = Job(4)
    for i in range(1900):
        for rank in job.ranks:
            odd = rank.rank == 2 and i == 300
            rank.call("all_reduce", 65 if odd else 64, line=40)
    return job


@case(10, "rank 1 called reduce_scatter.*group tp")
def they_disagree_in_a_group():
    job = Job(4, {"1": ("tp", [1, 2, 3])})
    warm(job)
    for rank in job.ranks[1:]:
        rank.call("_reduce_scatter_base", 96, STARTED, group="1",
                  got=32 if rank.rank > 1 else 31)
    return job


@case(10, "rank 0 called send.*, 64.*rank 1 called recv.*, 65")
def a_message_has_two_sizes():
    job = Job(2)
    warm(job)
    job.ranks[0].message("send", 1, 64, STARTED)
    job.ranks[1].message("recv", 0, 65, STARTED)
    return job


# ---- a cycle ---------------------------------------------------------------

def over_two_groups(first, second, n=4, odd=(1,)):
    job = Job(n, {"1": ("tp", list(range(n)))})
    for rank in job.ranks:
        order = [("0", 70, 1024), ("1", 71, 64)]
        if rank.rank in odd:
            order.reverse()
        for state, (group, line, size) in zip((first, second), order):
            if state:
                rank.call("all_reduce", size, state, line, group)
    return job


CYCLE = "no rank can ever move.*/job/train.py:70.*/job/train.py:71.*a cycle"


@case(11, CYCLE)
def groups_in_other_order_blocking():
    return over_two_groups(STARTED, None)


@case(11, CYCLE + ".*rank 1 enqueued all_reduce.*:70 behind a call that is "
      "not complete.*ranks 0,2-3 .3. enqueued all_reduce.*:71 behind")
def groups_in_other_order_enqueued():
    return over_two_groups(STARTED, QUEUED)


@case(11, CYCLE)
def groups_in_other_order_without_timing():
    job = over_two_groups(QUEUED, QUEUED)

    def untimed(dump):
        for entry in dump["entries"]:
            entry["time_discovered_started_ns"] = None
    job.change = untimed
    return job


@case(11, "ranks 2,5 .*group tp.*" "a cycle")
def two_of_eight_in_other_order():
    return over_two_groups(STARTED, QUEUED, 8, (2, 5))


@case(11, "group ab.*group bc.*group ca.*a cycle")
def three_groups_in_a_ring():
    job = Job(3, {"1": ("ab", [0, 1]), "2": ("bc", [1, 2]),
                  "3": ("ca", [0, 2])})
    warm(job)
    for rank, (first, second) in zip(job.ranks, ("13", "21", "32")):
        rank.call("all_reduce", 8, STARTED, group=first)
        rank.call("all_reduce", 8, QUEUED, group=second)
    return job


@case(11, "waits in recv .*a cycle")
def both_receive():
    job = Job(2)
    warm(job)
    for rank in job.ranks:
        rank.message("recv", 1 - rank.rank, 64, STARTED)
        rank.message("send", 1 - rank.rank, 64, QUEUED)
    return job


@case(11, "waits in send .*a cycle.*rank 1 enqueued recv.src 0.* behind")
def a_ring_sends_first():
    job = Job(3)
    warm(job)
    for rank in job.ranks:
        rank.message("send", (rank.rank + 1) % 3, 64, STARTED)
        rank.message("recv", (rank.rank + 2) % 3, 64, QUEUED)
    return job


@case(11, "rank 0 waits in all_reduce .*rank 1, which waits in recv "
      ".*a cycle")
def a_message_and_a_collective():
    job = Job(2)
    warm(job)
    job.ranks[0].call("all_reduce", 64, STARTED)
    job.ranks[0].message("send", 1, 64, QUEUED)
    job.ranks[1].message("recv", 0, 64, STARTED)
    job.ranks[1].call("all_reduce", 64, QUEUED)
    return job


# ---- all is well -----------------------------------------------------------

WELL = "status: where the ranks are"


@case(0, WELL)
def all_is_complete():
    job = Job(4)
    warm(job, 5)
    return job


@case(0, WELL)
def no_call_yet():
    return Job(4)


@case(0, WELL)
def all_are_in_the_same_call():
    job = Job(4)
    warm(job)
    job.all("all_reduce", 1024, STARTED)
    job.all("all_reduce", 2048, QUEUED)
    return job


@case(0, WELL)
def many_are_enqueued_on_two_groups():
    job = Job(4, {"1": ("tp", [0, 1, 2, 3])})
    warm(job)
    for i in range(100):
        job.all("all_reduce", 8, QUEUED, group=str(i % 2))
    return job


@case(0, WELL)
def groups_run_side_by_side():
    return over_two_groups(STARTED, STARTED)


@case(0, WELL)
def a_ring_in_one_batch():
    job = Job(3)
    warm(job)
    for state in (DONE, DONE, STARTED):
        for rank in job.ranks:
            rank.batch([("send", (rank.rank + 1) % 3, 64),
                        ("recv", (rank.rank + 2) % 3, 64)], state)
    return job


@case(0, WELL)
def a_batch_that_does_not_say_what_it_is_of():
    job = a_ring_in_one_batch()

    def change(dump):
        for entry in dump["entries"]:
            if entry["profiling_name"] == "nccl:coalesced":
                entry["is_p2p"] = False
    job.change = change
    return job


@case(0, WELL)
def only_what_is_active():
    job = a_ring_in_one_batch()

    def change(dump):
        dump["entries"] = [entry for entry in dump["entries"]
                           if entry["time_discovered_completed_ns"] is None]
    job.change = change
    return job


@case(0, WELL)
def messages_of_a_wrapped_buffer():
    job = Job(2)
    for rank in job.ranks:
        rank.first = 700 + rank.rank
        for i in range(200 + rank.rank):
            op = "send" if (i + rank.rank) % 2 else "recv"
            rank.message(op, 1 - rank.rank, 10 + i)
    job.ranks[0].message("send", 1, 64, STARTED)
    job.ranks[1].message("recv", 0, 64, STARTED)
    return job


@case(0, WELL)
def sizes_that_may_differ():
    job = Job(4)
    for rank in job.ranks:
        rank.call("all_to_all", 10 + rank.rank, got=13 - rank.rank)
        rank.call("all_gather_v", 5 + rank.rank, got=26)
        rank.call("gather", 5, got=20 if rank.rank == 0 else 0)
        rank.call("scatter", 20 if rank.rank == 0 else 0, got=5)
        rank.call("all_reduce", 3, STARTED)
    return job


@case(0, WELL)
def one_is_late_but_not_too_late():
    job = Job(4, begin=time.time_ns() - 5 * 10 ** 9)
    warm(job)
    absent(job, [2])
    return job


def main():
    folder = sys.argv[1]
    if sys.argv[2:3] == ["big"]:
        job = Job(int(sys.argv[3]))
        calls = int(sys.argv[4])
        for rank in job.ranks:
            for i in range(calls - 1):
                rank.call("all_reduce", 64 + i % 7)
            if rank.rank != 5:
                rank.call("all_reduce", 64, STARTED)
            one = Job(0)
            one.groups, one.ranks = job.groups, [rank]
            one.write(folder)
            rank.entries = []
        return
    for status, name, pattern, make in CASES:
        make().write(os.path.join(folder, name))
        print(status, name, pattern)


if __name__ == "__main__":
    main()
