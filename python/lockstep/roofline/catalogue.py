"""The catalogue of GPUs: devices.tsv and gpus.tsv of measured/hardware, as
`lockstep predict` reads them. What a GPU's rows do not say is assumed here,
and said so."""

import os
import re

# Assumed where the catalogue has no measurement of the GPU: about what those
# with one reach.
MATMUL_SHARE = 0.7  # of the peak, by large products
MEMORY_SHARE = 0.82  # of the memory's rate, by a copy
ATTENTION_SHARE = {64: 0.45, 128: 0.55}  # of the peak, long and causal

PEAKS = {
    "bf16 peak": "half",
    "fp16 peak": "half",
    "fp8 peak": "fp8",
    "tf32 peak": "tf32",
    "fp32 peak": "fp32",
}
ATTENTION = re.compile(
    r"(FlashAttention 2|cuDNN) head (\d+) (causal|full) sequence (\d+)$"
)


class Unknown(Exception):
    """A GPU, or a file, that there is not; the text is the user's line."""


class Gpu:
    """One GPU: rates in FLOP/s and bytes/s, sizes in bytes."""

    def __init__(self, name):
        self.name = name
        self.peaks = {}
        self.memory = 0.0
        self.bandwidth = 0.0
        self.copy = 0.0
        self.host_link = 12e9
        self.multiprocessors = 108
        self.matmul_share = 0.0
        self.half_share = 0.0  # in 16 bits; 0: as matmul_share
        self.attention = {}  # (head, causal, sequence): FLOP/s
        self.cudnn = {}  # the same by cuDNN
        self.assumed = []

    def settle(self):
        """Fills in what no row says."""
        fp32 = self.peaks.get("fp32") or 0.0
        self.peaks.setdefault("half", fp32)
        self.peaks.setdefault("tf32", fp32)
        self.peaks.setdefault("fp8", self.peaks["half"])
        self.peaks["fp32"] = fp32 or self.peaks["tf32"]
        if not self.matmul_share:
            self.matmul_share = MATMUL_SHARE
            self.assumed.append(
                "products reach %g of the peak" % MATMUL_SHARE
            )
        if not self.copy:
            self.copy = MEMORY_SHARE * self.bandwidth
            self.assumed.append(
                "memory gives %g of its rate" % MEMORY_SHARE
            )
        if not self.attention:
            self.assumed.append("attention reaches 0.45 to 0.55 of the peak")

    def attention_rate(self, head, causal, sequence, cudnn=False):
        """FLOP/s of fused attention, forward and backward together; FLOP of
        a causal one are those below the diagonal. By cuDNN, where there are
        rows of it, as much faster as it is under a causal mask."""
        rate = self.rate_in(self.attention, head, causal, sequence)
        if not rate:
            share = ATTENTION_SHARE[64 if head <= 64 else 128]
            return share * self.peaks["half"]
        if cudnn and self.cudnn:
            at = max(sequence, min(s for _, _, s in self.cudnn))
            rate *= self.rate_in(self.cudnn, head, True, at)
            rate /= self.rate_in(self.attention, head, True, at)
        return rate

    @staticmethod
    def rate_in(table, head, causal, sequence):
        """Between the rows of the nearest head size; None: there are none."""
        sizes = [h for h in (64, 128) if (h, causal, 1024) in table]
        if not sizes:
            return None
        nearest = min(sizes, key=lambda h: abs(h - head))
        rows = sorted(
            (s, rate)
            for (h, c, s), rate in table.items()
            if h == nearest and c == causal
        )
        rate = rows[0][1]
        for (low, slow), (high, fast) in zip(rows, rows[1:]):
            if sequence >= high:
                rate = fast
            elif sequence > low:
                share = (sequence - low) / (high - low)
                rate = slow + share * (fast - slow)
        if sequence < rows[0][0]:
            rate *= sequence / rows[0][0]
        return rate


