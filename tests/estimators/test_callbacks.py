"""Progress: scikit-learn's callbacks, functions of rows, verbose, warnings."""

import inspect
import itertools
import pickle
import signal
import warnings

import numpy as np
import pytest
from sklearn import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneslack import Interrupted, LinearSVC, MetricSVC, OrdinalSVC, RankSVM, Status

X, Y = load_iris(return_X_y=True)


class Rows(list):
    def __init__(self, stop_at=None):
        self.stop_at = stop_at

    def __call__(self, row):
        self.append(row)
        return row.iteration == self.stop_at


@pytest.mark.parametrize("solver", ["newton", "dual_cd", "one_slack"])
def test_row_callbacks_see_every_step(solver):
    rows, model = Rows(), LinearSVC(solver=solver)
    model.fit(X, Y, callbacks=[rows])
    assert rows == list(model.result_.trace)
    assert rows[-1].gap <= model.tol


def test_row_callbacks_can_stop():
    rows, model = Rows(stop_at=4), LinearSVC(tol=1e-9)
    model.fit(X, Y, callbacks=[rows])  # no warning: the caller asked for it
    assert len(rows) == model.n_iter_ == 4
    assert model.result_.status is Status.STOPPED
    assert model.duality_gap_ > 1e-9


def test_row_callbacks_are_no_parameter_and_leave_nothing_behind():
    model = LinearSVC().fit(X, Y, callbacks=[lambda row: False])  # which no pickle holds
    assert "callbacks" not in model.get_params()
    assert clone(model).fit(X, Y).n_iter_ == pickle.loads(pickle.dumps(model)).n_iter_


def test_one_class_against_the_rest_reports_each_problem():
    rows, model = Rows(), LinearSVC(multi_class="ovr")
    model.fit(X, Y, callbacks=[rows])
    assert sum(row.iteration == 1 for row in rows) == 3
    assert len(rows) == sum(result.n_iter for result in model.result_.parts)


def test_verbose_prints_the_closing_gap(capsys):
    LinearSVC(verbose=1).fit(X, Y)
    some = capsys.readouterr().out.splitlines()
    model = LinearSVC(verbose=2).fit(X, Y)
    every = capsys.readouterr().out.splitlines()
    assert 1 < len(some) < len(every) == model.n_iter_
    assert f"gap {model.result_.trace[-1].gap:.2e}" in every[-1]
    LinearSVC().fit(X, Y)
    assert capsys.readouterr().out == ""


def test_interrupt_keeps_the_best_so_far():
    digits, labels = load_digits(return_X_y=True)

    def interrupt(row):
        if row.iteration == 5:
            signal.raise_signal(signal.SIGINT)

    model = LinearSVC(tol=1e-9, solver="one_slack", multi_class="ovr")
    with pytest.raises(Interrupted) as stopped:
        model.fit(digits, labels, callbacks=[interrupt])
    assert stopped.value.result is model.result_
    assert model.coef_.shape == (10, 64)
    assert model.result_.parts[0].status is Status.INTERRUPTED
    assert [result.n_iter for result in model.result_.parts] == [5] + [1] * 9


MODELS = [RankSVM(), OrdinalSVC(), MetricSVC(C=0.1), MetricSVC("prbep", C=0.1)]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_row_callbacks_of_the_others(model):
    rows, model = Rows(stop_at=4), clone(model).set_params(tol=1e-9)
    model.fit(X, Y > 0, callbacks=[rows])
    assert rows == list(model.result_.trace)
    assert len(rows) == model.n_iter_ == 4
    assert model.result_.status is Status.STOPPED
    assert model.predict(X).shape == Y.shape


def test_each_class_of_a_measure_reports():
    rows, model = Rows(), MetricSVC("f1", C=0.1, verbose=0)
    model.fit(X, Y, callbacks=[rows])
    assert sum(row.iteration == 1 for row in rows) == 3
    assert len(rows) == sum(result.n_iter for result in model.result_.parts)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_verbose_of_the_others(model, capsys):
    model = clone(model).set_params(verbose=2).fit(X, Y > 0)
    assert len(capsys.readouterr().out.splitlines()) == model.n_iter_


# The warning.


