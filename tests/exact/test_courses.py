"""Certificates are true, and there, however a run begins and ends: from a result, at another C, by the rule
of the papers, after one step, stopped, interrupted, resumed from a checkpoint."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from exact import draws
from exact.drawn import KINDS, ROWS, drawn, lies, seeds
from exact.structured_cases import TwoBits

import oneslack
from oneslack import DualCD, Newton, NSlack, OneSlack, Streaming
from oneslack.formats.model_file import load_model
from oneslack.memory.checkpoint import Checkpoint

OF_ROWS = {
    "line search": OneSlack(),
    "plain": OneSlack(line_search=False),
    "planes": OneSlack(planes=2),
    "dual": DualCD(),
    "newton": Newton(),
    "streaming": Streaming("1GB"),
}
OF_OUTPUTS = {
    "secant": OneSlack(),
    "plain": OneSlack(line_search=False),
    "cache": OneSlack(cache_size=4),
    "doubts": OneSlack(cache_size=4, parts=2),
    "n-slack": NSlack(),
    "n-slack, doubts": NSlack(parts=2),
    "dual": DualCD(),
    "streaming": Streaming("1MB"),
}
BOTH = [(kind, how) for kind in KINDS for how in (OF_ROWS if kind in ROWS else OF_OUTPUTS)]


class Course:
    """A problem and a solver, with numbers by the seed that say when it is cut."""

    def __init__(self, kind, how, seed):
        self.solver = (OF_ROWS if kind in ROWS else OF_OUTPUTS)[how]
        self.given = drawn(kind, seed)
        if how in ("planes", "newton"):  # which cannot hold weights
            self.given = drawn(kind, seed, penalised=False)
        rng = np.random.default_rng([seed, 5])
        self.tol, self.steps = draws.pick(rng, (1e-3, 1e-6, 1e-10)), int(rng.integers(1, 8))
        self.epsilon = float(10.0 ** rng.uniform(-8, 0))

    def solve(self, C=None, **options):
        options = {"tol": self.tol, **options}
        return oneslack.solve(self.given.problem(C=C), self.solver, **options)

    def lies(self, result, C=None, **more):
        return lies(self.given, result, self.tol, C, **more)


@pytest.fixture
def course(kind, how, seed):
    return Course(kind, how, seed)


courses = pytest.mark.parametrize(("kind", "how"), BOTH)


@courses
@pytest.mark.parametrize("seed", seeds(1))
def test_however_it_ends(course):
    calls = count(1)

    def interrupt(row):
        if next(calls) >= course.steps:
            raise KeyboardInterrupt

    ends = {
        "epsilon": course.solve(epsilon=course.epsilon, max_iter=60),
        "one step": course.solve(max_iter=1),
        "no time": course.solve(time_limit=1e-9),
        "stopped": course.solve(callbacks=[lambda row: row.iteration >= course.steps], max_iter=100),
        "interrupted": course.solve(callbacks=[interrupt], max_iter=100, interrupt="return"),
    }
    assert not {end: found for end, result in ends.items() if (found := course.lies(result))}


@courses
@pytest.mark.parametrize("seed", seeds(1))
def test_from_a_result(course):
    first = course.solve(max_iter=course.steps)
    found = course.lies(course.solve(max_iter=course.steps, start=first))
    found += course.lies(course.solve(max_iter=1, start=first))
    found += course.lies(course.solve(max_iter=3, start=1e3 * first.w + 1.0))
    for ratio in (3.7, 0.13, 1e6):
        C = course.given.C * ratio
        found += course.lies(course.solve(C, max_iter=30, start=first), C)
    assert not found


@courses
@pytest.mark.parametrize("seed", seeds(1))
def test_from_a_checkpoint(course, tmp_path):
    path, found = tmp_path / "checkpoint", []
    for more in (0, 0, 1, 20):  # the second time all steps are spent
        result = course.solve(max_iter=course.steps + more, checkpoint=path, resume=True)
        found += course.lies(result)
        if not path.exists():  # done
            break
    kept = Checkpoint(tmp_path / "kept", keep=True)
    done = course.solve(tol=0.01, max_iter=200, checkpoint=kept)
    if done.status is oneslack.Status.CONVERGED:
        again = course.solve(tol=0.01, max_iter=200, checkpoint=kept, resume=True)
        assert (again.primal, again.dual, again.certified) == (done.primal, done.dual, done.certified)
    assert not found


# Single lies of the past.


def test_a_cut_that_is_hardly_better_than_a_remembered_one_counts_in_P():
    """With a large C what is left of the hinges is less than what a cache tells cuts apart by."""
    course = Course("chain", "cache", 0)
    first = course.solve(max_iter=course.steps)
    found = []
    for ratio in (3.7, 0.13, 1e6):
        C = course.given.C * ratio
        found += course.lies(course.solve(C, max_iter=30, start=first), C)
    assert not found


@pytest.mark.parametrize("how", ["line search", "newton"])
def test_a_resumed_run_computes_P_anew(how, tmp_path):
    """It may have been written down as it was carried along: here with a great deal of rounding."""
    course, checkpoint = Course("two_classes", how, 2), Checkpoint(tmp_path / "checkpoint")
    first = course.solve(tol=1e-3, max_iter=2, checkpoint=checkpoint)
    about = load_model(checkpoint.path)[0]["about"]
    saved = checkpoint.load(about)
    checkpoint.save(about, replace(saved, primal=0.1 * saved.primal))
    again = course.solve(tol=1e-3, max_iter=3, checkpoint=checkpoint, resume=True)
    assert again.primal == pytest.approx(first.primal, rel=1e-9)  # that one rounded up by more
    assert not course.lies(again)


class Interrupted(TwoBits):
    """Ctrl-C falls into the question number `at`."""

    at, asked = 0, 0

    def decode(self, w, x, y=None):
        Interrupted.asked += 1
        if Interrupted.asked == Interrupted.at:
            raise KeyboardInterrupt
        return super().decode(w, x, y)


@pytest.fixture
def ctrl_c(monkeypatch):
    """Raise KeyboardInterrupt from the question `at`, counted from now on."""

    def set_at(at):
        monkeypatch.setattr(Interrupted, "at", at)
        monkeypatch.setattr(Interrupted, "asked", 0)

    return set_at


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("how", OF_OUTPUTS)
def test_interrupted_in_the_middle_of_a_step(how, seed, ctrl_c, tmp_path):
    course, found = Course("own_model", how, seed), []
    course.given = replace(course.given, model=Interrupted(course.given.model.n_features))
    for at in (20, 27, 35, 44):
        ctrl_c(at)
        try:
            result = course.solve(max_iter=50, interrupt="return")
        except KeyboardInterrupt:  # before there was anything
            continue
        found += course.lies(result, is_due=False)
    ctrl_c(0)
    path = tmp_path / "checkpoint"
    course.solve(tol=0.0, max_iter=course.steps, checkpoint=path)
    for at in range(1, 40, 3):  # in the first step after the resume, too
        ctrl_c(at)
        try:
            result = course.solve(tol=0.0, max_iter=50, checkpoint=path, resume=True, interrupt="return")
        except KeyboardInterrupt:
            continue
        found += course.lies(result, is_due=False)
        if result.status is not oneslack.Status.INTERRUPTED:
            break
    assert not found


@pytest.mark.parametrize("how", ["dual", "n-slack"])
def test_bounds_of_a_checkpoint_are_those_of_its_last_point(how, ctrl_c, tmp_path):
    """The best point whose P the solver has computed may be another, and worse."""
    course = Course("own_model", how, 0)
    course.given = replace(course.given, model=Interrupted(course.given.model.n_features), C=1.0)
    ctrl_c(0)
    ended = course.solve(tol=1e-12, max_iter=1, checkpoint=tmp_path / "checkpoint")
    result = None
    for at in count(1):  # first some examples are asked about, outside of any step
        ctrl_c(at)
        try:
            result = course.solve(
                tol=1e-12, checkpoint=tmp_path / "checkpoint", resume=True, interrupt="return"
            )
            break
        except KeyboardInterrupt:
            continue
    assert result.status is oneslack.Status.INTERRUPTED
    assert result.n_iter == 1
    assert (result.w == ended.w).all()
    assert not course.lies(result)


class Halves:
    """Two outputs, each with two latent values."""

    n_params = 4

    def joint_feature(self, x, y, h):
        return x * np.eye(4)[2 * y + h]

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        scores = x * w
        if y is not None:
            scores[2 * (1 - y) : 2 * (1 - y) + 2] += 1.0
        return divmod(int(scores.argmax()), 2)

    def complete(self, w, x, y):
        return int((x * w[2 * y : 2 * y + 2]).argmax())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rounds_go_on_where_only_rounding_is_left():
    X, Y = [-2.0, -1.7, -0.3, 0.1, 1.9, 2.3], [1, 1, 0, 0, 1, 0]
    options = {"C": 3.0, "n_starts": 3, "random_state": 0}
    svms = [oneslack.LatentStructuralSVM(Halves(), tol=tol, **options).fit(X, Y) for tol in (1e-6, 1e-17)]
    rounds = [len(svm.rounds_) for svm in svms]
    assert rounds[1] >= rounds[0] >= 3


def test_duals_at_their_bounds_are_those_that_w_is_summed_up_from():
    """At another C duals near a bound are put there: w must know it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 2)), np.array([1.0, -1.0] * 3)
    problem = oneslack.Problem(oneslack.Binary(2), X, y)
    passes = problem.model.dual_passes(problem.data, problem.C, 1)
    passes.begin(problem, y * np.array([1.0, 1.0, 0.3, 0.4, 0.0, 1.0]) * (1.0 - 9e-13), 0.0)
    assert (passes.alpha == y).any()
    np.testing.assert_allclose(passes.weights, passes.alpha @ X, rtol=1e-14, atol=1e-15)
