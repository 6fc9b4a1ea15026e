"""What oneslack raises: each message is one sentence that says what is wrong and what to do."""

import sys
from typing import Any

#: Frames of these packages stand between a warning and the line that asked for the training.
_BETWEEN = {"oneslack", "sklearn", "joblib", "functools"}


class OneslackError(ValueError):
    """Something the caller can put right: a bad argument, a bad file, an incomplete model.

    >>> import oneslack
    >>> try:
    ...     oneslack.load("absent.model")
    ... except oneslack.OneslackError as error:
    ...     print(error)
    absent.model: there is no such file; check the path.
    """


class CertificateError(OneslackError):
    """A fitted estimator says of itself what is not so; the message has both numbers.

    >>> import oneslack
    >>> model = oneslack.LinearSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> model.coef_ = 3 * model.coef_
    >>> try:
    ...     oneslack.check_certificate(model, [[0.0], [1.0], [2.0]], [0, 1, 1])
    ... except oneslack.CertificateError as error:
    ...     print(str(error).split(" is ")[0])
    LinearSVC: objective_
    """


class ProofError(CertificateError):
    """The proof that a model file carries does not hold; the message names the line of it that fails.

    >>> import oneslack
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    >>> oneslack.LinearSVC().fit(X, y).save("small.model", proof=True)
    >>> try:
    ...     oneslack.check_proof("small.model", X, [0, 1, 0])
    ... except oneslack.ProofError as error:
    ...     print(str(error).split(":")[0])
    small.model
    """


class FormatError(OneslackError):
    """A file that cannot be read or written as asked; the message names the file and the line.

    >>> import oneslack
    >>> from oneslack.formats import read_trees
    >>> try:
    ...     read_trees("absent.trees")
    ... except oneslack.FormatError as error:
    ...     print(str(error).split(":")[0])
    absent.trees
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a training, raised once what was learned so far is safe.

    result  what it has come to: the Result of `solve` and `minimize`, the `result_` of an estimator, which is
            fitted, the Path of `path`, the Tuning of `tune`

    >>> import numpy as np, oneslack
    >>> def ctrl_c(row):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     oneslack.solve(oneslack.Problem(oneslack.Binary(2), np.eye(2), [1, -1]), callbacks=[ctrl_c])
    ... except oneslack.Interrupted as stop:
    ...     print(stop.result.status.name, stop.result.dual <= stop.result.primal)
    INTERRUPTED True
    """

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result


class ModelError(OneslackError):
    """A model breaks its contract; the message names the method, the example and the numbers."""


class MachineLost(OneslackError):
    """A machine of a cluster is gone, and the training cannot go on without it."""

    def advised(self, path):
        """The same, with how to go on; path: of a checkpoint that was written, or None."""
        then = "train anew (a checkpoint would have kept the run)"
        if path is not None:
            then = f"go on from the checkpoint {path} with resume"
        return MachineLost(f"{str(self).rstrip('.')}, then {then}.")


class InconsistentWarning(UserWarning):
    """Bounds or answers of a model contradict each other; the status is INCONSISTENT, nothing is certified.

    >>> import warnings, oneslack
    >>> warnings.simplefilter("error", oneslack.InconsistentWarning)  # stop at once where that happens
    >>> warnings.simplefilter("default", oneslack.InconsistentWarning)
    """


def users_level():
    """The stacklevel of the first frame outside this library and scikit-learn's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _package(frame) in _BETWEEN:
        frame, level = frame.f_back, level + 1
    return level


def _package(frame):
    return frame.f_globals.get("__name__", "").partition(".")[0]
