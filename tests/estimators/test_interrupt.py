"""Ctrl-C in a fit: the best model so far is stored, then it is raised again, so that whoever fits again and
again stops too."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from latent_toys import Halves, Peak
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

import oneslack
from oneslack import Interrupted, Status

X, Y = load_iris(return_X_y=True)
SIGNS = (Y == 1).astype(int)
#: The first features of a flower as a sentence of three tokens.
SENTENCES = [[{"a": float(x[0]), "b": float(t)} for t in range(3)] for x in X[::5]]
TAGS = [["A" if (y + t) % 3 else "B" for t in range(3)] for y in Y[::5]]
UNKNOWN = [[tag if t else None for t, tag in enumerate(tags)] for tags in TAGS]
TREES = ["(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars))))", "(S (NP (NNS stars)) (VP (VBP shine)))"]


class Signs:
    """A model of three methods."""

    n_params = 4

    def joint_feature(self, x, y):
        return y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        return max((-1, 1), key=lambda z: z * (w @ x) + (y is not None and z != y))


LIST = list(X)
KINDS = {
    "LinearSVC": (lambda: oneslack.LinearSVC(tol=1e-9), X, Y),
    "LinearSVC, ovr": (lambda: oneslack.LinearSVC(tol=1e-9, multi_class="ovr"), X, Y),
    "LinearSVC, warm": (lambda: oneslack.LinearSVC(tol=1e-9, warm_start=True), X, SIGNS),
    "LinearSVR": (lambda: oneslack.LinearSVR(tol=1e-9), X, X[:, 0] * X[:, 1]),
    "RankSVM": (lambda: oneslack.RankSVM(tol=1e-9), X, Y),
    "OrdinalSVC": (lambda: oneslack.OrdinalSVC(tol=1e-9), X, Y),
    "MetricSVC": (lambda: oneslack.MetricSVC(tol=1e-9), X, SIGNS),
    "KernelSVC": (lambda: oneslack.KernelSVC(tol=1e-9), X, SIGNS),
    "KernelSVC, ovr": (lambda: oneslack.KernelSVC(tol=1e-9, multi_class="ovr"), X, Y),
    "KernelSVC, linear": (lambda: oneslack.KernelSVC(epsilon=1e-9, method="linear"), X, SIGNS),
    "KernelSVC, constant": (lambda: oneslack.KernelSVC(epsilon=1e-9, method="constant"), X, SIGNS),
    "KernelSVC, basis": (lambda: oneslack.KernelSVC(tol=1e-9, method="basis"), X, SIGNS),
    "StructuralSVM": (lambda: oneslack.StructuralSVM(Signs(), tol=1e-9), LIST, 2 * SIGNS - 1),
    "SequenceTagger": (lambda: oneslack.SequenceTagger(tol=1e-9, n_jobs=1), SENTENCES, TAGS),
    "SequenceTagger, in part": (lambda: oneslack.SequenceTagger(tol=1e-9, n_jobs=1), SENTENCES, UNKNOWN),
    "GrammarParser": (lambda: oneslack.GrammarParser(tol=1e-9, min_count=1), TREES, None),
    "LatentSVM": (lambda: oneslack.LatentSVM(Peak(), tol=1e-9), LIST, SIGNS),
    "LatentStructuralSVM": (
        lambda: oneslack.LatentStructuralSVM(Halves(), tol=1e-9, n_starts=3), list(X[:, 0]), list(SIGNS)
    ),
}  # fmt: skip


def stopping(at=1):
    """Callbacks that interrupt a fit at so many rows."""
    rows = []

    def interrupt(row):
        rows.append(row)
        if len(rows) == at:
            raise KeyboardInterrupt

    return [interrupt]


def results_of(model):
    return list(model.result_.parts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_fit_stores_the_best_model_and_raises(kind):
    new, X, Y = KINDS[kind]
    model = new()
    with pytest.raises(Interrupted) as stopped:
        model.fit(X, Y, callbacks=stopping())
    assert stopped.value.result is model.result_
    assert Status.INTERRUPTED in [result.status for result in results_of(model)]
    assert 0.0 <= model.duality_gap_ <= 1.0
    assert len(model.trace_) >= model.n_iter_ >= 1
    inputs = X if Y is not None else [["I", "see"]]
    assert len(model.predict(inputs)) == len(inputs)
    # And nothing of it is left behind.
    model.set_params(tol=0.05)
    if hasattr(model, "epsilon") and kind.startswith("KernelSVC"):
        model.set_params(epsilon=0.05)
    model.fit(X, Y)
    assert all(result.status.ok for result in results_of(model))


@pytest.mark.parametrize("kind", ["LinearSVC", "LinearSVC, ovr", "LinearSVR"])
def test_partial_fit_keeps_its_portion(kind):
    new, X, Y = KINDS[kind]
    model = new()
    with pytest.raises(Interrupted):
        model.partial_fit(X, Y, callbacks=stopping())
    assert model.n_seen_ == len(X)
    assert len(model.predict(X)) == len(X)
    if kind.endswith("ovr"):
        assert [result.n_iter for result in model.result_.parts] == [1, 1, 1]


@pytest.mark.parametrize("search", ["grid", "C"])
def test_a_search_stops_at_once(search):
    fits = []

    class Counted(oneslack.LinearSVC):
        def fit(self, X, y=None, sample_weight=None):
            fits.append(self)
            return super().fit(X, y, sample_weight, callbacks=stopping() if len(fits) == 2 else ())

    if search == "grid":
        grid = GridSearchCV(Counted(tol=1e-6), {"C": [0.1, 1.0, 10.0]}, cv=5, error_score="raise")
        with pytest.raises(KeyboardInterrupt):
            grid.fit(X, Y)
    else:
        with pytest.raises(Interrupted) as stopped:
            oneslack.path(Counted(tol=1e-6), X, Y, C=[0.1, 1.0, 10.0])
        path = stopped.value.result
        assert path.C.tolist() == [0.1, 1.0]
        assert path.gap[0] <= 1e-6 < path.gap[1]
        assert path[1].predict(X).shape == Y.shape
        assert not hasattr(path[1], "warm_start") or path[1].warm_start is False
        assert "_data_key" not in vars(fits[-1])
    assert len(fits) == 2


#: Estimators that `tune` goes through in two ways.
TUNED = {"quick": lambda: oneslack.LinearSVC(), "race": lambda: oneslack.LinearSVC(multi_class="ovr")}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", TUNED)
def test_tune_tells_what_it_has_found(kind, n_jobs):
    trained = []

    def on_candidate(params, fold, gap):
        trained.append((params["C"], fold))
        if params["C"] == 1.0 and fold == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        oneslack.tune(
            TUNED[kind](), X, Y, C=[0.01, 0.1, 1.0, 10.0], cv=3, n_jobs=n_jobs, stop_early=False,
            on_candidate=on_candidate,
        )  # fmt: skip
    found = stopped.value.result
    if kind == "race" and n_jobs == 1:
        assert trained[-1] == (1.0, 2)
    if found is not None:
        whole = ~np.isnan(found.scores).any(axis=1)
        assert whole[found.best]
        assert not whole.all()
        assert (found.model, found.best_C) == (None, found.candidates[found.best]["C"])
        assert len(found.rows()) == 4
    else:
        assert kind == "race"  # no candidate is through all folds


def test_a_tune_interrupted_at_its_last_training_has_a_model(monkeypatch):
    class Last(oneslack.LinearSVC):
        def fit(self, X, y=None, sample_weight=None):
            if len(X) < len(Y):
                return super().fit(X, y, sample_weight)
            return self.set_params(tol=1e-9)._fit_and_stop(X, y)

        def _fit_and_stop(self, X, y):
            return super().fit(X, y, callbacks=stopping())

    with pytest.raises(Interrupted) as stopped:
        oneslack.tune(Last(), X, Y, C=[0.1, 1.0], cv=3)
    found = stopped.value.result
    assert found.model.result_.status is Status.INTERRUPTED
    assert found.best_C == found.model.C


def test_C_auto_keeps_the_last_model(monkeypatch):
    from oneslack.selection import tuning

    def tune(estimator, X, y, **options):
        model = oneslack.LinearSVC(C=2.0, tol=1e-9)
        with pytest.raises(Interrupted):
            model.fit(X, y, callbacks=stopping())
        raise Interrupted(tuning.Tuning([{"C": 2.0}], np.ones((1, 3)), None, 0, model, 0.0, None, None))

    monkeypatch.setattr(tuning, "tune", tune)
    model = oneslack.LinearSVC(C="auto")
    with pytest.raises(Interrupted):
        model.fit(X, Y)
    assert (model.C_, model.result_.status) == (2.0, Status.INTERRUPTED)
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("between", [False, True])
def test_latent_starts_before_the_interruption_count(between):
    """The best start may be another one than the one that is cut short, in a training or between two."""

    class Stopped(Halves):
        n_completed = 0

        def complete(self, w, x, y):
            self.n_completed += 1
            if between and self.n_completed == 5 * len(X) + 7:
                raise KeyboardInterrupt
            return super().complete(w, x, y)

    model = oneslack.LatentStructuralSVM(Stopped(), C=10.0, n_starts=50, random_state=1)
    with pytest.raises(Interrupted) as stopped:
        model.fit(list(X[:, 0]), list(SIGNS), callbacks=() if between else stopping(at=30))
    assert model.result_.status is Status.INTERRUPTED
    assert stopped.value.result is model.result_
    assert len(model.predict(list(X[:, 0]))) == len(X)
    completed = [model.model.complete(model.coef_, x, y) for x, y in zip(X[:, 0], SIGNS, strict=True)]
    hinges = sum(
        max(
            float(z != y) + model.coef_ @ Halves().joint_feature(x, z, k) for z in (0, 1) for k in (0, 1)
        ) - model.coef_ @ Halves().joint_feature(x, y, h)
        for x, y, h in zip(X[:, 0], SIGNS, completed, strict=True)
    )  # fmt: skip
    objective = 0.5 * model.coef_ @ model.coef_ + 10.0 * hinges
    assert model.objective_ >= objective * (1 - 1e-9)


def test_what_is_raised_can_travel():
    """As from a worker process of joblib."""
    model = oneslack.LinearSVC(tol=1e-9)
    with pytest.raises(Interrupted) as stopped:
        model.fit(X, Y, callbacks=stopping())
    again = pickle.loads(pickle.dumps(stopped.value))
    assert again.result.status is Status.INTERRUPTED
    assert "best model so far" in str(again)


def test_solve_refuses_other_wishes():
    problem = oneslack.Problem(oneslack.Binary(4), X, 2.0 * SIGNS - 1.0)
    with pytest.raises(ValueError, match="interrupt must be 'raise' or 'return'; got 'ignore'"):
        oneslack.solve(problem, interrupt="ignore")


SCRIPT = """
import signal, sys
import numpy as np
import oneslack

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
class Slow:
    n_params = 3
    def joint_feature(self, x, y):
        return y * x
    def loss(self, y, y_hat):
        return float(y != y_hat)
    def decode(self, w, x, y=None):
        sum(range(100_000))
        return max((-1, 1), key=lambda z: z * (w @ x) + (y is not None and z != y))

rng = np.random.default_rng(0)
X = list(rng.normal(size=(300, 3)))
Y = [int(np.sign(x[0] + rng.normal())) for x in X]
model = oneslack.StructuralSVM(Slow(), C=1.0, tol=0.0, n_jobs=2, solver="one_slack")
try:
    model.fit(X, Y, callbacks=[lambda row: print("step", row.iteration, flush=True)])
except KeyboardInterrupt:
    print(model.result_.status.name, len(model.predict(X)), flush=True)
model.set_params(tol=0.5).fit(X, Y)
print(model.result_.status.name)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals to a group of processes")
def test_a_real_ctrl_c_reaches_all_processes_and_ends_the_fit_alone():
    """As a terminal sends it: to this process and to its workers, in the middle of their work."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        while not process.stdout.readline().startswith("step 2"):
            assert process.poll() is None, process.stderr.read()
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, err
    assert "INTERRUPTED 300" in out
    assert out.endswith("CONVERGED\n")
    assert "Traceback" not in err
