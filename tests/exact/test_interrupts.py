"""Certificates are true where Ctrl-C falls into the middle of a step: the bounds of the last step are none of
duals that have moved since."""

import time
from functools import partial
from itertools import count

import numpy as np
import pytest
from exact.case import Case, Claim, violations
from exact.drawn import ROWS, drawn, lies, seeds
from exact.kernels import kernel_many_classes, kernel_two_classes, linear_kernel
from exact.linear import exact
from exact.test_engines import Tiny

import oneslack
from oneslack import KernelSVC, SplitProblem, ThreadCrews
from oneslack.engines.crew import ThreadCrew
from oneslack.solvers import choose_kernel
from oneslack.solvers.kernel.exact import ComputedRows, ExactKernel


def interrupting(function, at):
    """The function, but that call number `at` is Ctrl-C."""
    calls = count(1)

    def called(*arguments):
        if next(calls) == at:
            raise KeyboardInterrupt
        return function(*arguments)

    return called


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("classes", [2, 3])
def test_kernels(classes, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = 6
    X, y = rng.normal(size=(n, 2)), np.arange(n) % classes
    monkeypatch.setattr(choose_kernel, "ExactKernel", partial(ExactKernel, block=2))  # several rounds
    monkeypatch.setattr(ComputedRows, "add", interrupting(ComputedRows.add, int(rng.integers(1, 4))))
    svc = KernelSVC(C=1.0, kernel="linear", method="exact", tol=1e-12, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        svc.fit(X, y)
    K, c = linear_kernel(exact(X)), [1] * n
    small = kernel_two_classes(K, (2 * y - 1).tolist(), c, False) if classes == 2 else None
    small = small or kernel_many_classes(K, y.tolist(), c, classes)
    coefficients = np.zeros((len(svc.dual_coef_), n))
    coefficients[:, svc.support_] = svc.dual_coef_
    assert svc.result_.certified
    claim = Claim(small, coefficients.ravel().tolist(), svc.result_)
    assert not violations(Case("", {}, lambda: svc, lambda _: [claim], svc.tol))


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("kind", ROWS)
def test_streaming(kind, seed, monkeypatch):
    """Between the two sums of the duals."""
    given, found = drawn(kind, seed, C=1.0), []
    model = type(given.model)
    whole = model.dual_loss
    for at in range(2, 30, 3):
        monkeypatch.setattr(model, "dual_loss", interrupting(whole, at))
        result = oneslack.solve(given.problem(), Tiny("f8"), tol=1e-9, max_iter=30, interrupt="return")
        found += lies(given, result, 1e-9, is_due=False)
    assert not found


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("kind", ROWS)
def test_workers(kind, seed, monkeypatch):
    """Before all of them were asked."""
    given, found = drawn(kind, seed, penalised=False), []
    whole = ThreadCrew._send
    for at in range(5, 60, 9):
        problem = given.problem(SplitProblem, engine=ThreadCrews(2))
        with problem.engine, monkeypatch.context() as patch:
            patch.setattr(ThreadCrew, "_send", interrupting(whole, at))
            result = oneslack.solve(problem, "distributed_dual", max_iter=30, interrupt="return")
        found += lies(given, result, 1e-3, is_due=False)
    assert not found


class Slow:
    """A worker that tells when it was at work."""

    def do(self, method, message):
        begin = time.perf_counter()
        time.sleep(0.02)
        return begin, time.perf_counter()


def test_a_worker_does_one_thing_after_the_other():
    """One that the driver was interrupted before waiting for is not asked about duals that it moves."""
    worker = Slow()
    with ThreadCrew([worker, Slow()]) as crew:
        first, second = (crew._send(worker, "", (), ()) for _ in range(2))
        (_, end), (begin, _) = sorted([first.result(), second.result()])
    assert end <= begin
