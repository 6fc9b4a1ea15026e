"""The parser of delimited text: whole lines in, a dense matrix and the places of the labels out.

It knows plain cells only.  At the first line that does not fit it stops; the caller finds out why.
"""

import numpy as np

from .decimals import compiled, scan_number

NEWLINE, SPACE, TAB, RETURN = 10, 32, 9, 13


@compiled
def skip_blanks(data, i, delimiter):
    while data[i] == SPACE or data[i] == RETURN or (data[i] == TAB and delimiter != TAB):
        i += 1
    return i


@compiled
def parse_cells(data, delimiter, n_columns, label, row, X, starts, spans):
    """Parse lines of n_columns cells into row `row` onwards of X (rows, features).

    data uint8; `label` is the label's column, or -1; starts (rows,) takes the position of each
    line and spans (rows, 2) the label's.  A number that cannot be rounded here becomes nan.
    Returns (position, row): the position is the end of data, or the line that does not fit.
    """
    i = 0
    while i < data.size:
        line = i
        i = skip_blanks(data, i, delimiter)
        if data[i] == NEWLINE:
            i += 1
            continue
        feature = 0
        for column in range(n_columns):
            i = skip_blanks(data, i, delimiter)
            if column == label:
                spans[row, 0] = i
                while data[i] != delimiter and data[i] != NEWLINE:
                    i += 1
                spans[row, 1] = i
            else:
                value, stop, exact = scan_number(data, i)
                if stop == i:
                    return line, row
                X[row, feature] = value if exact else np.nan
                feature += 1
                i = skip_blanks(data, stop, delimiter)
            if data[i] != (delimiter if column < n_columns - 1 else NEWLINE):
                return line, row
            i += 1
        starts[row] = line
        row += 1
    return i, row
