"""A few examples are looked at before a training, and at its end."""

import latent_toys
import numpy as np
import pytest
from broken_models import Classes, classes, put, with_feature, with_loss

from oneslack import (
    DualCD,
    LatentStructuralSVM,
    NSlack,
    OneSlack,
    Problem,
    SplitProblem,
    StructuralSVM,
    ThreadCrews,
    solve,
)
from oneslack.checks.first_look import check_first_examples, find_disagreement
from oneslack.checks.model import ModelError


class Forgetful(Classes):
    """A decoder without the loss."""

    def decode(self, w, x, y=None):
        return super().decode(w, x)


class Late(Classes):
    """A decoder that is right as long as only the loss counts."""

    def decode(self, w, x, y=None):
        return super().decode(w, x, y) if not w.any() or y is None else super().decode(w, x)


class Negative(Classes):
    """A decoder with the loss of the wrong sign."""

    def decode(self, w, x, y=None):
        scores = w.reshape(3, 4) @ x
        return int(np.argmax(scores if y is None else scores - (np.arange(3) != y)))


class Random(Classes):
    """Features with noise."""

    rng = np.random.default_rng(0)

    def joint_feature(self, x, y):
        return super().joint_feature(x, y) + 1e-3 * self.rng.normal(size=12)


class Writing(Classes):
    """A decoder that works in its arguments."""

    what = "x"

    def decode(self, w, x, y=None):
        answer = super().decode(w, x, y)
        {"w": w, "x": x}[self.what][1] += 1.0
        return answer


class Needy(Classes):
    """A decoder that cannot do without y."""

    def decode(self, w, x, y):
        return super().decode(w, x, y)


class Strict(Classes):
    def loss(self, y, z):
        return 1.0 + float(y != z)


class Writer(Writing):
    what = "w"


