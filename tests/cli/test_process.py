"""Through a real process: exit codes, signals, pipes."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import oneslack

COMMAND = [sys.executable, "-m", "oneslack"]


def start(*arguments, **options):
    # A suite that runs in the background may have Ctrl-C ignored: the child must not inherit that.
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


def finish(process):
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()  # a training that ignores Ctrl-C would go on for ever
        process.communicate()
        raise
    return process.returncode, out, err


@pytest.fixture
def slow_file(folder):
    """Overlapping classes: cutting planes need for ever to get exact."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 300))
    np.savez("slow.npz", X=X, y=np.argmax(X[:, :5] + rng.normal(size=(3000, 5)), axis=1))
    return "slow.npz"


@pytest.mark.slow
def test_train_predict_into_a_closed_pipe_and_fail(folder):
    (folder / "long.svm").write_text("1 1:1\n-1 1:-1\n" * 20_000)  # more lines than a pipe holds
    assert finish(start("train", "classify", "long.svm", "-o", "m", "--quiet")) == (0, "", "")
    with start("predict", "m", "long.svm", "--scores") as process:  # as in `oneslack predict ... | head`
        assert process.stdout.readline().startswith("1\t")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 141
    code, out, err = finish(start("predict", "m", "absent.svm"))
    assert (code, out, err.count("\n")) == (3, "", 1)


@pytest.mark.parametrize("command", ["classify", "rank"])
def test_ctrl_c_keeps_the_best_model_so_far(folder, slow_file, command):
    process = start("train", command, slow_file, "-o", "m", "--solver", "one_slack", "--tol", "0", "-C", "1")
    while not re.search(r"gap (?!100 %)", process.stderr.readline()):  # until both bounds moved
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert code == 130, err
    assert "interrupted" in err
    assert "saved m: " in err
    assert "Traceback" not in err
    assert out.startswith("m: ")
    model = oneslack.load("m")
    assert model.n_iter_ > 0
    assert 0 < model.duality_gap_ <= 1
    assert 0 <= model.dual_objective_ < model.objective_ < 3000  # P(0)
    assert sorted(os.listdir()) == ["kinds.csv", "m", slow_file, "train.svm"]


def test_ctrl_c_before_there_is_a_model_writes_nothing(folder):
    os.mkfifo("pipe.svm")
    process = start("train", "classify", "pipe.svm", "-o", "m")
    with open("pipe.svm", "w"):  # the reader waits for more
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        code, out, err = finish(process)
    assert (code, out, err) == (130, "", "oneslack: interrupted; nothing was written.\n")
    assert not os.path.exists("m")
