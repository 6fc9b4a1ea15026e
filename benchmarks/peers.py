"""The programs, behind one interface.

A program is made from (name, X, y, cache).  `train(C, setting, limit)` gives a Run, whose
seconds are those of training alone: reading and converting the data are left out.
`lines(multiclass, target)` gives its settings, each line ordered from loose to tight; the
search takes of each line the first setting that reaches the target, then the fastest line.
No program fits an intercept, and C multiplies the sum of the losses.

`Worker` holds a program in a process of its own, so that a run can be cut off.
"""

import ctypes
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

import numpy as np
from problems import BINARY, load, primal
from sklearn.datasets import dump_svmlight_file

GRACE = 60  # seconds a program may spend on reading, writing and judging besides training


class Run(NamedTuple):
    seconds: float
    w: np.ndarray
    lower_bound: float = float("-inf")  # under the optimum, where the program reports one


class Ours:
    """oneslack.LinearSVC, wall time of fit() once its code has been compiled."""

    def __init__(self, name, X, y, cache):
        self.X, self.y = X, y
        self.options = {} if name in BINARY else {"multi_class": "crammer_singer"}
        self.train(1e-3, {"tol": 0.1}, None)

    @staticmethod
    def lines(multiclass, target):
        return [[{"tol": t} for t in (0.1, 0.03, 1e-2, 5e-3, 3e-3, 2e-3, 1e-3, 3e-4, 1e-4)]]

    def train(self, C, setting, limit):
        from oneslack import LinearSVC

        model = LinearSVC(C=C, fit_intercept=False, **self.options, **setting)
        return _timed_fit(model, self.X, self.y)


class Liblinear:
    """LIBLINEAR's dual coordinate descent, -s 3, or -s 4 for Crammer and Singer."""

    def __init__(self, name, X, y, cache):
        from liblinear.liblinearutil import problem

        self.solver = 3 if name in BINARY else 4
        self.problem = problem(y, X)

    @staticmethod
    def lines(multiclass, target):
        steps = (3, 1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
        return [[{"e": e} for e in steps]]

    def train(self, C, setting, limit):
        from liblinear.liblinearutil import parameter, train

        options = parameter(f"-s {self.solver} -c {C} -B -1 -q -e {setting['e']}")
        ctypes.CDLL(None).srand(1)  # as in a new process: its order of examples is random
        start = time.perf_counter()
        model = train(self.problem, options)
        return Run(time.perf_counter() - start, self._weights(model))

    def _weights(self, model):
        columns = 1 if self.solver == 3 else model.nr_class
        flat = np.ctypeslib.as_array(model.w, (model.nr_feature * columns,))
        if columns == 1:
            return flat * model.label[0]  # the label met first is the positive one
        w = np.empty((columns, model.nr_feature))
        w[[model.label[i] for i in range(columns)]] = flat.reshape(-1, columns).T
        return w


class Libocas:
    """LIBOCAS by its programs svmocas and msvmocas, which print their training time.

    Its option -q halts at a given objective.  With the target there, LIBOCAS stops at the
    very iteration that reaches it, which its own duality gap would overrun.
    """

    def __init__(self, name, X, y, cache):
        self.binary = name in BINARY
        self.shape = (X.shape[1],) if self.binary else (len(np.unique(y)), X.shape[1])
        self.file = Path(cache) / f"{name}.svm"
        if not self.file.exists():
            part = self.file.with_suffix(".part")
            labels = y if self.binary else y + 1
            dump_svmlight_file(X, labels.astype(int), str(part), zero_based=False)
            part.replace(self.file)

    @staticmethod
    def lines(multiclass, target):
        threads = [{}] if multiclass else [{"p": 1}, {"p": 2}]
        return [[{"q": target, **p}] for p in threads]

    def train(self, C, setting, limit):
        program = ["svmocas", "-b", "0"] if self.binary else ["msvmocas"]
        pairs = {"r": 1e-6, **setting}.items()
        options = [part for key, value in pairs for part in (f"-{key}", repr(value))]
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            command = [*program, "-c", repr(C), "-t", str(limit), *options, self.file, model]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=limit + GRACE / 2
            )
            w = self._weights(model)
        seconds = re.search(r"ocas_time\s*:\s*([\d.]+)", done.stdout)
        bounds = re.findall(r", Q_D=([-\d.]+)", done.stdout)
        return Run(float(seconds[1]), w, max(map(float, bounds)))

    def _weights(self, model):
        """The model file has no lines for features beyond the last one that occurs."""
        values = np.fromfile(model, sep=" ")
        w = np.zeros(self.shape)
        if self.binary:
            w[: len(values) - 1] = values[:-1]  # the last one is the bias, 0
        else:
            columns = values.reshape(-1, self.shape[0]).T
            w[:, : columns.shape[1]] = columns
        return w


