"""Sizes of memory and files as people write them: 64MB, 1.5 GB, 2GiB."""

import re

from ..errors import OneslackError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
SIZE = re.compile(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([a-z]*)\s*", re.IGNORECASE)
LEAST = 1000
SHOWN = ("bytes", "KB", "MB", "GB", "TB")


def in_bytes(size):
    """The number of bytes of a size: 64_000_000 or "64MB"; a size below 1 KB is a slip."""
    match = SIZE.fullmatch(str(size))
    unit = match and match[2].upper()
    if unit not in UNITS or float(match[1]) * UNITS[unit] < LEAST:
        raise OneslackError(
            f"the size {size!r} is not understood; give a number and KB, MB or GB, such as 64MB, from 1KB on."
        )
    return int(float(match[1]) * UNITS[unit])


def in_words(n_bytes):
    """A number of bytes in three digits: 64 MB."""
    power = min((len(str(int(n_bytes))) - 1) // 3, len(SHOWN) - 1)
    number = n_bytes / 1000**power
    return f"{number:,.0f} {SHOWN[power]}" if number >= 100 else f"{number:.3g} {SHOWN[power]}"
