"""Linear complementarity problems with whole numbers, by Lemke's algorithm: no rounding, no cycling.

    find z >= 0 with  s = M z + q >= 0  and  s_i z_i = 0 for all i          M positive semi-definite

The tableau holds whole numbers over one common denominator, the last pivot (Edmonds, Bareiss): each
division below leaves no rest.  Ties of the ratio test are broken by the rows of the inverse of the basis
(the lexicographic rule), so that no basis comes twice.  Cottle, Pang & Stone (1992), sections 4.4 and 4.9.
"""

from fractions import Fraction
from math import gcd, lcm


def solve_lcp(M, q) -> list[Fraction]:
    """z (m,); M (m, m) and q (m,) of rational numbers."""
    rows = [_whole([*(-a for a in row), b]) for row, b in zip(M, q, strict=True)]
    return _Tableau(rows).solve()


def _whole(row):
    """The row times a positive number, all of it whole: the sign of s_i is all that counts."""
    row = [Fraction(value) for value in row]
    unit = lcm(*(value.denominator for value in row))
    numbers = [int(value * unit) for value in row]
    common = gcd(*numbers) or 1
    return [number // common for number in numbers]


class _Tableau:
    """I s - M z - 1 z_0 = q, of which the columns that are not in the basis are kept, and q last.

    Variables are numbers: s_i is i, z_i is m + i, z_0 is 2 m.  Entries are to be divided by `unit`.
    """

    def __init__(self, rows):
        self.m = m = len(rows)
        self.rows = [[*row[:-1], -1, row[-1]] for row in rows]
        self.columns = [m + i for i in range(m)] + [2 * m]  # which variable a column is of
        self.basis = list(range(m))
        self.unit = 1

    def solve(self):
        m = self.m
        if m and min(row[-1] for row in self.rows) < 0:
            entering = self._bring_in_z0()
            while (leaving := self._pivot(self.columns.index(entering))) != 2 * m:
                entering = leaving + m if leaving < m else leaving - m
        z = [Fraction(0)] * m
        for variable, row in zip(self.basis, self.rows, strict=True):
            if m <= variable < 2 * m:
                z[variable - m] = Fraction(row[-1], self.unit)
        return z

    def _bring_in_z0(self):
        """Make all q >= 0; returns the variable to enter next, the complement of the one that left."""
        lowest = min(row[-1] for row in self.rows)
        r = max(i for i, row in enumerate(self.rows) if row[-1] == lowest)
        pivot_row = self.rows[r]
        self.rows = [
            [-a for a in row] if row is pivot_row else [a - b for a, b in zip(row, pivot_row, strict=True)]
            for row in self.rows
        ]
        # The column of z_0 is now that of s_r: -1 in all rows, as s_r stands in its own row with a 1.
        for row in self.rows:
            row[-2] = -1
        self.columns[-1], self.basis[r] = r, 2 * self.m
        return self.m + r

    def _pivot(self, c):
        """The variable of column c enters; returns the one that leaves."""
        r = self._leaving_row(c)
        pivot_row, unit = self.rows[r], self.unit
        pivot = pivot_row[c]
        for i, row in enumerate(self.rows):
            factor = row[c]
            if i == r or (factor == 0 and pivot == unit):
                continue
            if factor:
                row[:] = [(a * pivot - factor * b) // unit for a, b in zip(row, pivot_row, strict=True)]
            else:
                row[:] = [a * pivot // unit for a in row]
            row[c] = -factor
        pivot_row[c] = unit
        self.unit = pivot
        leaving, self.basis[r] = self.basis[r], self.columns[c]
        self.columns[c] = leaving
        return leaving

    def _leaving_row(self, c):
        """The lexicographic ratio test; z_0 leaves as soon as it may."""
        candidates = [i for i, row in enumerate(self.rows) if row[c] > 0]
        if not candidates:
            raise ArithmeticError("no solution: a ray")
        candidates = self._least(candidates, c, [row[-1] for row in self.rows])
        for i in candidates:
            if self.basis[i] == 2 * self.m:
                return i
        k = 0
        while len(candidates) > 1:
            candidates = self._least(candidates, c, self._inverse_column(k))
            k += 1
        return candidates[0]

    def _least(self, candidates, c, values):
        """Those of the candidates whose value over the entry of column c is least."""
        best = candidates[:1]
        for i in candidates[1:]:
            difference = values[i] * self.rows[best[0]][c] - values[best[0]] * self.rows[i][c]
            if difference < 0:
                best = [i]
            elif difference == 0:
                best.append(i)
        return best

    def _inverse_column(self, k):
        """Column k of the inverse of the basis: that of s_k in the full tableau."""
        if k in self.basis:
            return [self.unit * (variable == k) for variable in self.basis]
        c = self.columns.index(k)
        return [row[c] for row in self.rows]
