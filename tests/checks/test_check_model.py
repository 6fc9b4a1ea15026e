"""Good models pass check_model; each model of a zoo of broken ones fails, with the sentence it deserves."""

import importlib.util
import itertools
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference

import oneslack
from oneslack.checks.brute import all_cuts
from oneslack.checks.model import CheckReport, ModelError
from oneslack.models.linear.scalar import ScalarDual

NUMBER = r"-?\d[\d.e+-]*"


def load_example():
    path = Path(__file__).parents[2] / "examples" / "multilabel.py"
    spec = importlib.util.spec_from_file_location("multilabel_example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


example = load_example()
MultiLabel = example.MultiLabel


def multilabel_data(n=12, d=3, k=2):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.integers(0, 2, (n, k))


def every_labelling(x):
    return [np.array(z) for z in itertools.product((0, 1), repeat=2)]


class Tagger:
    """Tags of a sentence by Viterbi: x and y are tuples of the same length; sparse features."""

    n_params = 3 * 2 + 2 * 2

    def joint_feature(self, x, y):
        emit = [2 * word + tag for word, tag in zip(x, y, strict=True)]
        move = [6 + 2 * a + b for a, b in itertools.pairwise(y)]
        columns = np.array(emit + move)
        rows = np.zeros(len(columns), int)
        return sp.csr_array((np.ones(len(columns)), (rows, columns)), shape=(1, 10))

    def loss(self, y, y_hat):
        return sum(a != b for a, b in zip(y, y_hat, strict=True))

    def decode(self, w, x, y=None):
        emit, move = w[:6].reshape(3, 2), w[6:].reshape(2, 2)
        gain = emit[list(x)]
        if y is not None:
            gain[np.arange(len(x)), list(y)] -= 1
        best, back = gain[0], []
        for row in gain[1:]:
            arrive = best[:, None] + move
            back.append(arrive.argmax(axis=0))
            best = arrive.max(axis=0) + row
        tags = [int(best.argmax())]
        for pointers in reversed(back):
            tags.append(int(pointers[tags[-1]]))
        return tuple(reversed(tags))


def tagger_data():
    rng = np.random.default_rng(0)
    lengths = [1, 2, 2, 3, 4, 1, 3]
    X = [tuple(rng.integers(0, 3, length).tolist()) for length in lengths]
    return X, [tuple(rng.integers(0, 2, length).tolist()) for length in lengths]


def every_tagging(x):
    return itertools.product((0, 1), repeat=len(x))


# Good models.


@pytest.mark.parametrize("outputs", [None, every_labelling])
def test_multilabel_passes(outputs):
    report = oneslack.check_model(MultiLabel(3, 2), *multilabel_data(), outputs=outputs)
    assert isinstance(report, CheckReport)
    assert report.enumerated == (outputs is not None)
    assert report.extensions == ()
    assert str(report).startswith("MultiLabel passes on 12 examples at 20 weights")


@pytest.mark.parametrize("outputs", [None, every_tagging])
def test_a_sequence_model_passes(outputs):
    oneslack.check_model(Tagger(), *tagger_data(), outputs=outputs)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_the_linear_models_pass_with_all_their_extensions(intercept, as_rows):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(10, 3))
    X[2] = 0
    X[:, 1] *= rng.random(10) < 0.5
    losses = np.array([[0, 1, 2], [0.5, 0, 1], [3, 1, 0.0]])
    everything = ("scores", "duals", "smooth", "dual passes")
    for model, Y in (
        (oneslack.Binary(3, intercept=intercept), rng.choice([-1, 1], 10)),
        (oneslack.Multiclass(3, 3, intercept=intercept), rng.integers(0, 3, 10)),
        (oneslack.Multiclass(3, 3, intercept=intercept, losses=losses), rng.integers(0, 3, 10)),
    ):
        assert oneslack.check_model(model, as_rows(X), Y, n_weights=9).extensions == everything


def test_one_example_and_few_weights_will_do():
    X, Y = multilabel_data(1)
    for n_weights in (1, 3, 7):
        assert oneslack.check_model(MultiLabel(3, 2), X, Y, n_weights=n_weights).n_weights == n_weights


