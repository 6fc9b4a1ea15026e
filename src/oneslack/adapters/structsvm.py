"""structsvm's names, for motile and other programs that import it: with a certificate, without an ILP solver
for the quadratic programme.

`import oneslack.adapters.structsvm as structsvm`, or `install()` before an old script imports it.

structsvm minimises  F(w) = lambda/2 |w|^2 + L(w)  by a bundle of planes, L(w) = max_y <w, phi y' - phi y> +
Delta(y', y) over the y that obey linear constraints.  F is lambda times the P of `oneslack.minimize` with
C = 1 / lambda, and `eps` is the same: F(w) is at most eps above a lower bound of the optimum.  What differs:

- The planes' quadratic programme is solved by solvers/planes.py, the integer one by HiGHS, through SciPy,
  with a bound of what it may have missed (models/programme/highs.py): ilpy is only asked
  what its constraints are.
- While F is far above the bound, integer programmes are solved to a share of that distance.
- The w of the smallest F is returned, which is that of the last quadratic programme only if it is better; it
  is looked at once more.
- max_iterations counts what is dear, questions to the callback.
- `certificate()` tells what the last `optimize` has proved; a run cut short is warned of.

The truth y' need not obey the constraints (motile has variables of appearances at 0), so L may be negative.
"""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..certificate.rounding import gamma
from ..driver import solve
from ..errors import users_level
from ..models.programme.highs import Effort, maximise
from ..models.programme.programme import Programme
from ..problems.any_risk import RiskProblem
from ..result import Result
from ..solvers.one_slack import OneSlack

__all__ = ["BundleMethod", "HammingCosts", "SoftMarginLoss", "__version__"]

#: The structsvm whose names these are.
__version__ = "0.2.0"

logger = logging.getLogger("structsvm")

#: Share of the distance of F from its bound that an integer programme may leave open; and before there is
#: one, of its value.
SHARE, FIRST = 0.05, 0.01


class Certificate(NamedTuple):
    """What was proved of a w: optimum of F >= lower, F(w) <= objective, both with rounding.

    certified   whether they are proven; a callback's own values are taken at their word
    calls       questions to the callback
    result      the Result behind them, in units of P = F / lambda
    """

    objective: float
    lower: float
    certified: bool
    calls: int
    result: Result

    @property
    def gap(self) -> float:
        return self.objective - self.lower


_last = []


def certificate() -> Certificate:
    """That of the last `BundleMethod.optimize`, as motile's `Solver.fit_weights` keeps none."""
    if not _last:
        raise ValueError(
            "nothing was optimised yet; call BundleMethod.optimize or motile's fit_weights first"
        )
    return _last[0]


class LinearCosts:
    """Costs <coefficients, y> + offset of an output."""

    def set_coefficients(self, coefficients):
        """Coefficients (n,) of the variables."""
        self.coefficients = coefficients

    def set_offset(self, offset):
        """What is added."""
        self.offset = offset

    def get_coefficients(self):
        """Coefficients (n,) of the variables."""
        return self.coefficients

    def get_offset(self):
        """What is added."""
        return self.offset


class HammingCosts(LinearCosts):
    """How many variables differ from the truth: sum_i |y'_i - y_i| = sum_i y'_i + (1 - 2 y'_i) y_i.

    Parameters
    ----------
    ground_truth : array of 0/1 of shape (n,)
    mask : array of shape (n,) or None
        What each variable counts, for example 0 where nothing is known.
    """

    def __init__(self, ground_truth, mask=None):
        truth = np.asarray(ground_truth, dtype=float)
        mask = np.ones_like(truth) if mask is None else np.asarray(mask, dtype=float)
        if mask.shape != truth.shape:
            raise ValueError(f"mask has shape {mask.shape} but ground_truth {truth.shape}")
        self.set_coefficients(mask * (1.0 - 2.0 * truth))
        self.set_offset(float(np.sum(mask * truth)))