def test_warning_states_the_gap_and_points_at_the_call():
    model = LinearSVC(max_iter=3)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    line = inspect.currentframe().f_lineno - 1
    (warning,) = caught
    assert (warning.filename, warning.lineno) == (__file__, line)
    text = str(warning.message)
    assert f"relative duality gap of {model.duality_gap_:.2g}" in text
    assert "tol=0.001" in text
    assert "raise max_iter" in text
    assert "\n" not in text


def test_warning_points_through_a_pipeline_and_a_search():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearSVC(max_iter=2)), {"linearsvc__C": [1.0]}, cv=2
    )
    with pytest.warns(ConvergenceWarning) as caught:
        search.fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}


def test_warning_names_uneven_scales_only_where_they_are():
    uneven = X * [1.0, 1.0, 1e5, 1.0]
    with pytest.warns(ConvergenceWarning, match=r"differ by a factor of .e\+0[56], so scaling would help"):
        LinearSVC(max_iter=1).fit(uneven, Y)
    with pytest.warns(ConvergenceWarning) as caught:
        LinearSVC(max_iter=1).fit(X, Y)
    assert "factor" not in str(caught[0].message)


def test_time_limit_is_for_all_classes_together(monkeypatch):
    digits, labels = load_digits(return_X_y=True)
    clock = itertools.count()  # a second passes between any two looks at the clock
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    model = LinearSVC(multi_class="ovr", tol=0.0, solver="dual_cd", time_limit=20)
    with pytest.warns(ConvergenceWarning, match=r"\(10 of 10 classes\).*raise time_limit"):
        model.fit(digits, labels)
    steps = [result.n_iter for result in model.result_.parts]
    assert steps[0] > 10
    assert steps[1:] == [1] * 9


def test_converged_fits_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVC().fit(X, Y)


# scikit-learn's callbacks, 1.9 on.


@pytest.fixture
def callback():
    return pytest.importorskip("sklearn.callback")


class Recorder:
    """Follows the protocol of sklearn.callback; stops after some steps."""

    def __init__(self, stop_after=None):
        self.stop_after, self.events = stop_after, []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator=None):
        self.events.append(f"end {context.task_name}")
        self.fitted = fitted_estimator
        return self.stop_after is not None and self.events.count("end step") >= self.stop_after


def test_each_step_is_a_task(callback):
    recorder = Recorder()
    model = LinearSVC().set_callbacks(recorder).fit(X, Y)
    assert recorder.events[:2] == ["setup", "begin fit"]
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert recorder.events.count("end step") == model.n_iter_
    np.testing.assert_array_equal(recorder.fitted.predict(X), model.predict(X))


def test_a_callback_stops_early(callback):
    model = LinearSVC(tol=1e-9).set_callbacks(Recorder(stop_after=3)).fit(X, Y)
    assert model.n_iter_ == 3
    assert model.result_.status is Status.STOPPED
    assert model.predict(X).shape == Y.shape


def test_teardown_comes_after_errors_too(callback):
    recorder = Recorder()
    model = LinearSVC(loss=np.zeros((2, 2))).set_callbacks(recorder)
    with pytest.raises(ValueError, match="loss"):
        model.fit(X, Y)
    model.set_params(loss="hinge").fit(X, Y)
    assert recorder.events.count("setup") == recorder.events.count("teardown") == 1


def test_callbacks_in_cross_validation(callback):
    recorder = Recorder()
    scores = cross_val_score(LinearSVC().set_callbacks(recorder), X, Y, cv=3)
    assert scores.mean() > 0.9
    assert recorder.events.count("setup") == recorder.events.count("teardown") == 3


def test_progress_bar(callback, capsys):
    pytest.importorskip("rich")
    LinearSVC().set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "LinearSVC" in capsys.readouterr().out


def test_scoring_monitor_scores_the_final_model(callback):
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = LinearSVC().set_callbacks(monitor).fit(X, Y)
    (row,) = monitor.get_logs().data
    assert row["accuracy"] == pytest.approx(model.score(X, Y))


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("labels", [Y > 0, Y], ids=["two", "three"])
def test_the_others_are_finished_when_the_fit_ends(callback, model, labels):
    """Thresholds are part of the model that callbacks see at the end, also in a second fit."""
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder)
    for data in (X, X[::-1] ** 2):
        model.fit(data, labels)
        np.testing.assert_array_equal(recorder.fitted.predict(X), model.predict(X))
    results = list(model.result_.parts)
    assert recorder.events[::-1].index("begin fit") == 2 + 2 * sum(result.n_iter for result in results)
