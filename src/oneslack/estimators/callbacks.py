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
def fit_progress(estimator, X, y):
    """Yield the callbacks for `solve`: each gets a TraceRow, a true answer stops the training."""
    callbacks = []
    if estimator.verbose:
        callbacks.append(PlainLines(estimator.verbose))
    if not getattr(estimator, "_skl_callbacks", None):
        yield callbacks
        return
    # The number of steps is not known: the gap decides.
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def step_done(row):
        step = context.subcontext(task_name="step")
        step.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        return step.call_on_fit_task_end(estimator=estimator, X=X, y=y)

    yield [*callbacks, step_done]
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


class PlainLines:
    """Print a line whenever the gap has closed by a fifth; every step when verbose > 1."""

    def __init__(self, verbose):
        self.every, self.last = verbose > 1, float("inf")

    def __call__(self, row):
        if self.every or row.gap <= 0.8 * self.last:
            self.last = row.gap
            print(
                f"step {row.iteration:6d}  {row.seconds:8.2f} s  gap {row.gap:.2e}  "
                f"primal {row.primal:.6g}  dual {row.dual:.6g}",
                flush=True,
            )
        return False
