"""What every estimator says of its training: in lines, in a notebook and in one safe file."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ...certificate.notebook import certificate_html
from ...memory.trace_keeping import completed, joined
from ...result import Result, Trace

#: Columns that differ by more make every method slow.
UNEVEN = 100.0


class Reported:
    """The method `save`, with `oneslack.load` as the way back; the training's certificate and its course."""

    #: The file of `_saving/` that knows how; an estimator may have the two methods below of its own instead.
    _saving = "linear"

    result_: Result
    objective_: float
    dual_objective_: float
    duality_gap_: float
    n_iter_: int
    validation_scores_: list[tuple[int, float]]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Parameters and what else is learned: stored by name, and not listed for checkers."""

    def save(self, path: str | PathLike[str], proof: bool = False) -> None:
        """Write the model with its certificate to one safe file; `oneslack.load` reads it.

        Parameters
        ----------
        path : str or path
            The file appears whole or not at all.  It holds no code: of a model of your own it has the name,
            the weights and the parameters, and needs it again: `oneslack.load(path, model=...)`.
        proof : bool, default=False
            Whether to add the duals, which prove the certificate: with the examples `oneslack verify` and
            `oneslack.check_proof` recompute it without trusting this library.  Of two classes they take 8
            bytes an example.
        """
        from ...formats import save_model

        save_model(path, *self._to_file(proof))

    def _to_file(self, proof=False):
        """(header, arrays) of a fitted estimator, perhaps with its proof."""
        check_is_fitted(self)
        header, arrays = _room(self).to_file(self)
        if proof:
            from .._saving.proof import proof_to_file

            proof_to_file(self, header, arrays)
        return header, arrays

    @classmethod
    def _from_file(cls, header, arrays, *model):
        """The estimator; a ValueError, TypeError or KeyError where something is missing or wrong."""
        return _room(cls).from_file(cls, header, arrays, *model)

    @property
    def best_validation_score_(self) -> float:
        """The best of `validation_scores_`: that of the model that was kept."""
        return max(score for _, score in self.validation_scores_)

    def _repr_html_inner(self):
        return self._certificate_html() + super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._certificate_html() + bundle["text/html"]
        return bundle

    def _certificate_html(self) -> str:
        """A line for notebooks; nothing before the fit."""
        if not hasattr(self, "objective_"):
            return ""
        details = [f"{self.n_iter_:,} steps", *sorted({result.solver for result in self._results()})]
        return certificate_html(self.objective_, self.dual_objective_, self._is_certified(), details)

    def _results(self) -> list:
        """Those of the fit, one a problem; none of a model that was loaded."""
        return list(self.result_.parts) if hasattr(self, "result_") else []

    def _is_certified(self) -> bool:
        """Is the gap proved?  A model file remembers it."""
        results = self._results()
        if not results:
            return getattr(self, "_kept_certified", True)
        return all(result.certified for result in results) and getattr(self, "certified_", True)

    @property
    def trace_(self) -> Trace:
        """Trace of the bounds over time, those of several problems added up; a model file keeps some rows."""
        results = self._results()
        return joined(map(completed, results)) if results else self._kept_trace


class Exported:
    """An estimator that scikit-learn has a like of."""

    def to_sklearn(self) -> Any:
        """A fitted estimator of scikit-learn with the same predictions, for whatever knows scikit-learn.

        Nothing is trained: skl2onnx, skops and the like get the learned numbers in scikit-learn's own class.

        Returns
        -------
        estimator : estimator of scikit-learn
            A linear classifier is a LinearSVC, with loss="logistic" a LogisticRegression; a LinearSVR stays
            one, but "pinball" is a QuantileRegressor, and "huber" an SGDRegressor.  A KernelSVC is an SVC.
            Where scikit-learn's class knows two classes only, there is one a class in a OneVsRestClassifier.
            The order of a RankSVM is that of a LinearRegression, and KernelFeatures are a Nystroem.
        """
        from .to_sklearn import exported

        return exported(self)


class Sharded:
    """An estimator that learns from shards, too."""

    def memory_estimate(self, shards: Any) -> int | None:
        """What training on shards will take, as `solver=oneslack.Streaming("2GB")` plans it.

        Parameters
        ----------
        shards : what `oneslack.formats.open_shards` gives

        Returns
        -------
        size : int or None
            Bytes beside what this process holds already; None where the solver keeps to no budget.
        """
        from .sharded_tasks import memory_estimate

        return memory_estimate(self, shards)


def _room(estimator):
    """Read when it is needed: most estimators are not saved, and files of one need nothing of the others."""
    return import_module(f".._saving.{estimator._saving}", __package__)


class PlainLines:
    """Print a line whenever the gap has closed by a fifth; every step when verbose > 1."""

    def __init__(self, verbose):
        self.every, self.last = verbose > 1, float("inf")

    def __call__(self, row):
        if self.every or row.iteration == 1 or row.gap < 0.8 * self.last:
            self.last = row.gap
            print(
                f"step {row.iteration:6d}  {row.seconds:8.2f} s  gap {row.gap:.2e}  "
                f"primal {row.primal:.6g}  dual {row.dual:.6g}",
                flush=True,
            )
        return False


def open_end(model, open_ends, n_problems, X) -> str:
    """The warning that problems did not reach what was asked for; X is the matrix of features, or None."""
    worst = max(open_ends, key=lambda result: result.gap)
    epsilon = model._stopping_epsilon()
    goal = f"tol={model.tol:g}" if epsilon is None else f"epsilon={epsilon:g}"
    of_them = f" ({len(open_ends)} of {n_problems} classes)" if n_problems > 1 else ""
    text = (
        f"{type(model).__name__} stopped at a relative duality gap of {model.duality_gap_:.2g} before it "
        f"reached {goal}{of_them}: {worst.status.advice}"
    )
    spread = 1.0 if X is None else column_spread(X)
    if spread > UNEVEN:
        text += (
            f"; the largest values of the features differ by a factor of {spread:.0e}, so scaling would help"
        )
    return f"{text}."


def column_spread(X):
    """Largest over smallest of the columns' largest absolute values, columns of zeros aside."""
    if sp.issparse(X):
        columns = np.zeros(X.shape[1])
        np.maximum.at(columns, X.indices, np.abs(X.data))
    else:
        columns = np.maximum(X.max(axis=0), -X.min(axis=0))
    columns = columns[columns > 0]
    return columns.max() / columns.min() if len(columns) else 1.0
