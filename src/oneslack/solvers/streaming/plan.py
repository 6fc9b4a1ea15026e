"""What a budget of memory buys: which arrays are made, and how large each is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Bytes beside its numbers that an example takes while it is worked on (targets, weights, duals, lists), and
#: those for each of its scores.
BESIDE, BESIDE_A_SCORE = 96, 48
#: The same where all examples are in memory, and nothing is copied.
BESIDE_ALL, BESIDE_ALL_A_SCORE = 64, 40
#: Vectors of weights that are alive at the same time.
VECTORS = 16
#: What is in memory mixes rows from several places: pieces in it, as a rule; bytes of a piece, at least if it
#: is no more than a block, and at most.
PIECES = 16
PIECE_BYTES, MOST_BYTES = 256_000, 4_000_000
#: The share of the rows in memory that is for those not new, where not all that may move find a place: an
#: example is then optimised with four blocks on its way through memory.
REMEMBERED = 0.75
#: Examples that the gap is estimated by.
PROBE = 4096


@dataclass(frozen=True)
class Plan:
    """How many examples are in memory.

    rows, numbers   that the working set holds, remembered and new ones
    piece_rows      rows that are read at a time
    block_rows, block_numbers   new ones, at most, until the working set is optimised again
    probe_rows      by which the gap is estimated
    duals           type of the duals of all examples
    fixed           bytes of what does not depend on these: duals, weights
    bytes           of all together
    """

    rows: int
    numbers: int
    piece_rows: int
    block_rows: int
    block_numbers: int
    probe_rows: int
    duals: np.dtype
    fixed: int
    bytes: int


def bytes_to_hold_all(source, n_scores, n_params, hessians):
    """What training takes where all examples are in memory."""
    row = source.row_bytes + BESIDE_ALL + BESIDE_ALL_A_SCORE * n_scores
    return int(source.n * row + _weights(n_params, hessians))


def plan_for(source, memory, n_scores, n_params, hessians) -> Plan:
    """Spend `memory` bytes.  n_scores: of an example; hessians: how many matrices (n_params, n_params) there
    are at the same time."""
    n = source.n
    duals = np.dtype(np.float64 if 8 * n * n_scores <= memory // 8 else np.float32)
    fixed = duals.itemsize * n * n_scores + _weights(n_params, hessians)
    row = _row(source, n_scores)
    room = int((memory - fixed) / row) if memory > fixed else 0
    probe = min(PROBE, n, room // 16)
    rows = min(n, room - probe)
    block = int((1.0 - REMEMBERED) * rows)
    a_byte = 1.0 / max(source.row_bytes, 1.0)
    wanted = max(rows // PIECES, int(PIECE_BYTES * a_byte))
    pieces = source.pieces(max(1, min(wanted, block, int(MOST_BYTES * a_byte))))
    largest = int(source.numbers(pieces).max())
    numbers = int(np.ceil(rows * source.n_numbers / n))
    if block < 2 or numbers < 2 * largest:
        from ...data.bytes import in_words

        needed = fixed + 16 * (row + source.row_bytes * largest * n / max(source.n_numbers, 1))
        raise ValueError(
            f"memory={in_words(memory)} is too little: duals and weights take {in_words(fixed)}, and some "
            f"examples must fit beside them; give at least {in_words(1.1 * needed)}."
        )
    return Plan(
        rows, numbers, max(hi - lo for lo, hi in pieces), block,
        max(int((1.0 - REMEMBERED) * numbers), largest), probe, duals, fixed,
        int(fixed + (rows + probe) * row),
    )  # fmt: skip


def _row(source, n_scores):
    return source.row_bytes + BESIDE + BESIDE_A_SCORE * n_scores


def _weights(n_params, hessians):
    return 8 * n_params * (VECTORS + hessians * n_params)
