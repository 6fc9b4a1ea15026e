"""What every estimator says of its training: objective, bound, gap, course."""

from __future__ import annotations

from dataclasses import replace

from ...certificate.notebook import certificate_html
from ...certificate.rounding import sum_down, sum_up
from ...memory.trace_keeping import completed, joined
from ...objective import relative_gap
from .parameters import seed_of
from .saved import Saved


class Certified(Saved):
    """Attributes objective_, dual_objective_, duality_gap_, n_iter_, result_ and trace_.

    Who sets `_checkpoints` to a CheckpointFolder before `fit` has the training written down there.
    """

    _checkpoints = None
    #: Set by whoever fits on the same data again and again (regularisation_path.py): they are not compared.
    _data_key = None

    def __getstate__(self):
        state = super().__getstate__()
        return {
            name: value for name, value in state.items() if name not in ("_row_callbacks", "_checkpoints")
        }

    def _training(self):
        """How `solve` is to be called, by the parameters; `conclude` raises what it returns on Ctrl-C."""
        names = ("solver", "tol", "max_iter", "time_limit")
        return {name: getattr(self, name) for name in names} | {
            "epsilon": self._stopping_epsilon(),
            "seed": seed_of(getattr(self, "random_state", None)),
            "interrupt": "return",
        }

    def _keeping(self, number=0):
        """Where problem `number` of the training is written down, as `solve` takes it."""
        folder = self._checkpoints
        return {} if folder is None else {"checkpoint": folder.of(number), "resume": folder.resume}

    def _stopping_epsilon(self):
        """The papers' rule to stop by, or None."""
        return self.epsilon

    def _store_certificate(self, results, key):
        self.objective_ = sum_up([result.primal for result in results])
        # Risks and norms are never negative: 0 is a bound, whatever the solver has proved.
        self.dual_objective_ = sum_down([max(result.dual, 0.0) for result in results])
        self.duality_gap_ = relative_gap(self.objective_, self.dual_objective_)
        self.n_iter_ = max(result.n_iter for result in results)
        if key is None:
            results = [replace(result, state={}) for result in results]
        self.result_ = results if len(results) > 1 else results[0]
        self._fitted_on = key

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
        results = getattr(self, "result_", [])
        return results if isinstance(results, list) else [results]

    def _is_certified(self) -> bool:
        """Is the gap proved?  A model file remembers it."""
        results = self._results()
        if not results:
            return getattr(self, "_kept_certified", True)
        return all(result.certified for result in results) and getattr(self, "certified_", True)

    @property
    def trace_(self):
        """Trace of the bounds over time, those of several problems added up; a model file keeps some rows."""
        results = self._results()
        return joined(map(completed, results)) if results else self._kept_trace