BROKEN = {
    "forgetful": (Forgetful, r"Forgetful.decode\(w, x, y\), example 0: its answer has .* 0, but .* has 1"),
    "negative": (Negative, r"Negative.decode\(w, x, y\), example 0: its answer has score \+ loss 0, but "),
    "random": (Random, r"Random.joint_feature, example 0: feature 0 of the truth was .*, then "),
    "writing x": (Writing, r"Writing.decode\(w, x\), example 0: changed x from array"),
    "writing w": (Writer, r"Writer.decode\(w, x\), example 0: changed w\[1\] from 0 to 1"),
    "needy": (Needy, r"Needy.decode\(w, x\), example 0: raised TypeError: "),
    "strict": (Strict, r"Strict.loss, example 0: loss\(y, y\) is 1, expected 0"),
    "nan": (with_feature(put(np.nan)), "Changed.joint_feature, example 0: the truth has nan at feature 5"),
    "large": (with_feature(put(1e160)), r"the truth has 1e\+160 at feature 5, which is too large: scale the"),
    "loss": (with_loss(-1.0), r"Changed.loss, example 0: the answer of decode.* has loss -1, expected"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_mistake_is_named_before_the_first_step(case):
    model, message = BROKEN[case]
    X, Y = classes()
    Y[0] = 0
    with pytest.raises(ModelError, match=message) as refusal:
        StructuralSVM(model(), time_limit=1e-9).fit(X, Y)
    assert "oneslack.check_model" in str(refusal.value)


@pytest.mark.parametrize("solver", [OneSlack(), OneSlack(cache_size=5), NSlack(), DualCD()], ids=repr)
def test_a_decoder_that_forgets_the_loss_gets_no_certificate(solver):
    with pytest.raises(ModelError, match=r"its answer has score \+ loss 0, but y of .* has 1;"):
        solve(Problem(Forgetful(), *classes()), solver)


def test_in_parts():
    X, Y = classes()
    problem = SplitProblem(Forgetful(), X, Y, engine=ThreadCrews(2))
    with problem.engine, pytest.raises(ModelError, match=r"decode\(w, x, y\), example .*: its answer"):
        solve(problem)
    problem = SplitProblem(Late(), X, Y, engine=ThreadCrews(2))
    with problem.engine:
        check_first_examples(problem)
        w = np.random.default_rng(0).normal(size=12)
        assert "its answer has score + loss" in find_disagreement(problem, w)
    good = SplitProblem(Classes(), X, Y, engine=ThreadCrews(2))
    with good.engine:
        assert find_disagreement(good, w) is None


def test_an_inexact_decoder_may_miss_the_best():
    class Rough(Forgetful):
        exact = False

    problem = Problem(Rough(), *classes())
    assert not solve(problem, OneSlack(), max_iter=5).certified
    assert find_disagreement(problem, np.ones(12)) is None


def test_rescaled_slacks():
    class Plain(Classes):
        def decode_slack(self, w, x, y):
            return self.decode(w, x)

    X, Y = classes()
    assert solve(Problem(Classes(), X, Y, rescaling="slack"), tol=1e-3).gap <= 1e-3
    with pytest.raises(
        ModelError, match=r"Plain.decode_slack\(w, x, y\), example .*: its answer has loss \(1 - "
    ):
        solve(Problem(Plain(), X, Y, rescaling="slack"))


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_the_end(rescaling):
    X, Y = classes()
    good = Problem(Classes(), X, Y, rescaling=rescaling)
    assert find_disagreement(good, solve(good, tol=1e-6).w) is None
    late = Problem(Late(), X, Y)
    sentence = find_disagreement(late, solve(good, tol=1e-6).w)
    assert sentence.startswith("Late.decode(w, x, y), example ")
    assert "its answer has score + loss" in sentence


def test_float32_is_no_mistake():
    class Short(Classes):
        def decode(self, w, x, y=None):
            scores = w.reshape(3, 4).astype(np.float32) @ x.astype(np.float32)
            return int(np.argmax(scores if y is None else scores + (np.arange(3, dtype=np.int32) != y)))

    X, Y = classes(200)
    rng = np.random.default_rng(0)
    problem = Problem(Short(), X, Y)
    for _ in range(50):
        assert find_disagreement(problem, 10.0 * rng.normal(size=12)) is None


def test_outputs_that_an_x_does_not_have():
    class Allowed(Classes):
        def loss(self, y, z):
            return 5.0 if z == 2 and y != 2 else float(y != z)

        def decode(self, w, x, y=None):
            best = [z for z in range(3) if not (z == 2 and x[1] > 0)]
            score = [
                float(w @ self.joint_feature(x, z)) + (0 if y is None else self.loss(y, z)) for z in best
            ]
            return best[int(np.argmax(score))]

    X, Y = classes()
    Y = [y if y != 2 or x[1] <= 0 else 0 for x, y in zip(X, Y, strict=True)]
    assert 2 in Y
    problem = Problem(Allowed(), X, Y)
    assert find_disagreement(problem, solve(problem).w) is None


def test_the_look_is_short():
    calls = {}

    class Counting(Classes):
        def decode(self, w, x, y=None):
            calls["decode"] = calls.get("decode", 0) + 1
            return super().decode(w, x, y)

        def joint_feature(self, x, y):
            calls["psi"] = calls.get("psi", 0) + 1
            return super().joint_feature(x, y)

    check_first_examples(Problem(Counting(), *classes(1000)))
    assert calls["decode"] == 15
    assert calls["psi"] <= 40


def test_a_latent_decoder_that_forgets_the_loss():
    class Halves(latent_toys.Halves):
        def decode(self, w, x, y=None):
            return super().decode(w, x)

    with pytest.raises(ModelError, match=r"^Halves.decode\(w, x, y\), example .*: its answer has score"):
        LatentStructuralSVM(Halves()).fit([-2.0, -1.8, -0.1, 0.1, 1.9, 2.0], [1, 1, 0, 0, 1, 1])
