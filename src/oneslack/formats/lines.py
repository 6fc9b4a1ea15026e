"""The lines of a text held as bytes: how many, where, and in blocks for compiled loops."""

import numpy as np

BLOCK = 1 << 24  # bytes in a block, but for longer lines: between two blocks Ctrl-C is heard
CACHED = 1 << 18  # bytes that are counted while they sit in the processor's cache
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def text_start(buffer):
    """Where the text begins: after the byte order mark that some editors put first."""
    return len(BYTE_ORDER_MARK) if buffer[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK else 0


def count(buffer, byte, stop=None):
    """How often one byte, given as b":", occurs before position `stop`."""
    view = _as_array(buffer)[:stop]
    return sum(
        np.count_nonzero(view[start : start + CACHED] == ord(byte)) for start in range(0, len(view), CACHED)
    )


def line_number(buffer, position):
    """The number, from 1, of the line that holds the byte at `position`."""
    return 1 + count(buffer, b"\n", stop=position)


def blocks_of_lines(buffer, start=None):
    """(array, offset) of successive blocks, each a number of whole lines that end in a newline."""
    view = _as_array(buffer)
    if start is None:
        start = text_start(buffer)
    while start < len(buffer):
        stop = buffer.rfind(b"\n", start, start + BLOCK) + 1
        if stop == 0:
            stop = buffer.find(b"\n", start) + 1
        if stop == 0:  # the last line lacks its newline
            yield _as_array(bytes(buffer[start:]) + b"\n"), start
            return
        yield view[start:stop], start
        start = stop


def _as_array(buffer):
    view = np.frombuffer(buffer, np.uint8)
    view.flags.writeable = False  # one type of array, so that a loop is compiled once
    return view
