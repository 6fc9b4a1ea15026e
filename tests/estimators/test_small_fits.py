"""What a fit of tiny data costs beside its loops: the calls that it makes, which need no quiet machine."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import LinearSVC, LinearSVR


def calls_of(fit):
    """Calls of functions, Python's and others."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        fit()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    "model",
    [LinearSVC(), LinearSVC(loss="squared_hinge"), LinearSVC(loss="logistic"), LinearSVR(loss="huber")],
    ids=str,
)
def test_a_small_fit_makes_few_calls(model, is_sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = X @ rng.normal(size=4) + 0.5 * rng.normal(size=100)
    y = (y > 0.0).astype(int) if isinstance(model, LinearSVC) else y
    X = sp.csr_array(X) if is_sparse else X
    model.fit(X, y)  # compiles, and asks for what is kept
    calls = calls_of(lambda: model.fit(X, y))
    assert calls <= 1000 + 40 * model.n_iter_