def test_a_cached_property_is_no_change_and_same_seed_same_weights():
    class Cached(MultiLabel):
        @cached_property
        def signs(self):
            return np.array([1, -1])

        def decode(self, w, x, y=None):
            seen.append(w.copy())
            return super().decode(w, x, y) if self.signs.any() else None

    runs = []
    for _ in range(2):
        seen = []
        oneslack.check_model(Cached(3, 2), *multilabel_data(), seed=5)
        runs.append(np.array(seen))
    np.testing.assert_array_equal(*runs)


def test_an_approximate_decoder_says_so():
    class Greedy(MultiLabel):
        exact = False

        def decode(self, w, x, y=None):
            return np.array([1, 0])

    report = oneslack.check_model(Greedy(3, 2), *multilabel_data())
    assert "not exact" in str(report)


def test_the_example_trains_and_its_certificate_is_true():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.integers(0, 2, (20, 2))
    model = example.MultiLabel(3, 2)
    cuts = all_cuts(model, X, Y, outputs=every_labelling)
    reference = Reference.of_cuts(cuts.deltas, cuts.losses, cuts.index, np.full(20, 0.7))
    lower, upper, _ = reference.solve()
    result = oneslack.solve(oneslack.Problem(model, X, Y, 0.7), oneslack.OneSlack(), tol=1e-6)
    assert result.status is oneslack.Status.CONVERGED
    assert lower - 1e-8 <= result.primal == pytest.approx(reference.primal(result.w), rel=1e-10)
    assert result.dual <= upper + 1e-8
    result, right = example.main(n_train=60, tol=0.05)
    assert result.gap <= 0.05
    assert 0 <= right <= 1


def test_bad_arguments():
    X, Y = multilabel_data()
    with pytest.raises(ValueError, match="X has 12 examples and Y has 3"):
        oneslack.check_model(MultiLabel(3, 2), X, Y[:3])
    with pytest.raises(ValueError, match="n_weights must be at least 1; got 0"):
        oneslack.check_model(MultiLabel(3, 2), X, Y, n_weights=0)


# The zoo.  Each animal carries the sentence it must be refused with.


class Animal(MultiLabel):
    data = staticmethod(multilabel_data)
    outputs_given = None


class LosslessDecoder(Animal):
    says = rf"decode\(w, x, y\), example \d+: its answer has score \+ loss {NUMBER}, but .* has {NUMBER}"

    def decode(self, w, x, y=None):
        return super().decode(w, x)


class WrongSign(Animal):
    says = LosslessDecoder.says

    def decode(self, w, x, y=None):
        scores = w.reshape(self.n_labels, self.n_features) @ x
        if y is not None:
            scores -= 1 - 2 * y
        return (scores > 0).astype(int)


class TruthAlways(Animal):
    says = LosslessDecoder.says

    def decode(self, w, x, y=None):
        return super().decode(w, x) if y is None else y


class HalfTheLoss(Animal):
    says = LosslessDecoder.says

    def decode(self, w, x, y=None):
        scores = w.reshape(self.n_labels, self.n_features) @ x
        if y is not None:
            scores += 0.5 - y
        return (scores > 0).astype(int)


class AlwaysTheLoss(Animal):
    """Adds a loss to a score of 0 where it should not, so plain decoding is off."""

    says = rf"decode\(w, x\), example \d+: its answer has score {NUMBER}, but .* has {NUMBER}"

    def decode(self, w, x, y=None):
        return super().decode(w, x, np.zeros(self.n_labels, int) if y is None else y)


class Lazy(Animal):
    """Looks at the first label only; without a list of outputs it is found out by its neighbours."""

    says = LosslessDecoder.says

    def decode(self, w, x, y=None):
        z = super().decode(w, x, y)
        z[1:] = 0
        return z


class LazyListed(Lazy):
    outputs_given = staticmethod(every_labelling)


class Worst(Animal):
    says = AlwaysTheLoss.says

    def decode(self, w, x, y=None):
        return super().decode(-w, x, y)


class Overreaching(Animal):
    """Answers with an output that is not in its own list."""

    says = rf"decode\(w, x\), example \d+: .* score {NUMBER}, but the best of its 2 outputs has {NUMBER}"

    def outputs(self, x):
        return [np.array([0, 0]), np.array([1, 1])]