class SoftMarginLoss:
    """L(w) = max_y <w, phi y' - phi y> + Delta(y', y) over binary y that obey linear constraints.

    Parameters
    ----------
    constraints : ilpy.Constraints
        Or anything that iterates over what has get_coefficients(), a dict from numbers of variables, and
        get_relation() and get_value() as ilpy's constraints do.
    features : array of shape (dims, n)
        phi: one column for each variable.
    ground_truth : array of 0/1 of shape (n,)
        y'.
    costs : LinearCosts or None
        Delta; None for HammingCosts.
    """

    def __init__(self, constraints, features, ground_truth, costs=None):
        truth = np.asarray(ground_truth, dtype=float)
        features = np.asarray(features, dtype=float)
        if features.ndim != 2 or truth.shape != features.shape[1:]:
            raise ValueError(
                f"features has shape {features.shape} and ground_truth {truth.shape}, expected (dims, n) "
                "and (n,)"
            )
        costs = HammingCosts(truth) if costs is None else costs
        self._programme = Programme(features.T, **_rows(constraints, len(truth)))
        self._features, self._truth, self._at_truth = features, truth, features @ truth
        self._g, self._b = np.asarray(costs.get_coefficients(), float), float(costs.get_offset())

    def value_and_gradient(self, w):
        """(L(w), a subgradient (dims,)).

        Parameters
        ----------
        w : array of shape (dims,)
        """
        return self.bounds(w)[:2]

    def bounds(self, w, effort=Effort()):  # noqa: B008 (it never changes)
        """(value, gradient, upper): value <= L(w) <= upper; and value + <gradient, v - w> <= L(v) for all v.

        Parameters
        ----------
        w : array of shape (dims,)
        effort : Effort
            How far the integer programme is solved.
        """
        f = w @ self._features
        y, best = maximise(self._programme, self._g - f, effort)
        gradient = self._at_truth - self._features @ y
        value = float(self._g @ y) + self._b + float(gradient @ w)
        at_truth = float(self._at_truth @ w)
        sizes = np.abs(w) @ np.abs(self._features)
        error = gamma(sum(self._features.shape) + 32) * (
            float(sizes @ (1.0 + np.abs(self._truth)))
            + float(np.abs(self._g).sum())
            + abs(self._b)
            + abs(best)
        )
        return value, gradient, max(best + at_truth + self._b + error, value)


def _rows(constraints, n):
    """A, lb and ub of constraints as ilpy has them."""
    A, lb, ub = np.zeros((len(constraints), n)), [], []
    for row, constraint in enumerate(constraints):
        if getattr(constraint, "get_quadratic_coefficients", dict)():
            raise ValueError(
                f"constraint {row} has quadratic terms, which HiGHS cannot solve; make it linear"
            )
        for j, value in constraint.get_coefficients().items():
            if not 0 <= j < n:
                raise ValueError(f"constraint {row} names variable {j}, but there are {n}")
            A[row, j] = value
        # ilpy's enumeration, by name: it need not be installed.
        relation, value = constraint.get_relation().name, float(constraint.get_value())
        lb.append(-np.inf if relation == "LessEqual" else value)
        ub.append(np.inf if relation == "GreaterEqual" else value)
    return {"A": A, "lb": np.array(lb), "ub": np.array(ub)}


