"""The lines of a text held as bytes: how many, where, and in blocks for compiled loops."""

import numpy as np

from ..errors import FormatError
from .compression import read_buffer

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


def decoded(path, text, encoding="utf-8", lines_before=0):
    """Bytes as a string; a sentence names the line of those that are none."""
    try:
        return bytes(text).decode(encoding)
    except UnicodeDecodeError as error:
        line = lines_before + line_number(error.object, error.start)
        what = error.object[error.start : error.start + 10]
        raise FormatError(
            f"{path}, line {line}: {what!r} is not {encoding}; convert the file to UTF-8."
        ) from error


def read_text(path, encoding="utf-8"):
    """The text of a whole file, plain or packed, without its byte order mark."""
    buffer = read_buffer(path)
    return decoded(path, buffer[text_start(buffer) :], encoding)


def first_where(buffer, is_wanted=bytes.strip):
    """(line, start, stop) of the first line that is wanted, as bytes; an empty one at the end for none."""
    start = text_start(buffer)
    while start < len(buffer):
        stop = buffer.find(b"\n", start) + 1 or len(buffer)
        line = bytes(buffer[start:stop])
        if is_wanted(line):
            return line, start, stop
        start = stop
    return b"", start, start


def blocks_of_lines(buffer, start=None, size=None):
    """(array, offset) of successive blocks, each a number of whole lines that end in a newline."""
    size = size or BLOCK
    view = _as_array(buffer)
    if start is None:
        start = text_start(buffer)
    while start < len(buffer):
        stop = buffer.rfind(b"\n", start, start + size) + 1 or buffer.find(b"\n", start) + 1
        if stop == 0:  # the last line lacks its newline
            yield _as_array(bytes(buffer[start:]) + b"\n"), start
            return
        yield view[start:stop], start
        start = stop


def _as_array(buffer):
    view = np.frombuffer(buffer, np.uint8)
    view.flags.writeable = False  # one type of array, so that a loop is compiled once
    return view