class NoOutputs(Animal):
    says = r"outputs, example 0: lists 0 outputs, expected at least 1"

    def outputs(self, x):
        return []


class LossOnTruth(Animal):
    says = r"loss, example 0: loss\(y, y\) is 0.5, expected 0"

    def loss(self, y, y_hat):
        return super().loss(y, y_hat) + 0.5


class NegativeLoss(Animal):
    says = r"loss, example \d+: .* has loss -\d, expected a finite number >= 0"
    outputs_given = staticmethod(every_labelling)

    def loss(self, y, y_hat):
        return -super().loss(y, y_hat)


class InfiniteLoss(Animal):
    says = r"loss, example \d+: .* has loss inf, expected a finite number >= 0"

    def loss(self, y, y_hat):
        return np.inf if np.any(y != y_hat) else 0.0


class LossPerLabel(Animal):
    says = r"loss, example 0: the truth has loss array\(\[0, 0\]\), expected one number"

    def loss(self, y, y_hat):
        return np.abs(y - y_hat)


class WrongSize(Animal):
    says = r"joint_feature, example 0: the truth has shape \(6,\), expected n_params = \(7,\)"

    @property
    def n_params(self):
        return 7


class WrongShape(Animal):
    says = r"joint_feature, example 0: the truth has shape \(2, 3\), expected n_params = \(6,\)"

    def joint_feature(self, x, y):
        return np.outer(y, x)


class NoParams(Animal):
    says = r"n_params is 0, expected a whole number of at least 1"
    n_params = 0


class FractionalParams(Animal):
    says = r"n_params is 6.0, expected a whole number"
    n_params = 6.0


class NotANumber(Animal):
    says = r"joint_feature, example 3: the truth has nan at feature 2"

    def joint_feature(self, x, y):
        psi = super().joint_feature(x, y)
        psi[2] = np.nan if x[0] == multilabel_data()[0][3, 0] else 0.0
        return psi


class ComplexFeature(Animal):
    says = r"joint_feature, example 0: the truth has entries of type complex128"

    def joint_feature(self, x, y):
        return super().joint_feature(x, y) + 0j


class RestlessFeature(Animal):
    says = rf"joint_feature, example 0: feature \d of the truth was {NUMBER}, then {NUMBER}"

    def joint_feature(self, x, y):
        return super().joint_feature(x, y) + next(COUNTER)


class RestlessDecoder(Animal):
    says = rf"decode\(w, x\), example 0: gave two different answers .* {NUMBER} and {NUMBER}"

    def decode(self, w, x, y=None):
        return np.array([1, next(COUNTER) % 2])


class ChangesW(Animal):
    says = rf"decode\(w, x\), example 0: changed w\[\d\] from {NUMBER} to {NUMBER}"

    def decode(self, w, x, y=None):
        w += 1
        return super().decode(w, x, y)


class ChangesX(Animal):
    says = r"decode\(w, x\), example 0: changed x from array\(.*\) to array\("

    def decode(self, w, x, y=None):
        x *= 2
        return super().decode(w, x, y)


class ChangesY(Animal):
    says = r"decode\(w, x, y\), example 0: changed y from array\(.*\) to array\("

    def decode(self, w, x, y=None):
        z = super().decode(w, x, y)
        if y is not None:
            y[:] = 1 - y
        return z


class ClipsX(Animal):
    says = r"joint_feature, example 0: changed x from array\(.*\) to array\("

    def joint_feature(self, x, y):
        np.maximum(x, 0, out=x)
        return super().joint_feature(x, y)


class Counts(Animal):
    says = r"decode\(w, x\), example 0: changed the model: calls was nothing, now 1"

    def decode(self, w, x, y=None):
        object.__setattr__(self, "calls", getattr(self, "calls", 0) + 1)
        return super().decode(w, x, y)


@dataclass(frozen=True)
class Learns(Animal):
    memory: list = field(default_factory=list)
    says = r"loss, example 0: changed the model: memory was \[\], now \[1"

    def loss(self, y, y_hat):
        self.memory.append(1)
        return super().loss(y, y_hat)


