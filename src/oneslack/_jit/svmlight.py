"""The svmlight parser: bytes of whole lines in, the arrays of a CSR matrix out.

    line    = number [qid:integer] {index:number} [# anything]

Every line handed in ends in a newline.  A newline is no digit and no blank, so each inner loop
stops there by itself and none has to ask whether the array is over.
"""

import numpy as np

from .decimals import DIGITS_LIMIT, ZERO, compiled, scan_integer, scan_number

# What parse_lines found; all but DONE and FULL are errors.
DONE = 0
FULL = 1  # no room left to note numbers that scan_number cannot round
BAD_LABEL = 2
BAD_QID = 3
BAD_INDEX = 4
BAD_VALUE = 5

MAX_INDEX = 2**31 - 2
NOTHING, LABEL = -2, -1  # in place of an index: before and at the number that opens a line

NEWLINE, SPACE, TAB, RETURN, HASH, COLON = 10, 32, 9, 13, 35, 58
LOWER_Q, LOWER_I, LOWER_D = 113, 105, 100


@compiled
def skip_blanks(data, i):
    while data[i] == SPACE or data[i] == TAB or data[i] == RETURN:
        i += 1
    return i


@compiled
def parse_lines(data, i, row, k, labels, qids, has_qid, starts, indptr, indices, values, hard):
    """Parse data[i:] into row `row` and slot `k` onwards.

    data uint8; labels, qids, has_qid, starts (rows,), where starts takes the position of each
    line; indptr (rows + 1,); indices, values (slots,); hard (capacity, 3) takes (slot, start, stop)
    of each number left to the caller, the slot of a label being -1 - row.  Returns (what, position,
    row, k, n_hard, ordered): on DONE all lines are in; on FULL all lines before `position`; on an
    error `position` is the offending token.  `ordered` says whether the indices of every row
    strictly increase.
    """
    n_hard = 0
    ordered = True
    while i < data.size:
        line, line_k, line_hard = i, k, n_hard
        index = NOTHING
        i = skip_blanks(data, i)
        while data[i] != NEWLINE and data[i] != HASH:
            token = i
            previous = index
            what = BAD_VALUE
            if previous == NOTHING:
                index = LABEL
                what = BAD_LABEL
                has_qid[row] = False
            elif previous == LABEL and data[i] == LOWER_Q and not has_qid[row]:
                if data[i + 1] != LOWER_I or data[i + 2] != LOWER_D or data[i + 3] != COLON:
                    return BAD_QID, token, row, k, n_hard, ordered
                qids[row], stop = scan_integer(data, i + 4)
                i = skip_blanks(data, stop)
                has_qid[row] = stop > token + 4 and abs(qids[row]) <= DIGITS_LIMIT
                if not has_qid[row] or (i == stop and data[i] != NEWLINE and data[i] != HASH):
                    return BAD_QID, token, row, k, n_hard, ordered
                continue
            else:
                index = 0
                digit = np.int64(data[i]) - ZERO
                while 0 <= digit <= 9 and index <= MAX_INDEX:
                    index = index * 10 + digit
                    i += 1
                    digit = np.int64(data[i]) - ZERO
                if data[i] != COLON or i == token or index > MAX_INDEX:
                    return BAD_INDEX, token, row, k, n_hard, ordered
                i += 1

            start = i
            value, stop, exact = scan_number(data, start)
            i = skip_blanks(data, stop)
            if stop == start or (i == stop and data[i] != NEWLINE and data[i] != HASH):
                return what, token, row, k, n_hard, ordered
            if not exact:
                if n_hard == len(hard):
                    return FULL, line, row, line_k, line_hard, ordered
                hard[n_hard, 0] = -1 - row if index == LABEL else k
                hard[n_hard, 1] = start
                hard[n_hard, 2] = stop
                n_hard += 1
            if index == LABEL:
                labels[row] = value
            else:
                ordered = ordered and index > previous
                indices[k] = index
                values[k] = value
                k += 1
        if index != NOTHING:
            starts[row] = line
            row += 1
            indptr[row] = k
        while data[i] != NEWLINE:
            i += 1
        i += 1
    return DONE, i, row, k, n_hard, ordered
