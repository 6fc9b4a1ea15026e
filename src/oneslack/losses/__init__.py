"""Scalar losses phi(y, z) of a target y and a score z, one a file, each with its conjugate.

    P(w) = 1/2 |w|^2 + C sum_i s_i phi(y_i, <w, x_i>)
    D(a) = sum_i [t_i a_i - charge(a_i)] - 1/2 |sum_i a_i x_i|^2           a_i = C s_i p_i,  p = -d phi / d z

A loss is a NamedTuple of its parameters with the methods of `Loss` below.  They take numbers; compiled loops
(_jit/scalar_loss.py) call the same methods, each loss compiled on its own.  A new one is a file and a line in
LOSSES.  Where methods share work, a loss may have them in one, too: `touched` and `gained` of scalar_loss.py;
functions that its methods call are listed in `helpers`.
"""

from __future__ import annotations

from typing import Protocol

from .hinge import Hinge
from .huber import Huber
from .logistic import Logistic
from .pinball import Pinball
from .squared_hinge import SquaredHinge
from .squared_tube import SquaredTube
from .tube import Tube

#: By the names that estimators and the command line know.
LOSSES = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "epsilon_insensitive": Tube,
    "squared_epsilon_insensitive": SquaredTube,
    "pinball": Pinball,
    "huber": Huber,
}


def names(has_sides: bool) -> tuple[str, ...]:
    """Of the losses for two sides, or of those for numbers."""
    return tuple(name for name, kind in LOSSES.items() if kind.has_sides == has_sides)


def loss_of(name, given):
    """The loss with that name; its parameters are those that the object `given` has by their names."""
    kind = LOSSES[name]
    return kind(**{part: float(getattr(given, part, kind._field_defaults[part])) for part in kind._fields})


class Loss(Protocol):
    """phi(y, z), convex in z, and its duals: -phi*(-p) = t p - charge(p).

    C is the weight of the loss, and a = C p its dual; q is the curvature that D has in a beside the charge.
    """

    #: Whether y is -1 or +1, and phi a function of y z; else y is any number.
    has_sides: bool
    #: The largest |p|; where there is none, charge(a, C) is at least a^2 / 4 C.
    steepest: float
    #: The largest curvature of phi; inf where it has kinks.
    stiffest: float

    def value(self, y, z):
        """phi."""

    def dual(self, y, z):
        """p = -d phi / d z; at a kink the p that is nearest to 0."""

    def target(self, y):
        """t, of numbers or arrays."""

    def charge(self, y, a, C):
        """What D pays for a, beside t a; of numbers or arrays."""

    def bounds(self, y, C):
        """(lowest, highest) a; of arrays."""

    def smooth(self, y, z, mu):
        """(p, error) of phi with its kinks rounded off by mu: the dual there, and by how much phi_mu is above
        t p - charge(p) - p z."""

    def curvature(self, p, mu):
        """d^2 phi_mu / d z^2 where the dual is p."""

    def place(self, y, a, C):
        """-1 where a is at 0 and needs a push to leave, 1 where it is at another bound, else 0."""

    def pull(self, y, z, a, C):
        """How much D grows as |a| does.  Below 0 at place -1, above 0 at place 1, the dual rests."""

    def step(self, y, z, a, C, q):
        """The best a' of t a' - charge(a') - (a' - a) z - q/2 (a' - a)^2."""

    def size(self, y):
        """No kink of phi lies beyond it, and no |t p| + |charge(p)| is larger than `steepest` times it; of
        arrays."""
