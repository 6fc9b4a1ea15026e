"""scikit-learn's whole conformance suite, without an expected failure."""

import re

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from oneslack import LinearSVC, LinearSVR, MetricSVC, OrdinalSVC, RankSVM

# One check asks weighted and repeated examples for the same scores to seven digits: "newton" and
# "one_slack" see no difference between them; the random order of "dual_cd" does, so it needs a small tol.
ESTIMATORS = [
    LinearSVC(),
    LinearSVC(multi_class="ovr"),
    LinearSVC(solver="one_slack", tol=1e-9),
    LinearSVC(solver="dual_cd", tol=1e-13, max_iter=3000),
    LinearSVR(),
    LinearSVR(solver="one_slack", tol=1e-9),
    LinearSVR(solver="dual_cd", tol=1e-13, max_iter=3000),
    RankSVM(tol=1e-9),
    OrdinalSVC(tol=1e-9),
    MetricSVC(),
    MetricSVC("roc_auc"),
    MetricSVC("precision_at_k", k=0.3),
]


def name(value):
    return getattr(getattr(value, "func", None), "__name__", None) or repr(value)


def checks():
    """Of a class that is there several times, only what looks at fits is quick for all but the first."""
    seen = set()
    for model in ESTIMATORS:
        for pair in estimator_checks_generator(model, mark="skip"):
            is_quick = type(model) not in seen or FITTED.search(name(pair[1]))
            yield pytest.param(*pair, marks=[] if is_quick else pytest.mark.slow)
        seen.add(type(model))


FITTED = re.compile("weight|train|idempotent|invariance|one_label")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()), ids=name)
def test_conformance(estimator, check):
    check(estimator)
