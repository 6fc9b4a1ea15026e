"""One small problem of each public kind, and every solver: by name, and as an object."""

import numpy as np

import oneslack
from oneslack.datasets import make_checkers
from oneslack.formats import ShardWriter, open_shards
from oneslack.losses import SquaredHinge
from oneslack.models.linear.scalar import Linear
from oneslack.problems.any_risk import RiskProblem
from oneslack.solvers.choose import BY_NAME

X, Y = make_checkers(24, random_state=0)
CODES = (Y > 0).astype(int)
SENTENCES = [X[i : i + 4] for i in range(0, 24, 4)]
LABELS = [CODES[i : i + 4] for i in range(0, 24, 4)]
RBF = oneslack.Kernel("rbf", 2.0)


class Decoded:
    """Two classes by the three methods of a user's model."""

    n_params = 2

    def joint_feature(self, x, y):
        return 0.5 * y * np.asarray(x)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        return max((-1, 1), key=lambda z: w @ self.joint_feature(x, z) + (0.0 if y is None else y != z))


def _sharded(folder):
    with ShardWriter(folder / "packed", dtype="float64") as writer:
        writer.append(X, Y)
    return oneslack.ShardedProblem(oneslack.Binary(2), open_shards(folder / "packed"))


def _split(folder):
    return oneslack.SplitProblem(oneslack.Binary(2), X, Y, engine=oneslack.ThreadCrews(2))


def _risk(w):
    margins = Y * (X @ w)
    return float(np.maximum(1 - margins, 0).sum()), -(X * Y[:, None])[margins < 1].sum(axis=0)


#: name -> problem of a folder that it may write to
PROBLEMS = {
    "binary": lambda folder: oneslack.Problem(oneslack.Binary(2), X, Y),
    "intercept": lambda folder: oneslack.Problem(oneslack.Binary(2, True), X, Y),
    "nonnegative": lambda folder: oneslack.Problem(oneslack.Binary(2), X, Y, nonnegative=True),
    "multiclass": lambda folder: oneslack.Problem(oneslack.Multiclass(2, 2), X, CODES),
    "regression": lambda folder: oneslack.Problem(oneslack.Regression(2), X, X[:, 0]),
    "ranking": lambda folder: oneslack.Problem(oneslack.Ranking(2), X, CODES),
    "chain": lambda folder: oneslack.Problem(oneslack.Chain(2, 2), SENTENCES, LABELS),
    "decoded": lambda folder: oneslack.Problem(Decoded(), X, Y),
    "constraints": lambda folder: oneslack.ConstraintProblem(X * Y[:, None], np.ones(24)),
    "l1": lambda folder: oneslack.L1Problem(Linear(2, SquaredHinge(), True), X, Y),
    "kernel": lambda folder: oneslack.KernelProblem(oneslack.Binary(2), RBF, X, Y),
    "kernel regression": lambda folder: oneslack.KernelProblem(oneslack.Regression(2), RBF, X, X[:, 0]),
    "kernel intercepts": lambda folder: oneslack.KernelProblem(
        oneslack.Multiclass(2, 2), RBF, X, CODES, intercept=True
    ),
    "kernel chain": lambda folder: oneslack.KernelChainProblem(oneslack.Chain(2, 2), RBF, SENTENCES, LABELS),
    "sharded": _sharded,
    "split": _split,
    "risk": lambda folder: RiskProblem(_risk, 2),
}
SOLVERS = {name: name for name in ("auto", *BY_NAME)} | {
    kind: getattr(oneslack, kind)()
    for kind in (
        "OneSlack", "NSlack", "DualCD", "Newton", "ProximalNewton", "Streaming", "DistributedDual",
        "ExactKernel", "SampledCuts", "BasisFunctions",
    )
}  # fmt: skip
