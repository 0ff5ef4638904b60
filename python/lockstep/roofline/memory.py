"""What the device's memory holds: live storages of fake tensors, each rounded
up as the caching allocator does."""

import itertools
import weakref

BLOCK = 512


def rounded(storage):
    return -(-storage.nbytes() // BLOCK) * BLOCK


class Entry:
    """A storage that tensors of the script share."""

    __slots__ = (
        "serial", "size", "on_gpu", "answer", "guard", "values", "known"
    )  # fmt: skip

    def __init__(self, serial, size):
        self.serial = serial
        self.size = size
        self.on_gpu = False
        self.answer = None  # of .item(), where one is known
        self.values = None  # a real storage, if it is small
        self.known = False  # whether that holds what the script's would


class Memory:
    def __init__(self):
        self.entries = {}  # by address of the storage
        self.alive = set()  # serials
        self.serials = itertools.count(1)
        self.used = 0
        self.peak = 0  # since the script last reset it
        self.before = 0  # the peak until then

    def entry(self, tensor):
        """The entry of a fake tensor's storage, made where there is none."""
        storage = tensor.untyped_storage()
        address = storage._cdata
        entry = self.entries.get(address)
        if entry is None:
            entry = Entry(next(self.serials), rounded(storage))
            self.entries[address] = entry
            self.alive.add(entry.serial)
            entry.guard = weakref.ref(
                storage, lambda _, address=address: self.drop(address)
            )
        return entry

    def place(self, entry):
        """Puts a storage on the device."""
        if not entry.on_gpu:
            entry.on_gpu = True
            self.used += entry.size
            self.peak = max(self.peak, self.used)

    def resized(self, storage):
        """FSDP frees what it gathered by storage.resize_(0)."""
        entry = self.entries.get(storage._cdata)
        if entry is None:
            return
        size = rounded(storage)
        if entry.on_gpu:
            self.used += size - entry.size
            self.peak = max(self.peak, self.used)
        entry.size, entry.known = size, False

    def drop(self, address):
        entry = self.entries.pop(address)
        self.alive.discard(entry.serial)
        if entry.on_gpu:
            self.used -= entry.size

    def reset_peak(self):
        self.before = max(self.before, self.peak)
        self.peak = self.used

    def clear(self):
        """Takes everything off the device."""
        for entry in self.entries.values():
            entry.on_gpu = False
        self.used = self.peak = self.before = 0
