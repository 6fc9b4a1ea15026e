"""LIBLINEAR's model files: lines `name value`, then `w` and a line a feature with a weight for each class.

    solver_type L2R_L2LOSS_SVC_DUAL
    nr_class 2
    label 1 -1
    nr_feature 3
    bias -1
    w
    0.5
    ...

Two classes have one column, above 0 for the first label; but for MCSVM_CS, which has two.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from ...errors import OneslackError
from .running import output_file

SOLVERS = {
    0: "L2R_LR", 1: "L2R_L2LOSS_SVC_DUAL", 2: "L2R_L2LOSS_SVC", 3: "L2R_L1LOSS_SVC_DUAL", 4: "MCSVM_CS",
    5: "L1R_L2LOSS_SVC", 6: "L1R_LR", 7: "L2R_LR_DUAL", 11: "L2R_L2LOSS_SVR", 12: "L2R_L2LOSS_SVR_DUAL",
    13: "L2R_L1LOSS_SVR_DUAL",
}  # fmt: skip


@dataclass(frozen=True)
class LinearText:
    """What such a file holds.

    labels      (K,) in the order of the weights, or None for regression
    n_features  d, without the column of the bias
    bias        the value of that column; below 0 there is none
    W           (rows, d), or (rows, d + 1) with a bias
    """

    solver: str
    labels: np.ndarray | None
    n_features: int
    bias: float
    W: np.ndarray

    def scores(self, X):
        """(n, rows) of X (n, d)."""
        scores = np.asarray(X @ self.W[:, : self.n_features].T)
        return scores + self.bias * self.W[:, -1] if self.bias >= 0 else scores

    def predict(self, X):
        """(n,) labels or numbers."""
        scores = self.scores(X)
        if self.labels is None:
            return scores[:, 0]
        best = (scores[:, 0] <= 0).astype(int) if len(self.W) == 1 else scores.argmax(axis=1)
        return self.labels[best]

    def probabilities(self, X):
        """(n, K) of a logistic model; one against the rest is divided by its sum."""
        p = 1.0 / (1.0 + np.exp(-self.scores(X)))
        return np.column_stack([p, 1.0 - p]) if len(self.W) == 1 else p / p.sum(axis=1, keepdims=True)


def write_model(path, model):
    """Write the file whole or not at all."""
    with output_file(path) as file:
        file.write(
            f"solver_type {model.solver}\nnr_class {2 if model.labels is None else len(model.labels)}\n"
        )
        if model.labels is not None:
            file.write("label " + " ".join(f"{label:g}" for label in model.labels) + "\n")
        file.write(f"nr_feature {model.n_features}\nbias {model.bias:.17g}\nw\n")
        for weights in model.W.T:
            file.write(" ".join(f"{weight:.17g}" for weight in weights) + " \n")


def read_model(path) -> LinearText:
    """Read a file."""
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            head, mark, rows = file.read().partition("\nw\n")
    except OSError as error:
        raise OneslackError(f"{path}: cannot be read ({error.strerror}).") from None
    fields = dict(line.partition(" ")[::2] for line in head.splitlines())
    if not mark or fields.get("solver_type") not in SOLVERS.values():
        raise OneslackError(
            f"{path}: a model of LIBLINEAR was expected, with solver_type and w, not of one class."
        )
    try:
        labels = np.array(fields["label"].split(), dtype=float) if "label" in fields else None
        d, bias = int(fields["nr_feature"]), float(fields["bias"])
        W = np.array([line.split() for line in rows.splitlines() if line.strip()], dtype=float).T
    except (KeyError, ValueError) as error:
        raise OneslackError(f"{path}: is not whole ({error}); write it anew.") from None
    wanted = d + (bias >= 0)
    if W.ndim != 2 or W.shape[1] != wanted:
        raise OneslackError(
            f"{path}: {wanted} lines of weights were expected after w; got {len(rows.splitlines())}."
        )
    return LinearText(fields["solver_type"], labels, d, bias, W)
