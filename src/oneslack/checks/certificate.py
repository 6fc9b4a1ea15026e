"""Conformance of a fitted estimator: is what it says of itself so?

    dual_objective_ <= optimum <= P(w) <= objective_

P(w) and the predictions are computed anew from their definitions (definitions/), by plain NumPy, without the
solvers: in rational numbers where the problem is small, so that P(w) <= objective_ is compared without a
tolerance.  The optimum is not known, but every P is at least as large: a lower bound that is above P at any w
is false, so better w are looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isclose
from typing import Any

import numpy as np

from ..errors import CertificateError, OneslackError
from ..objective import relative_gap
from ..result import Status

#: Numbers of a problem up to which P is computed in rational ones.
SMALL = 20_000
#: By what share a sum of floats may be wrong, and by what share an objective may lie above P at its weights.
ROUNDING, LOOSE = 1e-7, 1e-6


@dataclass(frozen=True)
class CertificateReport:
    """What `check_certificate` found; all of it agrees.

    objective, dual   as the estimator says
    recomputed        P at its weights, by definition
    lowest            the least P that was found at any weights
    exact             whether P was compared without a tolerance
    """

    estimator: str
    n_problems: int
    objective: float
    dual: float
    recomputed: float
    lowest: float
    certified: bool
    exact: bool

    def __str__(self) -> str:
        kind = "in rational numbers" if self.exact else "in floats"
        bound = (
            f"no weights were found below its bound {self.dual:.6g} (the lowest P is {self.lowest:.6g})"
            if self.certified
            else "its lower bound is an estimate, and was not compared"
        )
        return (
            f"{self.estimator} agrees with its definition: objective {self.objective:.6g}, computed anew "
            f"{kind}; {bound}; predictions are the best by score"
        )


def check_certificate(
    estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None, steps: int = 50,
) -> CertificateReport:  # fmt: skip
    """Compute the certificate of a fitted estimator anew; raise CertificateError where it is not so.

    Parameters
    ----------
    estimator : a fitted estimator
        LinearSVC, LinearSVR, RankSVM, OrdinalSVC, MetricSVC, KernelSVC, StructuralSVM, SequenceTagger or
        GrammarParser.
    X, y : the examples that it was fitted on, as `fit` took them
        Of shape (n, d) and (n,), or sequences of inputs and outputs.
    sample_weight : array-like of shape (n,) or None
        Their weights.
    groups : array-like of shape (n,) or None
        Of a RankSVM.
    steps : int, default=50
        Steps that are tried to find weights with an objective below the lower bound.

    Returns
    -------
    CertificateReport, to print

    Examples
    --------
    >>> import oneslack
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(200, 5, random_state=0)
    >>> report = oneslack.check_certificate(oneslack.LinearSVC(C=0.5).fit(X, y), X, y)
    >>> report.recomputed <= report.objective and report.dual <= report.lowest
    True
    """
    from .definitions.estimators import recomputed

    _refuse_changed(estimator)
    check = _Check(type(estimator).__name__, estimator)
    check.arithmetic()
    known = recomputed(estimator, X, y, sample_weight, groups)
    check.predictions(known)
    values = check.objectives(known.objectives)
    lows = check.lower_bounds(known.objectives, steps) if check.certified else values
    return CertificateReport(
        check.name, len(known.objectives), estimator.objective_, estimator.dual_objective_,
        float(sum(values)), float(sum(lows)), check.certified, all(map(_is_small, known.objectives)),
    )  # fmt: skip


def _refuse_changed(estimator):
    """No certificate, or one that is not meant for the weights and examples at hand."""
    if not hasattr(estimator, "objective_"):
        raise OneslackError(f"{type(estimator).__name__} is not fitted: call fit first")
    if hasattr(estimator, "reduction_error_"):
        raise OneslackError("the certificate is of the model before `reduce`; check it before")
    if getattr(estimator, "n_forgotten_", 0):
        raise OneslackError(
            f"{estimator.n_forgotten_} examples of `partial_fit` are forgotten: nothing to compare"
        )


def _is_small(objective):
    return objective.size <= SMALL and not objective.is_rounded


def _number(objective):
    """P: a Fraction where the problem is small."""
    return objective.exactly().value() if _is_small(objective) else objective.value()


class _Check:
    """What an estimator says, and the sentences for what is not so."""

    def __init__(self, name, estimator):
        self.name, self.estimator = name, estimator
        result = getattr(estimator, "result_", None)
        self.results = [] if result is None else list(result.parts)
        self.certified = estimator._is_certified()

    def _refuse(self, sentence):
        raise CertificateError(f"{self.name}: {sentence}")

    def arithmetic(self):
        """Gap, sums and status follow from the bounds."""
        said = self.estimator
        objective, dual, gap = said.objective_, said.dual_objective_, said.duality_gap_
        if not (np.isfinite(objective) and np.isfinite(dual)):
            self._refuse(f"objective_ is {objective!r} and dual_objective_ {dual!r}, which are no bounds")
        if self.certified and dual > objective:
            self._refuse(f"dual_objective_ is {dual!r}, above objective_, which is {objective!r}")
        expected = relative_gap(objective, dual)
        if not isclose(gap, expected, rel_tol=1e-6, abs_tol=1e-15):
            self._refuse(
                f"duality_gap_ is {gap!r}, but (objective_ - dual_objective_) / objective_ is {expected!r}"
            )
        for result in self.results:
            if result.status is Status.CONVERGED and not result.gap <= said.tol:
                self._refuse(f"the status is CONVERGED at a gap of {result.gap!r}, above tol={said.tol!r}")
        self._sums(objective, dual)

    def _sums(self, objective, dual):
        if not self.results:
            return
        primals, duals = sum(r.primal for r in self.results), sum(max(r.dual, 0.0) for r in self.results)
        for name, said, total in (("objective_", objective, primals), ("dual_objective_", dual, duals)):
            if not isclose(said, total, rel_tol=1e-9, abs_tol=1e-300):
                self._refuse(f"{name} is {said!r}, but the results of the training add up to {total!r}")

    def predictions(self, known):
        """Each is among the best by score; ties are allowed."""
        lacking, size = known.lacking(), known.size()
        i = int(np.argmax(lacking - ROUNDING * size))
        if not lacking[i] <= ROUNDING * size[i] + 1e-300:
            self._refuse(
                f"the prediction of example {i} lacks {float(lacking[i])!r} of the best score by definition"
            )

    def objectives(self, objectives):
        """P at the weights, one a problem, is what is said, and not more."""
        values = [_number(objective) for objective in objectives]
        if any(result.primal_error > 0 for result in self.results):
            return values  # P was estimated from some of the examples
        said = [("objective_", self.estimator.objective_, sum(values))]
        if len(self.results) == len(values):
            parts = enumerate(zip(self.results, values, strict=True))
            said += [(f"the primal of problem {k}", result.primal, value) for k, (result, value) in parts]
        for name, primal, value in said:
            self._compare(name, primal, value)
        return values

    def _compare(self, name, primal, value):
        room = 0 if isinstance(value, Fraction) else ROUNDING * abs(value)
        claim = f"{name} is {primal!r}, but P at the weights is {float(value)!r}"
        if value > Fraction(primal) + Fraction(room):
            self._refuse(f"{claim}, more by {float(value - Fraction(primal)):.3g}")
        rounding = sum(result.rounding for result in self.results)  # by which primals were rounded up
        if value < primal - LOOSE * abs(primal) - rounding:
            self._refuse(f"{claim}: it is not of these weights")

    def lower_bounds(self, objectives, steps):
        """No P that can be found is below a lower bound."""
        from .definitions.descent import lowest

        duals = [result.dual for result in self.results]
        if len(duals) != len(objectives):
            duals = [self.estimator.dual_objective_] if len(objectives) == 1 else [0.0] * len(objectives)
        lows = [_number(lowest(part, dual, steps)) for part, dual in zip(objectives, duals, strict=True)]
        claims = [*zip(duals, lows, strict=True), (self.estimator.dual_objective_, sum(lows))]
        for dual, low in claims:
            room = 0 if isinstance(low, Fraction) else ROUNDING * abs(low)
            if Fraction(dual) > low + room:
                self._refuse(f"dual_objective_ is {dual!r}, but there are weights with P = {float(low)!r}")
        return lows
