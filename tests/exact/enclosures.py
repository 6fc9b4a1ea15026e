"""Bounds of logarithms and exponentials of rational numbers, nearly a hundred digits long.

`decimal` rounds exp and ln correctly, so that each is off by less than one unit in the last of DIGITS digits;
what rounding of their arguments adds is known by their slopes.  Errors are a share of what is bounded,
however small that is: 1 + exp(-m) and 1 - p are not rounded to 1, their logarithms are first terms of series.
"""

from decimal import Context, Decimal
from fractions import Fraction

DIGITS = 100
CONTEXT, WIDE = Context(prec=DIGITS), Context(prec=2 * DIGITS)
#: More than ten roundings of a number up to 1.
ROUNDED = Fraction(1, 10 ** (DIGITS - 2))
#: The exponent of exp(-FAR) is still one of `decimal`'s; the square of FAINT is no rounding of it.
FAR, FAINT = 10**6, Fraction(1, 10**DIGITS)


def decimal(value) -> Decimal:
    """A rational number, rounded."""
    value = Fraction(value)
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def small_exp(x) -> Decimal:
    """exp(-|x|), off by a share of ROUNDED (1 + |x|); or 0 where it is less than exp(-FAR)."""
    return CONTEXT.exp(decimal(-abs(x))) if abs(x) < FAR else Decimal(0)


def log_1_plus(e: Decimal) -> Decimal:
    """log(1 + e) of 0 <= e <= 1, off by a share of ROUNDED: e - e^2 / 2 + e^3 / 3 - ... where e is small."""
    if e > Decimal("1e-20"):  # the logarithm of 1 + e, with twice the digits
        return CONTEXT.plus(WIDE.ln(WIDE.add(1, e)))
    total = Decimal(0)
    for k in range(8, 0, -1):  # to e^9 / 9, less than e 1e-160
        total = CONTEXT.multiply(e, CONTEXT.subtract(CONTEXT.divide(1, k), total))
    return total


def softplus(x: Fraction) -> tuple[Fraction, Fraction]:
    """(low, high) around log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)): of e = exp(-|x|) a share of an
    error is no more of log(1 + e), whose slope is at most log(1 + e) / e."""
    if abs(x) >= FAR:
        above = Fraction(CONTEXT.exp(Decimal(-FAR))) * 2
        return max(x, Fraction(0)), max(x, Fraction(0)) + above
    least = Fraction(log_1_plus(small_exp(x)))
    error, more = ROUNDED * (1 + abs(x)) * least, max(x, Fraction(0))
    return more + least - error, more + least + error


def entropy(p: Fraction) -> tuple[Fraction, Fraction]:
    """(low, high) around -p log p - (1 - p) log(1 - p), 0 <= p <= 1."""
    small = min(p, 1 - p)
    if not small:
        return Fraction(0), Fraction(0)
    log = -Fraction(CONTEXT.ln(decimal(small)))
    other, rest = small, 1 - small  # (1 - p) (p + p^2 / 2 + ...) lies between p - p^2 and p
    if small > FAINT:
        other = -rest * Fraction(WIDE.ln(WIDE.divide(Decimal(rest.numerator), Decimal(rest.denominator))))
    total = small * log + other
    # Rounding a share moves its log by a unit, and that is rounded by units as large as itself.
    error = ROUNDED * (small * (1 + log) + 2 * other)
    return total - error, total + error


def share(x: Fraction) -> Fraction:
    """1 / (1 + exp(-x)), rounded to some number between 0 and 1."""
    small = small_exp(x)
    return Fraction(CONTEXT.divide(1 if x > 0 else small, CONTEXT.add(1, small)))