class BundleMethod:
    """Minimise lambda/2 |w|^2 + L(w) for a convex L given by its value and a subgradient.

    Parameters
    ----------
    value_gradient_callback : function
        value, gradient = value_gradient_callback(w); that of a `SoftMarginLoss` is asked for its bound, too.
    dims : int
        Size of w.
    regularizer_weight : float
        lambda, above 0.
    eps : float
        Stop where lambda/2 |w|^2 + L(w) is at most so much above a lower bound of the optimum.

    Attributes
    ----------
    certificate : Certificate
        What the last `optimize` has proved.
    """

    def __init__(self, value_gradient_callback, dims, regularizer_weight, eps):
        if not (np.isfinite(regularizer_weight) and regularizer_weight > 0.0):
            raise ValueError(f"regularizer_weight must be a positive number; got {regularizer_weight!r}")
        self._callback, self._dims = value_gradient_callback, int(dims)
        self._lambda, self._eps = float(regularizer_weight), float(eps)
        owner = getattr(value_gradient_callback, "__self__", None)
        is_ours = isinstance(owner, SoftMarginLoss) and value_gradient_callback == owner.value_and_gradient
        self._loss = owner if is_ours else None

    def optimize(self, max_iterations=None):
        """The w (dims,) of the smallest value that was seen.

        Parameters
        ----------
        max_iterations : int or None
            Questions to the callback, at most; None for as many as it takes.
        """
        if max_iterations is not None and max_iterations < 1:
            return np.zeros(self._dims)
        calls, effort = 0, Effort(mip_gap=FIRST)
        most = np.inf if max_iterations is None else max_iterations

        def risk(w):
            nonlocal calls
            calls += 1
            return self._callback(w) if self._loss is None else self._loss.bounds(w, effort)

        def is_over(row):
            nonlocal effort
            objective, lower = self._scaled(row)
            effort = Effort(enough=SHARE * max(objective - lower, self._eps))
            logger.info("question %d: F %g, at least %g", calls, objective, lower)
            # A little less than eps: what is proven is rounded.
            return objective - lower <= 0.99 * self._eps or calls >= most

        problem, solver = RiskProblem(risk, self._dims, 1.0 / self._lambda), _Bundle()
        result = solve(problem, solver, tol=0.0, callbacks=[is_over], keep_state=False)
        w = self._conclude(problem, result, solver.candidate, lambda: calls)
        logger.info("%s", result)
        if self.certificate.gap > self._eps:
            text = (
                f"stopped after {calls} questions at a gap of {self.certificate.gap:.3g}, above "
                f"eps={self._eps:g}; raise max_iterations or eps"
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=users_level())
        return w

    def _conclude(self, problem, result, candidate, calls):
        """The best w, the last candidate looked at too, and its certificate."""
        w, objective, lower = result.w, *self._scaled(result)
        if candidate is not None:
            at_candidate = self._lambda * problem.upper(candidate, problem.primal(candidate))
            if at_candidate < objective:
                w, objective = candidate, at_candidate
        self.certificate = Certificate(objective, lower, result.certified, calls(), result)
        _last[:] = [self.certificate]
        return w

    def _scaled(self, bounds):
        """Bounds of P as those of F."""
        return self._lambda * bounds.primal, self._lambda * bounds.dual


class _Bundle:
    """structsvm's own algorithm, the planes of candidates without a line search, whose last candidate is
    known afterwards."""

    name, needs = OneSlack.name, OneSlack.needs

    def __init__(self):
        self.step = None

    def steps(self, problem, start=None, tol=1e-3):
        for step in OneSlack(line_search=False, inner=0.0).steps(problem, start, tol):
            self.step = step
            yield step

    @property
    def candidate(self):
        return None if self.step is None else self.step.state()["best"].get("candidate")


# In structsvm's place.

#: Its modules.
_PARTS = ("bundle_method", "hamming_costs", "linear_costs", "soft_margin_loss")
_NAMES = ("structsvm", *(f"structsvm.{name}" for name in _PARTS))
_replaced = {}
_rebound = []


def install():
    """Let `import structsvm` find this module; `uninstall()` or the end of a `with` undoes it.  What has been
    imported before, as motile does, is given these names too.

    Returns
    -------
    undo : context manager
        `with install(): ...`, or leave it alone.
    """
    here = sys.modules[__name__]
    theirs = sys.modules.get("structsvm")
    if theirs is not here:
        for name in _NAMES:
            _replaced[name] = sys.modules.get(name)
            sys.modules[name] = here
        for module in list(sys.modules.values()) if theirs is not None else ():
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if value is theirs:
                    _rebound.append((module, name, theirs))
                    setattr(module, name, here)
    undo = ExitStack()
    undo.callback(uninstall)
    return undo


def uninstall():
    """Give structsvm its name back; nothing happens where it was never replaced."""
    while _rebound:
        setattr(*_rebound.pop())
    while _replaced:
        name, theirs = _replaced.popitem()
        if theirs is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = theirs
