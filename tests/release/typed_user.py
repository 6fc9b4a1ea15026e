"""A user's program, as type checkers read it: never run, only checked (`make release-check`, test_types.py).

What is asserted is what an editor knows of each value; a line marked `error: ...` must be refused.
"""

from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np

import oneslack
from oneslack import LinearSVC, MetricSVC, Problem, Result, SequenceTagger, StructuralSVM
from oneslack.result import Trace, TraceRow

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [0.0, 2.0]])
y = np.array([0, 1, 1, 0])

model = LinearSVC(C=1.0, class_weight="balanced").fit(X, y)
assert_type(model, LinearSVC)
assert_type(model.result_, Result)
assert_type(model.duality_gap_, float)
assert_type(model.result_.status.ok, bool)
assert_type(model.trace_, Trace)
assert_type(model.result_.certified, bool)
assert_type(oneslack.LinearSVC(C="auto").fit(X, y).partial_fit(X, y), LinearSVC)
model.save("model.oneslack", proof=True)
print(model.C, model.coef_.shape, model.predict(X).sum(), model.decision_function(X).max())

assert_type(MetricSVC("f1", pos_label=1).fit(X, y).score(X, y), float)
assert_type(oneslack.LinearSVR(quantile=0.9).fit(X, y.astype(float)), oneslack.LinearSVR)

tagger = SequenceTagger(templates="ner").fit([["a", "b"]], [["O", "X"]])
assert_type(tagger, SequenceTagger)
assert_type(tagger.predict([["a", "b"]]), list[Any])


@dataclass(frozen=True)
class Own:
    """A model of one's own: three methods and a number."""

    n_params: int

    def joint_feature(self, x: Any, y: Any) -> Any:
        return x * y

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(y != y_hat)

    def decode(self, w: Any, x: Any, y: Any = None) -> Any:
        return 1


def watch(row: TraceRow) -> bool:
    return row.gap < 0.1 and row.seconds > 1.0


own = StructuralSVM(Own(2), C=1.0).fit(list(X), [1, 1, 1, 1], callbacks=[watch])
assert_type(own, StructuralSVM)
assert_type(oneslack.solve(Problem(Own(2), list(X), [1, 1, 1, 1], C=1.0), tol=1e-4), Result)
assert_type(oneslack.minimize(lambda w: (float(w @ w), 2 * w), 2).w.shape, tuple[Any, ...])
assert_type(oneslack.report(model, X, y, "report.html"), str)
assert_type(oneslack.tune(LinearSVC(), X, y, cv=3).best, int)
assert_type(oneslack.__version__, str)

LinearSVC(c=1.0)  # error: no parameter of this name
LinearSVC(1.0, 1e-3)  # error: only C may be given by its place
LinearSVC(tol="small")  # error: not a number
model.fit(X, y, weights=y)  # error: no parameter of this name
print(model.result_.primmal)  # error: no field of this name
oneslack.LinearSVM()  # error: no name of oneslack
