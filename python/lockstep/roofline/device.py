"""The simulated device: its streams, the host that runs ahead of them, and
what is charged to the rank's clock.

Each stream has the time at which it will be free. An operation starts when its
stream is free and the host has come to launch it. The rank's own clock stands
still meanwhile; it is moved on, by charge(), to the moment at which a call of
communication can start, at which the host waits for the device, or reads a
clock. So a collective runs beside what is enqueued after it, as on a GPU."""

HOST_NS = 6000  # assumed: PyTorch on the host, for each kernel of eager mode
COMPILED_HOST_NS = 2000  # assumed: for each kernel of compiled code
DEFAULT = 0


class Clock:
    """The clock of a rank alone: charge() moves it."""

    def __init__(self):
        self.ns = 0

    def now(self):
        return self.ns

    def charge(self, ns, label):
        self.ns += ns


class Device:
    """clock has now() and charge(ns, label), nanoseconds."""

    def __init__(self, gpu, clock):
        self.gpu = gpu
        self.clock = clock
        self.free = {DEFAULT: clock.now()}  # by stream
        self.host = clock.now()
        self.stream = DEFAULT
        self.captured = None  # by a CUDA graph: launches, None for a step
        self.on_step = None  # is called when an optimizer's step is done
        self.spans = []  # [start, end, label] not charged yet
        self.busy = {}  # by label: ns of kernels
        self.kernels = 0
        self.flops = 0.0
        self.traffic = 0.0

    def launch(self, ns, label, kernels=1, host_ns=HOST_NS):
        """Enqueues kernels that take ns together."""
        if self.captured is not None:
            self.captured.append((ns, label, kernels))
            return
        self.host += kernels * host_ns
        # The first may start once it is launched, the last not before it is.
        start = max(
            self.free.get(self.stream, 0),
            self.host - (kernels - 1) * host_ns,
        )
        end = max(start + ns, self.host)
        self.free[self.stream] = end
        self.kernels += kernels
        self.busy[label] = self.busy.get(label, 0) + ns
        last = self.spans[-1] if self.spans else None
        if last and last[2] == label and last[1] <= start:
            last[1] = end
        else:
            self.spans.append([start, end, label])

    def end(self):
        """When all that is enqueued will be done."""
        return max(self.host, *self.free.values())

    def charge_until(self, time):
        """Moves the rank's clock to time, if that is ahead."""
        now = self.clock.now()
        while self.spans and now < time:
            start, end, label = self.spans[0]
            if end <= now:
                self.spans.pop(0)
                continue
            if start > now:
                until, label = min(start, time), "launch"
            else:
                until = min(end, time)
            self.clock.charge(until - now, label)
            now = until
        if now < time:
            self.clock.charge(time - now, "launch")

    def before_call(self):
        """A call of communication on the current stream is about to be made:
        the clock moves to where its tensors are ready."""
        if self.captured is not None:
            from .answers import refuse_call

            refuse_call("communication in a CUDA graph", "it outside")
        self.charge_until(max(self.free.get(self.stream, 0), self.host))

    def after_call(self):
        """A call, or the wait for one, is over: the stream goes on then."""
        now = self.clock.now()
        self.free[self.stream] = max(self.free.get(self.stream, 0), now)

    def synchronize(self):
        """The host waits for the device."""
        self.charge_until(self.end())
        self.host = max(self.host, self.clock.now())

    def wait_stream(self, stream):
        """The current stream goes on only after what stream has so far."""
        self.wait_until(self.free.get(stream, 0))

    def wait_until(self, time):
        self.free[self.stream] = max(self.free.get(self.stream, 0), time)

    def restart(self):
        """Forgets what is enqueued and not charged."""
        now = self.clock.now()
        self.free = {stream: now for stream in self.free}
        self.host = now
        self.spans.clear()
        self.busy.clear()
        self.kernels, self.flops, self.traffic = 0, 0.0, 0.0