class Sklearn:
    """scikit-learn's LinearSVC: LIBLINEAR inside, with a limit on the epochs of its own."""

    def __init__(self, name, X, y, cache):
        self.X, self.y = X, y
        self.options = {} if name in BINARY else {"multi_class": "crammer_singer"}

    @staticmethod
    def lines(multiclass, target):
        steps = (1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
        return [[{"tol": t} for t in steps]]

    def train(self, C, setting, limit):
        from sklearn.svm import LinearSVC

        options = {"loss": "hinge", "fit_intercept": False, "max_iter": 1_000_000}
        model = LinearSVC(C=C, random_state=0, **options, **self.options, **setting)
        return _timed_fit(model, self.X, self.y)


class Sgd:
    """scikit-learn's SGDClassifier; binary only, as its many classes are one against all."""

    def __init__(self, name, X, y, cache):
        self.X, self.y = X, y

    @staticmethod
    def lines(multiclass, target):
        epochs = (1, 2, 5, 10, 20, 50, 100, 200, 500)
        lines = [[{"epochs": e, "average": a} for e in epochs] for a in (False, True)]
        return [] if multiclass else lines

    def train(self, C, setting, limit):
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(
            alpha=1 / (C * len(self.y)),
            fit_intercept=False,
            max_iter=setting["epochs"],
            average=setting["average"],
            tol=None,
            random_state=0,
        )
        return _timed_fit(model, self.X, self.y)


PROGRAMS = {
    "ours": Ours,
    "liblinear": Liblinear,
    "libocas": Libocas,
    "sklearn": Sklearn,
    "sgd": Sgd,
}


def _timed_fit(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return Run(seconds, model.coef_[0] if len(model.coef_) == 1 else model.coef_)


class Worker:
    """A program on one problem, in its own process.

    `run` gives (seconds, primal, lower bound), or None when the limit is exceeded.  The
    process is then ended, and the next run starts a new one.
    """

    def __init__(self, program, name, data, cache):
        self.what, self.process = (program, name, data, cache), None

    def run(self, C, setting, limit):
        if self.process is None:
            self._start()
        self.pipe.send((C, setting, limit))
        # A program with a limit of its own stops by itself; the others are cut off.
        patience = limit + (GRACE if self.what[0] == "libocas" else 1)
        if not self.pipe.poll(patience):
            print(f"{self.what[:2]} {setting}: over {limit} s", file=sys.stderr)
            self.close()
            return None
        return self._answer()

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, *self.what), daemon=True)
        self.process.start()
        theirs.close()  # so that a process that dies is noticed
        self._answer()

    def _answer(self):
        answer = self.pipe.recv()
        if isinstance(answer, str):
            self.close()
            raise RuntimeError(f"{self.what[0]} on {self.what[1]} failed:\n{answer}")
        return answer


def _serve(pipe, program, name, data, cache):
    try:
        X, y = load(name, data, cache)
        trainer = PROGRAMS[program](name, X, y, cache)
        pipe.send(b"ready")
        while True:
            C, setting, limit = pipe.recv()
            run = trainer.train(C, setting, limit)
            pipe.send((run.seconds, float(primal(X, y, run.w, C)), run.lower_bound))
    except EOFError:
        pass
    except Exception:
        pipe.send(traceback.format_exc())
