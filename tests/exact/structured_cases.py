"""Trainings of structured models on small data, by a seed."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

import oneslack

from . import draws
from .case import Claim
from .draws import pick
from .linear import dot, exact
from .linear_cases import estimator_case, held, weights_of_risk
from .structures import chain_examples, model_examples, outputs_listed

SOLVERS = ("auto", "one_slack", "n_slack", "dual_cd")


@dataclass(frozen=True)
class TwoBits:
    """A user's model: y a pair of bits, a weight for each feature with each bit and one for both.

    It decodes in rational numbers, so that whatever is wrong is not its fault.
    """

    n_features: int

    @property
    def n_params(self):
        return 2 * self.n_features + 1

    def outputs(self, x):
        return list(product((0, 1), repeat=2))

    def joint_feature(self, x, y):
        return np.concatenate([y[0] * x, y[1] * x, [float(y[0] * y[1])]])

    def loss(self, y, y_hat):
        return 0.7 * (y[0] != y_hat[0]) + 1.3 * (y[1] != y_hat[1])

    def decode(self, w, x, y=None):
        w = exact(w)
        loss = (lambda z: 0) if y is None else (lambda z: Fraction(self.loss(y, z)))
        return max(self.outputs(x), key=lambda z: self._score(w, x, z) + loss(z))

    def decode_slack(self, w, x, y):
        w = exact(w)
        right = self._score(w, x, y)
        return max(
            self.outputs(x), key=lambda z: Fraction(self.loss(y, z)) * (1 - right + self._score(w, x, z))
        )

    def _score(self, w, x, z):
        return dot(w, exact(self.joint_feature(x, z)))


def own_model_case(rng):
    n, d = draws.shape(rng, 4)
    X = draws.matrix(rng, n, min(d, 4))
    model = TwoBits(X.shape[1])
    Y = [tuple(bits) for bits in rng.integers(2, size=(n, 2)).tolist()]
    rescaling = pick(rng, ("margin", "margin", "slack"))
    return _structural(rng, model, list(X), Y, model_examples(model, X, Y), rescaling)


def _structural(rng, model, X, Y, examples, rescaling):
    n, C, s = len(X), draws.weight_of_risk(rng), draws.weights(rng, len(X))
    penalty = draws.penalty(rng, model.n_params)
    estimator = oneslack.StructuralSVM(
        model, C, rescaling=rescaling, solver=pick(rng, SOLVERS), n_jobs=1, cache_size=pick(rng, (0, 10)),
        **penalty, **draws.stopping(rng),
    )  # fmt: skip
    c = weights_of_risk(C, n, s)
    problem = outputs_listed(examples, model.n_params, c, rescaling == "slack", **held(penalty))

    def claims(svm):
        return [Claim(problem, svm.coef_.tolist(), svm.result_)]

    return estimator_case(estimator, {"X": X, "Y": Y, "sample_weight": s}, claims)


def _sentences(rng, d, L):
    n = int(rng.integers(1, 4))
    lengths = rng.integers(1, 4, size=n)
    tokens = draws.matrix(rng, int(lengths.sum()) + 1, d)
    X = np.split(tokens[:-1], np.cumsum(lengths)[:-1])
    return X, [rng.integers(L, size=length).tolist() for length in lengths]


def chain_case(rng):
    d, L = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    X, Y = _sentences(rng, d, L)
    shape = {
        "order": pick(rng, (1, 1, 2)),
        "start": bool(rng.random() < 0.3),
        "end": bool(rng.random() < 0.3),
    }
    losses = np.where(np.eye(L), 0.0, rng.uniform(0.1, 3.0, (L, L))) if rng.random() < 0.2 else None
    rescaling = "slack" if losses is None and rng.random() < 0.2 else "margin"
    model = oneslack.Chain(d, L, label_losses=losses, **shape)
    listed = exact(losses) if losses is not None else None
    examples, n_params = chain_examples([exact(x) for x in X], Y, L, losses=listed, **shape)
    assert n_params == model.n_params
    return _structural(rng, model, X, [np.array(y) for y in Y], examples, rescaling)


def tagger_case(rng):
    d, L = int(rng.integers(1, 4)), 2
    X, Y = _sentences(rng, d, L)
    Y[0][0] = 0 if any(1 in y for y in Y[1:]) or 1 in Y[0][1:] else 1 - Y[0][0]
    if len({label for y in Y for label in y}) < L:
        X, Y = [*X, X[0]], [*Y, [1 - label for label in Y[0]]]
    C, s = draws.weight_of_risk(rng), draws.weights(rng, len(X))
    estimator = oneslack.SequenceTagger(C, solver=pick(rng, SOLVERS), n_jobs=1, **draws.stopping(rng))
    examples, n_params = chain_examples([exact(x) for x in X], Y, L)
    problem = outputs_listed(examples, n_params, weights_of_risk(C, len(X), s))

    def claims(tagger):
        return [Claim(problem, tagger.coef_.tolist(), tagger.result_)]

    return estimator_case(estimator, {"X": X, "y": Y, "sample_weight": s}, claims)


TREES = (
    "(S (N stars) (V shine))",
    "(S (N stars) (V (V see) (N eyes)))",
    "(S (N (N eyes) (N stars)) (V shine))",
    "(S (N eyes) (N (V see) (N stars)))",
    "(S (V shine))",
)


def grammar_case(rng):
    trees = [pick(rng, TREES) for _ in range(int(rng.integers(1, 4)))]
    C, s = draws.weight_of_risk(rng), draws.weights(rng, len(trees))
    estimator = oneslack.GrammarParser(
        C, min_count=1, loss=pick(rng, ("brackets", "zero_one")), frequencies=bool(rng.random() < 0.5),
        solver=pick(rng, SOLVERS), cache_size=pick(rng, (0, 10)), n_jobs=1, **draws.stopping(rng),
    )  # fmt: skip

    def claims(parser):
        grammar, model = parser.grammar_, parser.model_
        read = [oneslack.Tree.parse(tree) for tree in trees]
        X = [grammar.word_ids(tree.words()) for tree in read]
        Y = [grammar.encode(tree) for tree in read]
        examples = model_examples(model, X, Y, lambda x, z: _counted(model, x, z))
        problem = outputs_listed(examples, model.n_params, weights_of_risk(C, len(trees), s))
        return [Claim(problem, parser.coef_.tolist(), parser.result_)]

    return estimator_case(estimator, {"X": trees, "sample_weight": s}, claims)


def _counted(model, x, z):
    """psi(x, z) with log p(z) as the sum that it is, not rounded."""
    row = exact(model.joint_feature(x, z).toarray().ravel())
    if model.frequencies:
        logs = exact(model.grammar.frequency_weights())
        row[-1] = dot(row[: len(logs)], logs)
    return {k: value for k, value in enumerate(row) if value}
