"""One way to fit: few files on the way, and the same arguments for all estimators."""

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import oneslack
from oneslack import (
    GrammarParser,
    KernelSVC,
    LinearSVC,
    LinearSVR,
    MetricSVC,
    OrdinalSVC,
    RankSVM,
    SequenceTagger,
    StructuralSVM,
)

ROOT = str(Path(oneslack.__file__).parent)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
SIGNS = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0, 1, -1)
KINDS = RNG.integers(3, size=60)
WORDS = [[{"w": word} for word in text.split()] for text in ("the dog runs", "a cat sleeps", "the cat runs")]
TAGS = [["D", "N", "V"]] * 3
TREES = ["(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars))))", "(S (NP (NNS stars)) (VP (VBP shine)))"]
#: Each with what it learns from.
FITS = {
    "LinearSVC": (LinearSVC, X, SIGNS),
    "LinearSVC, ovr": (lambda **options: LinearSVC(multi_class="ovr", **options), X, KINDS),
    "LinearSVR": (LinearSVR, X, X[:, 1]),
    "RankSVM": (RankSVM, X, KINDS),
    "OrdinalSVC": (OrdinalSVC, X, KINDS),
    "MetricSVC": (MetricSVC, X, SIGNS),
    "KernelSVC": (lambda **options: KernelSVC(method="basis", **options), X, SIGNS),
    "StructuralSVM": (lambda **options: StructuralSVM(oneslack.Multiclass(4, 3), **options), X, KINDS),
    "SequenceTagger": (SequenceTagger, WORDS, TAGS),
    "GrammarParser": (lambda **options: GrammarParser(min_count=1, **options), TREES, None),
}


def files_passed(fit):
    """Our files that a fit enters, in a process where it has been done before; but for the clock, and what
    stands in for functools.cached_property."""
    fit()
    seen = set()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            seen.add(frame.f_code.co_filename[len(ROOT) + 1 :])

    sys.setprofile(look)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return seen - {"_jit/clock.py", "data/lazy.py"}


@pytest.mark.parametrize(
    ("fit", "below"),
    [
        (lambda: LinearSVC(solver="dual_cd").fit(X, SIGNS), 20),
        (lambda: SequenceTagger().fit(WORDS, TAGS), 30),
    ],
    ids=["LinearSVC", "SequenceTagger"],
)
def test_a_fit_passes_few_files(fit, below):
    seen = files_passed(fit)
    assert len(seen) < below, sorted(seen)
    assert not [name for name in seen if "parts" in name or "distributed" in name or "saving" in name]


@pytest.mark.parametrize("name", FITS)
def test_the_same_arguments_for_all(name):
    new, _, _ = FITS[name]
    parameters = inspect.signature(type(new()).fit).parameters
    given = {each: parameters[each].default for each in ("callbacks", "checkpoint", "resume")}
    assert given == {"callbacks": (), "checkpoint": None, "resume": False}
    assert all(f"\n{each} : " in inspect.getdoc(type(new()).fit) for each in given)


@pytest.mark.parametrize("name", FITS)
def test_a_fit_that_is_cut_short_is_resumed(name, tmp_path):
    new, inputs, outputs = FITS[name]
    place, steps = tmp_path / "kept", []

    def stop(row):
        steps.append(row)
        return len(steps) == 2

    whole = new(tol=1e-4).fit(inputs, outputs)
    first = new(tol=1e-4).fit(inputs, outputs, callbacks=[stop], checkpoint=place)
    assert place.is_dir()
    with pytest.raises(oneslack.OneslackError, match="there are checkpoints already"):
        new(tol=1e-4).fit(inputs, outputs, checkpoint=place)
    second = new(tol=1e-4).fit(inputs, outputs, checkpoint=place, resume=True)
    assert not place.exists()
    assert first.n_iter_ <= second.n_iter_ == whole.n_iter_
    assert second.objective_ == pytest.approx(whole.objective_, rel=1e-12)
    assert second.dual_objective_ == pytest.approx(whole.dual_objective_, rel=1e-12)


def test_what_cannot_be_written_down_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"filled in round by round.*drop checkpoint"):
        SequenceTagger().fit(WORDS, [["D", None, "V"]] * 3, checkpoint=tmp_path / "kept")
    with pytest.raises(ValueError, match=r"many trainings.*drop checkpoint"):
        LinearSVC(C="auto").fit(X, SIGNS, checkpoint=tmp_path / "kept")
    with pytest.raises(ValueError, match="cannot take callbacks"):
        LinearSVC(C="auto").fit(X, SIGNS, callbacks=[print])
    with pytest.raises(ValueError, match="resume=True needs a checkpoint"):
        LinearSVC().fit(X, SIGNS, resume=True)


def test_shared_parameters_are_told_with_their_defaults():
    text = inspect.getdoc(SequenceTagger)
    assert "\ntol : float, default=0.01\n" in text
    assert text.index("\ntol : ") < text.index("\nn_jobs : ") < text.index("\nAttributes\n")
    assert "\nduality_gap_ : float\n" in text
    for name in oneslack.__all__:
        kind = getattr(oneslack, name)
        if inspect.isclass(kind) and hasattr(kind, "get_params"):
            told = inspect.getdoc(kind)
            assert not [each for each in inspect.signature(kind).parameters if each not in told]