class AnswersNothing(Animal):
    says = r"joint_feature, example 0: the answer of decode\(w, x\) \(None\) raised \w+Error"

    def decode(self, w, x, y=None):
        return None


class AnswersAString(Animal):
    says = r"example 0: the answer of decode\(w, x\).*"

    def decode(self, w, x, y=None):
        return "yes"


class Raises(Animal):
    says = r"decode\(w, x, y\), example 0: raised KeyError: 'oh'"

    def decode(self, w, x, y=None):
        if y is not None:
            raise KeyError("oh")
        return super().decode(w, x)


class LossRaises(Animal):
    says = r"loss, example 0: the truth .* raised TypeError: oh"

    def loss(self, y, y_hat):
        raise TypeError("oh")


class Amnesic(Animal):
    says = r"lacks decode: a model has n_params, joint_feature\(x, y\), loss\(y, y_hat\) and decode"

    @property
    def decode(self):
        raise AttributeError


class GreedyTagger(Tagger):
    """Picks tag by tag; no list of outputs, no neighbours of its size: its own answers convict it."""

    says = rf"decode\(w, x(, y)?\), example [1-4]: its answer .* {NUMBER}, but the answer of .* has {NUMBER}"
    outputs_given = None

    @staticmethod
    def data():
        X, Y = tagger_data()
        return X[:5], Y[:5]

    def decode(self, w, x, y=None):
        emit, move = w[:6].reshape(3, 2), w[6:].reshape(2, 2)
        tags = []
        for k, word in enumerate(x):
            gain = emit[word] + (move[tags[-1]] if tags else 0)
            if y is not None:
                gain = gain + (np.arange(2) != y[k])
            tags.append(int(np.argmax(gain)))
        return tuple(tags)


class GreedyTaggerListed(GreedyTagger):
    says = rf"decode\(w, x(, y)?\), example \d: its answer has score.* {NUMBER}, but output .* has {NUMBER}"
    outputs_given = staticmethod(every_tagging)


COUNTER = itertools.count(1)
ZOO = [*Animal.__subclasses__(), LazyListed, GreedyTagger, GreedyTaggerListed]


@pytest.mark.parametrize("animal", ZOO, ids=lambda animal: animal.__name__)
def test_the_zoo(animal):
    model = animal() if issubclass(animal, Tagger) else animal(3, 2)
    X, Y = animal.data()
    with pytest.raises(ModelError) as refusal:
        oneslack.check_model(model, X, Y, outputs=animal.outputs_given)
    assert re.search(animal.says, str(refusal.value)), str(refusal.value)
    assert animal.__name__ in str(refusal.value) or "n_params" in str(refusal.value)


# Broken extensions of a good model.


class BrokenBinary(oneslack.Binary):
    pass


class CrookedScores(BrokenBinary):
    says = rf"scores, example \d+: at v - 2 w it is {NUMBER}, but by linearity {NUMBER}"

    def scores(self, data, shard, w, out):
        super().scores(data, shard, w, out)
        out[shard.lo : shard.hi] += 1e-3 * w[0] ** 2


class SpillingScores(BrokenBinary):
    says = r"scores, example 0: it filled 8 rows, expected row 0 alone"

    def scores(self, data, shard, w, out):
        from oneslack.data.rows import Shard

        super().scores(data, Shard(0, data.n), w, out)


class RiskWithoutWeights(BrokenBinary):
    says = rf"risk, example \d: it is {NUMBER}, but by decode {NUMBER}"

    def risk(self, data, shard, S):
        u = 1 - data.y * S
        return float(np.maximum(u, 0)[shard.lo : shard.hi].sum())


class CutOfEveryone(BrokenBinary):
    says = rf"cut, example \d: its value is {NUMBER}, but by decode {NUMBER}"

    def cut(self, data, shard, S, coefficients):
        part = slice(shard.lo, shard.hi)
        coefficients[part] = (data.weights * data.y)[part]
        return float(data.weights[part].sum())


class CrookedAdjoint(BrokenBinary):
    says = rf"adjoint, .*: <adjoint\(c\), w> is {NUMBER}, but .* {NUMBER}"

    def adjoint(self, data, shard, coefficients):
        return 1.01 * super().adjoint(data, shard, coefficients)


