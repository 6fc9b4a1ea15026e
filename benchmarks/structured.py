"""The structured problems and solvers that table1.py and figures.py share, and how a run is measured.

`covtype` has one output in seven and a cheap oracle, `chunking` (CoNLL-2000) and `pos` (English Web
Treebank) have a label for each token and decode by Viterbi.  C multiplies the sum over examples; the papers'
C multiplies the mean, so that theirs is C n.  The 2009 paper's losses of classes count 100: its C of 1e7 for
n = 522,911 and epsilon of 0.1 are 1e5 / n and 0.001 here, its C of 5,000 for n = 35,531 sentences is 0.14.
"""

import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from problems import load

import oneslack
from oneslack.data.rows import Ragged, cut_into_shards
from oneslack.features import FeatureIndex
from oneslack.formats import read_conll, read_conllu
from oneslack.problems.in_memory import Problem
from oneslack.solvers.dual_cd import DualCD
from oneslack.solvers.n_slack import NSlack
from oneslack.solvers.one_slack import OneSlack

CACHE_SIZE = 10


@dataclass(frozen=True, eq=False)
class ClassData:
    X: sp.csr_matrix
    y: np.ndarray
    weights: np.ndarray

    @property
    def n(self):
        return len(self.y)

    @cached_property
    def offsets(self):
        return np.arange(self.n + 1)

    @cached_property
    def shards(self):
        return cut_into_shards(self.n, self.X.nnz)

    def take(self, index):
        return ClassData(self.X[index], self.y[index], self.weights[index])


@dataclass(frozen=True)
class ClassOracle:
    """K classes through the batch door, asked like any structured model: no line search through scores.

    Weight (class z, feature k) is number z d + k.
    """

    n_features: int
    n_classes: int

    @property
    def n_params(self):
        return self.n_features * self.n_classes

    def joint_feature(self, x, y):
        psi = np.zeros((self.n_classes, self.n_features))
        psi[y] = x.toarray().ravel()
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        scores = w.reshape(self.n_classes, -1) @ x.toarray().ravel()
        if y is not None:
            scores += np.arange(self.n_classes) != y
        return int(np.argmax(scores))

    def pack(self, X, Y, weights=None):
        y = np.asarray(Y).astype(np.int64)
        return ClassData(sp.csr_matrix(X), y, np.ones(len(y)) if weights is None else weights)

    def worst_batch(self, data, shard, w, rescaling="margin"):
        X, y = data.X[shard.lo : shard.hi], data.y[shard.lo : shard.hi]
        scores, rows = X @ w.reshape(self.n_classes, -1).T, np.arange(len(y))
        truth = scores[rows, y]
        scores += 1.0
        scores[rows, y] -= 1.0
        Z = scores.argmax(axis=1)
        losses = (y != Z).astype(float)
        return Z, losses, truth - (scores[rows, Z] - losses)

    def delta_sum(self, data, shard, Z, coefficients):
        X, y = data.X[shard.lo : shard.hi], data.y[shard.lo : shard.hi]
        rows, shape = np.arange(len(y)), (len(y), self.n_classes)
        signs = np.zeros(shape)
        signs[rows, y] += coefficients
        signs[rows, Z] -= coefficients
        return np.asarray((X.T @ signs).T).ravel()

    def delta_rows(self, data, shard, Z, factors):
        X, y = data.X[shard.lo : shard.hi], data.y[shard.lo : shard.hi]
        own = self._stacked(X, y, factors)
        return own - self._stacked(X, Z, factors)

    def _stacked(self, X, classes, factors):
        """Rows factor psi(x, z)."""
        lengths = np.diff(X.indptr)
        columns = X.indices + np.repeat(classes * self.n_features, lengths)
        return sp.csr_array(
            (np.repeat(factors, lengths) * X.data, columns, X.indptr), shape=(len(classes), self.n_params)
        )


