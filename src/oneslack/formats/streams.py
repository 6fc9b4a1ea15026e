"""The text of a file, plain or packed, window by window, each cut at a line's end.

Where a window ends depends on where it starts and on nothing else: whoever begins in the middle, at the
end of a window, gets the same windows.
"""

import re

import numpy as np

from ..errors import FormatError
from .compression import packer_of, reading, unpacking

#: No line, row or sentence is longer than so many bytes: else a file that is something else would be
#: read into memory as one line.
LONGEST = 1 << 28
BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")


class TextStream:
    """The unpacked bytes of a file from `start` on; `done` is how many of the packed ones were read."""

    def __init__(self, path, start=0):
        self.path = path
        with reading(path):
            self._file = open(path, "rb")  # noqa: SIM115, closed by __exit__
            self._name = packer_of(self._file.peek(8))
        self._stream = self._file
        with self._told() as module:
            if module is not None:
                self._stream = module.open(self._file)
            if start:  # a pipe has no other place; packed bytes are unpacked and forgotten
                self._stream.seek(start)

    def read(self, n):
        """The next n bytes; fewer at the end only."""
        with self._told():
            return self._stream.read(n)

    def _told(self):
        return reading(self.path) if self._name is None else unpacking(self.path, self._name)

    @property
    def done(self):
        return self._file.tell()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._stream.close()
        self._file.close()


def windows(stream, size, start, last_end, unit="line"):
    """(text, stop) of successive windows of at most `size` bytes that end in a newline, from `start` on.

    stop is the position after the window; last_end(text) the one after the last place where a text may be
    cut, or 0.  Where there is none the window grows.
    """
    ahead, place = b"", start
    while True:
        n, end = size, 0
        while end == 0:
            ahead += stream.read(n - len(ahead)) if n > len(ahead) else b""
            if len(ahead) < n:  # the file ends here
                if ahead:
                    yield ahead if ahead.endswith(b"\n") else ahead + b"\n", place + len(ahead)
                return
            end = last_end(ahead[:n])
            n *= 2
            if end == 0 and n > max(LONGEST, size):
                raise FormatError(
                    f"{stream.path}: from byte {place} on no {unit} ends within {n // 2} bytes; is it of "
                    "another format, or does a quote or an empty line lack?"
                )
        text, ahead, place = ahead[:end], ahead[end:], place + end
        yield text, place


def line_end(text):
    """After the last newline."""
    return text.rfind(b"\n") + 1


def row_end(text):
    """After the last newline outside of quotes: a cell of CSV may hold newlines."""
    if b'"' not in text:
        return line_end(text)
    data = np.frombuffer(text, np.uint8)
    newlines, quotes = np.flatnonzero(data == ord("\n")), np.flatnonzero(data == ord('"'))
    outside = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def sentence_end(text):
    """After the last line of blanks, which ends a sentence."""
    end = text.rfind(b"\n\n")
    if end >= 0:
        return end + 2
    return max((match.end() for match in BLANK_LINE.finditer(text)), default=0)