class SlopeOfTheOtherSide(BrokenBinary):
    says = rf"along, example \d: the slope is {NUMBER}, by differences {NUMBER}"

    def along(self, data, shard, S, dS, t):
        loss, value, slope = super().along(data, shard, S, dS, t)
        return loss, value, -slope


class SlopeAtTheStart(BrokenBinary):
    says = SlopeOfTheOtherSide.says

    def along(self, data, shard, S, dS, t):
        return *super().along(data, shard, S, dS, t)[:2], super().along(data, shard, S, dS, 0.0)[2]


class ValueAtTheStart(BrokenBinary):
    says = rf"along, example \d: its value is {NUMBER}, but by risk {NUMBER}"

    def along(self, data, shard, S, dS, t):
        return *super().along(data, shard, S, dS, 0.0)[:2], super().along(data, shard, S, dS, t)[2]


class ShardsIgnored(BrokenBinary):
    says = rf"risk, example 0: it is {NUMBER}, but by decode {NUMBER}"

    def risk(self, data, shard, S):
        return float(np.sum(data.weights * np.maximum(1 - data.y * S, 0)))


class OrderRemembered(BrokenBinary):
    says = rf"pack, examples 0 to 7: the risk of 4 of them .* is {NUMBER}, but one by one it is {NUMBER}"

    def pack(self, X, Y, weights=None):
        return super().pack(X[np.argsort(X[:, 0])] if len(X) < 8 else X, Y, weights)


class GenerousDuals(BrokenBinary):
    says = rf"dual_loss, .*: it is {NUMBER}, but smooth_duals returned {NUMBER}"

    def dual_loss(self, data, p):
        return 2 * super().dual_loss(data, p)


class FlippedDuals(BrokenBinary):
    says = (
        rf"smooth_duals, .*: .* {NUMBER}, above .* {NUMBER}|smooth_slope, .*: it is {NUMBER}, but .* {NUMBER}"
    )

    def coefficients(self, data, p):
        return 0.5 * super().coefficients(data, p)


class Unbalanced(BrokenBinary):
    says = rf"balance, .*: free weight 2 has {NUMBER}, but balanced duals have 0|above a primal .* {NUMBER}"

    def balance(self, data, p):
        return p


class CrookedSmoothSlope(BrokenBinary):
    says = rf"smooth_slope, .*: it is {NUMBER}, but by the duals {NUMBER}"

    def smooth_slope(self, data, shard, S, dS, t, mu):
        slope, curvature = super().smooth_slope(data, shard, S, dS, t, mu)
        return 0.99 * slope, curvature


class CrookedHessian(BrokenBinary):
    says = rf"smooth_hessian, .*: v'Hv is {NUMBER}, but smooth_slope has {NUMBER}"

    def smooth_hessian(self, data, shard, p, mu):
        return np.zeros((self.n_params, self.n_params))


class ForgetfulPasses(BrokenBinary):
    says = rf"dual_passes, .*: weight 0 of the point is {NUMBER}, but its duals have {NUMBER}"

    def dual_passes(self, data, C, seed):
        class Passes(ScalarDual):
            def run(self, rate):
                self.alpha[-1] = 0.3 * self.upper[-1]
                return super().run(rate)

        return Passes(self, data, C, seed)


class PassesThatDoNotGoOn(BrokenBinary):
    says = rf"dual_passes, restored, .*: weight \d of the point is {NUMBER}, but its duals have {NUMBER}"

    def dual_passes(self, data, C, seed):
        class Passes(ScalarDual):
            def restore(self, state):
                pass

        return Passes(self, data, C, seed)


@pytest.mark.parametrize("animal", BrokenBinary.__subclasses__(), ids=lambda animal: animal.__name__)
def test_the_zoo_of_extensions(animal):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(8, 2)), np.array([1, -1, 1, 1, -1, -1, 1, -1])
    with pytest.raises(ModelError) as refusal:
        oneslack.check_model(animal(2, intercept=True), X, Y, n_weights=9)
    assert re.search(animal.says, str(refusal.value)), str(refusal.value)
