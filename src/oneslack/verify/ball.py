"""Where the optimum w* is, which settled predictions rest on: what a file says of it holds.

    P(w) - min P >= 1/2 |r (w - w*)|^2      min P - D >= 1/2 |r (w* - u)|^2,    u the point of the duals

Added up, w* lies in a ball around the middle of w and u, of the radius sqrt(P - D - |r (w - u)|^2 / 4), and
in one of sqrt(2 (P - D)) around w.  A file may claim any ball that one of these is in.
"""

from math import sqrt

import numpy as np

from ..errors import ProofError
from .claim import LOOSE


def check_ball(radius, shift, apart, gap, where="", drift=0.0):
    """A ProofError unless the ball of this radius holds one that is proven.

    shift   |r (m - c)|, |r (w - c)|: how far its centre c is from the middle m of w and u, and from w
    apart   |r (w - u)|
    """
    around = sqrt(max(gap - 0.25 * apart * apart, 0.0))
    least = min(shift[0] + around, shift[1] + sqrt(2.0 * max(gap, 0.0)))
    if not radius * (1.0 + LOOSE) >= least - drift * sqrt(max(gap, 0.0)):
        raise ProofError(
            f"the file says that the weights of the optimum are within {radius!r} of these{where}, but the "
            f"proof shows {least!r}"
        )


def length(v) -> float:
    """|v|."""
    return float(np.linalg.norm(np.ravel(v)))
