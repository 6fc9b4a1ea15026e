"""What is written for TensorBoard and MLflow is read back and compared with the trace of the training."""

import socket
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import oneslack
from oneslack.loggers import logger_from

X, Y = load_iris(return_X_y=True)


def curves_of_tensorboard(folder):
    """{name: [(step, value)]} of all event files below a folder, by the format: length, CRC, event, CRC."""
    pytest.importorskip("tensorboardX", reason='needs pip install "oneslack[tensorboard]"')
    from tensorboardX.proto.event_pb2 import Event

    found = {}
    for path in sorted(Path(folder).rglob("*tfevents*")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            event = Event.FromString(data[at + 12 : at + 12 + length])
            at += 16 + length
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def curves_of_mlflow(folder):
    pytest.importorskip("mlflow", reason='needs pip install "oneslack[mlflow]"')
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{Path(folder).absolute().as_posix()}/mlflow.db")
    found = {}
    experiment = client.get_experiment_by_name("oneslack")
    for run in client.search_runs([experiment.experiment_id]):
        for name in run.data.metrics:
            history = client.get_metric_history(run.info.run_id, name)
            found.setdefault(name, []).extend((one.step, one.value) for one in history)
    return {name: sorted(points) for name, points in found.items()}


# MLflow has warnings of its own, of what its database library will change.
@pytest.fixture(params=["tensorboard", pytest.param("mlflow", marks=pytest.mark.filterwarnings("default"))])
def logged(request, tmp_path):
    """`logger_from`'s words, and how to read back what was written."""
    module = {"tensorboard": "tensorboardX", "mlflow": "mlflow"}[request.param]
    pytest.importorskip(module, reason=f'needs pip install "oneslack[{request.param}]"')
    read = {"tensorboard": curves_of_tensorboard, "mlflow": curves_of_mlflow}[request.param]
    return f"{request.param}:{tmp_path / 'runs'}", lambda: read(tmp_path / "runs")


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Nothing is sent over the network: a connection is an error.  Sockets of this machine are let be."""
    connect = socket.socket.connect

    def refuse(self, address):
        assert self.family == getattr(socket, "AF_UNIX", None), f"a connection to {address}"
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_fit_is_read_back(logged):
    place, read = logged
    with logger_from(place) as log:
        model = oneslack.LinearSVC(solver="one_slack").fit(X, Y, callbacks=[log])
        log.score("dev/accuracy", model.score(X, Y))
    curves, trace = read(), model.result_.trace
    for name in ("primal", "dual", "gap", "seconds"):
        steps, values = np.transpose(curves[name])
        at = {row.iteration: getattr(row, name) for row in trace if np.isfinite(getattr(row, name))}
        np.testing.assert_array_equal(steps, sorted(at))
        np.testing.assert_allclose(values, [at[step] for step in sorted(at)], rtol=1e-6)
    ((step, accuracy),) = curves["dev/accuracy"]
    assert step == model.n_iter_
    assert accuracy == pytest.approx(model.score(X, Y))
    ((_, gap),) = curves["certificate/gap"]
    assert gap == pytest.approx(model.duality_gap_, rel=1e-6)


def test_solve_is_read_back_without_closing(logged):
    place, read = logged
    problem = oneslack.Problem(oneslack.Binary(4), X, np.where(Y > 0, 1, -1))
    result = oneslack.solve(problem, "one_slack", callbacks=[logger_from(place)])
    curves = read()
    assert len(curves["seconds"]) == result.n_iter
    assert curves["certificate/dual"][0][1] == pytest.approx(result.dual, rel=1e-6)


def test_each_class_has_curves_of_its_own(logged):
    place, read = logged
    with logger_from(place) as log:
        model = oneslack.LinearSVC(multi_class="ovr").fit(X, Y, callbacks=[log])
    curves = read()
    steps = [len(curves[f"{prefix}seconds"]) for prefix in ("", "2/", "3/")]
    assert steps == [part.n_iter for part in model.result_.parts]


def test_the_command_line_writes_it(logged, tmp_path, capsys):
    place, read = logged
    data, model = tmp_path / "iris.csv", tmp_path / "iris.model"
    np.savetxt(data, np.column_stack([X, Y]), delimiter=",", header="a,b,c,d,kind", comments="", fmt="%g")
    from oneslack.cli import main

    assert main(["train", "classify", str(data), "-o", str(model), "--log", place, "-q"]) == 0
    trace = oneslack.load(model)
    curves = read()
    assert curves["certificate/gap"][0][1] == pytest.approx(trace.duality_gap_, rel=1e-5)
    assert len(curves["gap"]) > 1


def test_an_interrupted_training_is_written_too(logged):
    place, read = logged

    def interrupt(row):
        if row.iteration == 3:
            raise KeyboardInterrupt

    model = oneslack.LinearSVC(solver="one_slack", tol=1e-9)
    with pytest.raises(oneslack.Interrupted):
        model.fit(X, Y, callbacks=[logger_from(place), interrupt])
    assert [step for step, _ in read()["seconds"]] == [1, 2, 3]


@pytest.mark.parametrize("place", ["wandb:x", "tensorboard", "tensorboard:"])
def test_another_place_gets_a_sentence(place, tmp_path, capsys):
    from oneslack.cli import main

    data = tmp_path / "two.csv"
    data.write_text("a,kind\n1,0\n2,1\n")
    assert main(["train", "classify", str(data), "-o", str(tmp_path / "m"), "--log", place]) == 2
    assert "write tensorboard:FOLDER or mlflow:FOLDER" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(("module", "extra"), [("tensorboardX", "tensorboard"), ("mlflow", "mlflow")])
def test_a_missing_extra_gets_a_sentence(module, extra, monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=rf'pip install "oneslack\[{extra}\]"'):
        logger_from(f"{extra}:{tmp_path}")


def test_neither_is_loaded_before_it_is_asked_for():
    import subprocess

    heavy = "{'mlflow', 'tensorboardX'}"
    code = f"import oneslack, sys; oneslack.MLflowLogger; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_two_trainings_of_one_second_do_not_share_a_file(logged):
    place, read = logged
    for C in (0.1, 1.0):
        with logger_from(place) as log:
            oneslack.LinearSVC(C=C).fit(X, Y, callbacks=[log])
    assert len(read()["certificate/gap"]) == 2