def find_table():
    """The file, in LOCKSTEP_DATA, in the source tree or as installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    tail = os.path.join("measured", "hardware", "gpus.tsv")
    folders = [os.environ.get("LOCKSTEP_DATA", "")]
    above = here
    while above != os.path.dirname(above):
        above = os.path.dirname(above)
        folders.append(os.path.join(above, "scenarios"))
        folders.append(os.path.join(above, "share", "lockstep"))
    for path in [os.path.join(f, tail) for f in folders if f] + [
        os.path.join(here, "gpus.tsv")
    ]:
        if os.path.exists(path):
            return path
    raise Unknown("cannot find " + tail + ": set LOCKSTEP_DATA")


def read_label(name):
    """(kind, form, GB) of "A100 SXM 80GB", "a100-80gb-pcie", "rtx4090"."""
    kind, form, size = "", "", 0
    for word in re.split(r"[\s_-]+", name.strip().lower()):
        if re.fullmatch(r"\d+gb", word) or (
            word in ("16", "32", "40", "80", "96", "141") and kind
        ):
            size = int(word.rstrip("gb"))
        elif word.startswith("sxm"):
            form = "s"
        elif word == "pcie":
            form = "p"
        else:
            kind += word
    return kind, form, size


COLUMNS = {
    "bf16_tflops": ("bf16 peak", "TFLOP/s"),
    "fp16_tflops": ("fp16 peak", "TFLOP/s"),
    "fp8_tflops": ("fp8 peak", "TFLOP/s"),
    "tf32_tflops": ("tf32 peak", "TFLOP/s"),
    "fp32_tflops": ("fp32 peak", "TFLOP/s"),
    "memory_gb": ("memory", "GB"),
    "memory_tb_s": ("memory bandwidth", "TB/s"),
    "sms": ("multiprocessors", "count"),
}


def read_devices(path):
    """The catalogue's rows in the form of gpus.tsv: a fact a row, a name with
    its size where GPUs differ by that alone."""
    with open(path) as table:
        lines = [
            line.rstrip("\n").split("\t") for line in table if line[0] != "#"
        ]
    devices = [dict(zip(lines[0], fields)) for fields in lines[1:]]
    labels = [read_label(d["gpu"])[:2] for d in devices]
    for device, label in zip(devices, labels):
        name = device["gpu"].replace("-", " ")
        if labels.count(label) > 1 and not read_label(name)[2]:
            name += " %sGB" % device["memory_gb"]
        for column, (what, unit) in COLUMNS.items():
            if device[column] != "-":
                yield [name, what, device[column], unit, "spec"]
        yield [name, "like", device["like"], "GPU", "spec"]


def read_rows(path):
    devices = os.path.join(os.path.dirname(path), "devices.tsv")
    if os.path.exists(devices):
        yield from read_devices(devices)
    with open(path) as table:
        for line in table:
            fields = line.rstrip("\n").split("\t")
            if line[0] != "#" and len(fields) >= 5:
                yield fields


def take_row(gpu, what, value, unit):
    attention = ATTENTION.match(what)
    if what in PEAKS:
        gpu.peaks.setdefault(PEAKS[what], value * 1e12)
    elif what == "memory":
        gpu.memory = max(gpu.memory, value * 2**30)
    elif what == "memory bandwidth":
        gpu.bandwidth = max(gpu.bandwidth, value * 1e12)
    elif what == "memory copy":
        gpu.copy = value * 1e9
    elif what == "host to device":
        gpu.host_link = value * 1e9
    elif what == "multiprocessors":
        gpu.multiprocessors = int(value)
    elif what == "matmul share of the peak":
        gpu.matmul_share = value
    elif what == "matmul share of the peak in 16 bits":
        gpu.half_share = value
    elif attention:
        library, head, mask, sequence = attention.groups()
        key = (int(head), mask == "causal", int(sequence))
        rates = gpu.cudnn if library == "cuDNN" else gpu.attention
        rates[key] = value * 1e12


def take_attention(gpu, like, rows):
    """At the same share of the peak as the GPU that stands for this one where
    nothing was measured of it."""
    label, other = read_label(like), Gpu(like)
    for row in rows:
        if read_label(row[0])[:2] == label[:2] and row[1] != "like":
            take_row(other, row[1], float(row[2]), row[3])
    if other.attention:
        scale = gpu.peaks["half"] / other.peaks["half"]
        for own, theirs in ((gpu.attention, other.attention),
                            (gpu.cudnn, other.cudnn)):  # fmt: skip
            own.update((key, scale * rate) for key, rate in theirs.items())
        gpu.assumed.append("attention as on " + like.replace("-", " "))


def find(name, path=None):
    """The GPU called name; raises Unknown with a list of those there are."""
    path = path or find_table()
    kind, form, size = read_label(name)
    rows = list(read_rows(path))
    gpu, title, like = Gpu(name), "", "-"
    sized = [r for r in rows if r[1] == "memory"]
    if not size:
        own = [
            read_label(r[0])[2]
            for r in sized
            if read_label(r[0])[0] == kind
            and read_label(r[0])[1] in ("", form or "s")
        ]
        size = max(own, default=0)
    for row in rows:
        row_kind, row_form, row_size = read_label(row[0])
        if row_kind != kind or row_form not in ("", form or "s"):
            continue
        if row_size not in (0, size):
            continue
        if len(row[0]) > len(title):
            title = row[0]
        if row[1] == "like":
            like = row[2]
        else:
            take_row(gpu, row[1], float(row[2]), row[3])
    if not gpu.bandwidth or not gpu.peaks:
        raise Unknown(
            "GPU '%s': expected one of %s" % (name, ", ".join(names(path)))
        )
    gpu.name = title
    if not gpu.attention and like != "-" and not kind.startswith("mi"):
        take_attention(gpu, like, rows)
    gpu.settle()
    return gpu


def names(path=None):
    """Of the GPUs that a step can be predicted for."""
    rows = list(read_rows(path or find_table()))
    rated = {read_label(r[0])[0] for r in rows if r[1] in PEAKS}
    fed = {read_label(r[0])[:2] for r in rows if r[1] == "memory bandwidth"}
    known = []
    for row in rows:
        label = read_label(row[0])
        if row[1] != "memory" or label[0] not in rated:
            continue
        if label[:2] in fed or (label[0], "") in fed:
            known.append(row[0])
    return sorted(set(known))
