"""Bounds of logarithms and exponentials of rational numbers, nearly a hundred digits long.

`decimal` rounds exp and ln correctly, so that each is off by less than one unit in the last of DIGITS digits;
what rounding of their arguments adds is known by their slopes.
"""

from decimal import Context, Decimal
from fractions import Fraction

DIGITS = 100
CONTEXT = Context(prec=DIGITS)
#: More than ten roundings of a number up to 1; exp(-FAR) is less.
ROUNDED, FAR = Fraction(1, 10 ** (DIGITS - 2)), 1000


def decimal(value) -> Decimal:
    """A rational number, rounded."""
    value = Fraction(value)
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def small_exp(x) -> Decimal:
    """exp(-|x|), or 0 where that is less than a rounding of 1."""
    return CONTEXT.exp(decimal(-abs(x))) if abs(x) < FAR else Decimal(0)


def softplus(x: Fraction) -> tuple[Fraction, Fraction]:
    """(low, high) around log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)); no slope is above 1."""
    middle = max(x, Fraction(0)) + Fraction(CONTEXT.ln(CONTEXT.add(1, small_exp(x))))
    error = ROUNDED * (1 + abs(x))
    return max(middle - error, x, Fraction(0)), middle + error


def entropy(p: Fraction) -> tuple[Fraction, Fraction]:
    """(low, high) around -p log p - (1 - p) log(1 - p), 0 <= p <= 1."""
    parts = [(share, Fraction(CONTEXT.ln(decimal(share)))) for share in (p, 1 - p) if share]
    total = -sum((share * log for share, log in parts), Fraction(0))
    # Rounding a share moves its log by a unit, and that is rounded by units as large as itself.
    error = ROUNDED * sum(share * (1 + abs(log)) for share, log in parts)
    return max(total - error, Fraction(0)), total + error


def share(x: Fraction) -> Fraction:
    """1 / (1 + exp(-x)), rounded to some number between 0 and 1."""
    small = small_exp(x)
    return Fraction(CONTEXT.divide(1 if x > 0 else small, CONTEXT.add(1, small)))
