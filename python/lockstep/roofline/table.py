"""What modules and operations take, from a file in place of a roofline:

    # gpu: h100
    name	us
    forward layers.0	310.5
    backward layers.0	640
    optimizer	1250
    embedding	48

A row of a module, by the names that a trace of roofline has, is charged once a
call and stands for all inside it; one of an operation of PyTorch, wherever no
such row does. gpu names the one whose memory the script sees."""

import math

from .catalogue import Unknown


class Table:
    """Raises Unknown with file, line and what was expected there."""

    def __init__(self, path):
        self.path = path
        self.gpu = None
        self.rows = {}  # name: ns
        self.used = set()  # names of rows
        self.charged = set()  # calls, but for forward ones
        self.lacking = {}  # operations without a row, in their order
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise Unknown("%s: expected a table: %s" % (path, error)) from None
        self._read(lines)

    def _fail(self, number, expected, got):
        raise Unknown('%s:%d: expected %s, got "%s"' % (
            self.path, number, expected, got))

    def _read(self, lines):
        has_columns = False
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                name, _, value = line[1:].partition(":")
                if name.strip() == "gpu":
                    self.gpu = value.strip()
            elif not has_columns:
                has_columns = line == "name\tus"
                if not has_columns:
                    self._fail(number, "the columns name and us", line)
            elif line:
                self._take(number, line)
        if not self.gpu:
            self._fail(1, 'a line "# gpu: NAME" in the head',
                       lines[0] if lines else "")

    def _take(self, number, line):
        name, tab, text = line.partition("\t")
        try:
            us = float(text)
        except ValueError:
            us = math.nan
        if not tab or not 0 <= us < math.inf:
            self._fail(number, "a name, a tab and microseconds", line)
        if name in self.rows:
            self._fail(number, "each name once", name)
        self.rows[name] = int(us * 1000)

    def modules(self):
        """The names of those that have a row."""
        return {name.split(" ", 1)[1] for name in self.rows
                if name.startswith(("forward ", "backward "))}

    def charge(self, name):
        """ns of the row; None: there is none."""
        if name in self.rows:
            self.used.add(name)
        return self.rows.get(name)

    def take(self, call, operation):
        """ns of an operation. call: (name of a row, number) that it is part
        of, or None."""
        if call is not None and call[0] in self.rows:
            if call in self.charged or call[0].startswith("forward "):
                return 0  # forward, it was when the call began
            self.charged.add(call)
            return self.charge(call[0])
        ns = self.charge(operation)
        if ns is None:
            self.lacking[operation] = True
        return ns or 0

    def warnings(self):
        """What had no row, and rows of nothing that ran: in a line each."""
        idle = [name for name in self.rows if name not in self.used]
        if self.lacking:
            yield "%s has no row for %s: they took no time" % (
                self.path, _list(list(self.lacking)))
        if idle:
            yield "%s has rows for %s: nothing of that name ran" % (
                self.path, _list(idle))


def _list(names):
    more = ", and %d more" % (len(names) - 6) if len(names) > 6 else ""
    return ", ".join(names[:6]) + more
