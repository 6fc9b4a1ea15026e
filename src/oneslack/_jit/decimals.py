"""Decimal numbers in text, correctly rounded.

    number  = [+-] digits [. digits] [(e|E) [+-] digits]

is m * 10^e with an integer m.  Most are rounded correctly here: by one division or product when
m <= 2^53 and |e| <= 22 (both factors are then exact), by a division with remainder when m has up
to 18 digits.  For the few others the caller turns to Python's float().

After `start` the text must hold some byte that ends a number, such as a newline: no loop here asks
whether the array is over.
"""

import numpy as np

from .compiler import njit

DIGITS_LIMIT = 10**17  # an integer below it takes one more digit and still fits in 63 bits
EXACT_INTEGERS = 2**53
POWERS_OF_TEN = np.array([10.0**k for k in range(23)])  # 10^22 is the last exact one
SPLITTER = 2.0**27 + 1

PLUS, MINUS, POINT, ZERO, UPPER_E, LOWER_E = 43, 45, 46, 48, 69, 101

# Nobody calls these from C; leaving out that entry saves a tenth of the compile time.
compiled = njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)


@compiled
def divide_exactly(mantissa, power):
    """mantissa / power rounded once, and whether that is certain; power is an exact double.

    hi + lo = mantissa exactly; q = hi / power leaves a remainder that a double holds exactly (the
    product q * power is split by Dekker's method).  The correction (remainder + lo) / power is
    then known to 2^-51 of itself: when both ends of that interval round alike, so does the true
    quotient.
    """
    hi = np.float64(mantissa)
    lo = np.float64(mantissa - np.int64(hi))
    q = hi / power
    q_high = SPLITTER * q - (SPLITTER * q - q)
    q_low = q - q_high
    p_high = SPLITTER * power - (SPLITTER * power - power)
    p_low = power - p_high
    product = q * power
    lost = ((q_high * p_high - product) + q_high * p_low + q_low * p_high) + q_low * p_low
    correction = (((hi - product) - lost) + lo) / power
    doubt = abs(correction) * 2.0**-50
    value = q + (correction - doubt)
    return value, value == q + (correction + doubt)


@compiled
def to_double(mantissa, exponent):
    """mantissa * 10^exponent, and whether it is correctly rounded."""
    if exponent == 0 or mantissa == 0:
        return np.float64(mantissa), True
    if exponent < 0 and exponent >= -22:
        if mantissa <= EXACT_INTEGERS:
            return mantissa / POWERS_OF_TEN[-exponent], True
        return divide_exactly(mantissa, POWERS_OF_TEN[-exponent])
    if exponent <= 22 and exponent > 0 and mantissa <= EXACT_INTEGERS:
        return mantissa * POWERS_OF_TEN[exponent], True
    return 0.0, False


@compiled
def scan_integer(data, start):
    """The signed integer at start and the position after it: start itself when there is none.

    Digits beyond DIGITS_LIMIT are passed over: such an integer is only known to be large.
    """
    i = start
    if data[i] == MINUS or data[i] == PLUS:
        i += 1
    first = i
    integer = 0
    digit = np.int64(data[i]) - ZERO
    while 0 <= digit <= 9:
        if integer < DIGITS_LIMIT:
            integer = integer * 10 + digit
        i += 1
        digit = np.int64(data[i]) - ZERO
    if i == first:
        return 0, start
    return -integer if data[start] == MINUS else integer, i


@compiled
def scan_number(data, start):
    """The number at start, the position after it (start itself when there is none), is it exact."""
    i = start
    if data[i] == MINUS or data[i] == PLUS:
        i += 1
    first = i
    point = -1
    mantissa = 0
    fits = True
    while True:
        digit = np.int64(data[i]) - ZERO
        if 0 <= digit <= 9:
            fits = fits and mantissa < DIGITS_LIMIT
            if fits:
                mantissa = mantissa * 10 + digit
        elif digit == POINT - ZERO and point < 0:
            point = i
        else:
            break
        i += 1
    if i - first == (point >= 0):  # nothing, or a point alone
        return 0.0, start, True
    exponent = point + 1 - i if point >= 0 else 0
    if data[i] == LOWER_E or data[i] == UPPER_E:
        power, stop = scan_integer(data, i + 1)
        if stop == i + 1:
            return 0.0, start, True
        exponent += power
        i = stop
    value, certain = to_double(mantissa, exponent)
    return -value if data[start] == MINUS else value, i, certain and fits
