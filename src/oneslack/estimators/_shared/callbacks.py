"""Progress of a fit: scikit-learn's callbacks (1.9 on), and plain lines for `verbose`."""

from __future__ import annotations

from contextlib import contextmanager

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Nothing to support."""

    def with_callbacks(method):
        """The method itself."""
        return method


@contextmanager
def fit_progress(estimator, X, y, sample_weight=None):
    """Yield the callbacks for `solve`: each gets a TraceRow, a true answer stops the training.

    They are those of `estimator._row_callbacks` (private: the command line's live table), lines for
    `verbose`, and one step of scikit-learn's callbacks for each step of the solver.
    """
    callbacks = list(getattr(estimator, "_row_callbacks", None) or ())
    if estimator.verbose:
        callbacks.append(PlainLines(int(estimator.verbose)))
    if not getattr(estimator, "_skl_callbacks", None):
        yield callbacks
        return
    metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
    data = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
    # The number of steps is not known: the gap decides.
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(**data)

    def step_done(row):
        step = context.subcontext(task_name="step")
        step.call_on_fit_task_begin(**data)
        return step.call_on_fit_task_end(**data)

    yield [*callbacks, step_done]
    context.call_on_fit_task_end(**data, reconstruction_attributes=lambda: _learned(estimator))


def _learned(estimator):
    names = ("coef_", "intercept_", "classes_", "thresholds_")
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


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