@dataclass(frozen=True)
class Task:
    """A model with its examples, C, and the papers' epsilon."""

    model: object
    X: object
    Y: object
    C: float
    epsilon: float

    @property
    def n(self):
        return self.X.shape[0] if sp.issparse(self.X) else len(self.X)

    def part(self, n, keep_total=True):
        """The first n examples, with the features that occur in them; C n stays as it is, as in the paper,
        or C."""
        C = self.C * self.n / n if keep_total else self.C
        model, X = self.model, self.X[:n]
        if isinstance(X, Ragged):
            seen = np.unique(X.values.indices)
            model, X = replace(model, n_features=len(seen)), Ragged(X.values[:, seen], X.offsets)
        return Task(model, X, self.Y[:n], C, self.epsilon)

    def problem(self):
        return Problem(self.model, self.X, self.Y, self.C, n_jobs=1)


def covtype(data, cache):
    X, y = load("covtype7", data, cache)
    order = np.random.default_rng(0).permutation(len(y))
    return Task(ClassOracle(X.shape[1], 7), X[order], y[order], 1e5 / len(y), 0.001)


def chunking(data, cache):
    sentences = read_conll(data / "conll2000" / "train.txt.xz", columns=["w", "pos", "tag"])
    return _tagging(sentences, "chunking")


def pos(data, cache):
    path = data / "ud_english_ewt" / "en_ewt-ud-train.conllu.xz"
    return _tagging(read_conllu(path, {"w": "form", "tag": "upos"}), "tagging")


def _tagging(sentences, templates):
    X = Ragged(FeatureIndex(templates).fit_transform(sentences), sentences.offsets)
    labels, codes = np.unique(sentences.columns["tag"].strings(), return_inverse=True)
    order = np.random.default_rng(0).permutation(len(X))
    Y = Ragged(codes.astype(np.int32), sentences.offsets)
    return Task(oneslack.Chain(X.values.shape[1], len(labels)), X.take(order), Y.take(order), 0.14, 0.1)


TASKS = {"covtype": covtype, "chunking": chunking, "pos": pos}


SOLVERS = {
    "one-slack": OneSlack(),
    "one-slack, cache": OneSlack(cache_size=CACHE_SIZE),
    "one-slack, cache if it pays": OneSlack(cache_size=CACHE_SIZE, enough=None),
    "n-slack": NSlack(),
    "dual_cd": DualCD(),
}


@dataclass(frozen=True)
class Run:
    """What a run has cost and reached; `gap` is relative, `violation` the papers' epsilon by the gap."""

    seconds: float
    iterations: int
    oracle_calls: int
    oracle_seconds: float
    support: int
    gap: float
    violation: float
    primal: float
    dual: float
    done: bool


def measure(task, solver, limit, **stop):
    """Train with one thread until the papers' epsilon, or as `stop` says; after `limit` seconds of processor
    time the best so far counts."""
    problem = task.problem()
    start = time.process_time()
    with _limited(limit):
        stop = stop or {"epsilon": task.epsilon}
        result = oneslack.solve(problem, solver, interrupt="return", **stop)
    seconds = time.process_time() - start
    work, violation = problem.work, (result.primal - result.dual) / problem.weight
    return Run(
        seconds, result.n_iter, work.oracle_calls, work.oracle_seconds, _support(result.state),
        result.gap, violation, result.primal, result.dual, result.status.ok,
    )  # fmt: skip


@contextmanager
def _limited(seconds):
    """Interrupt, as Ctrl-C does, after so many seconds of processor time: in the middle of a round, too."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _support(state):
    """How many duals are not zero."""
    if "planes" in state:
        return int(np.count_nonzero(state["planes"]["a"]))
    return int(np.count_nonzero(state["store"]["alpha"])) if "store" in state else 0


def warm_up(task):
    """Compile."""
    for solver in SOLVERS.values():
        measure(task.part(50), solver, 60, max_iter=2)
