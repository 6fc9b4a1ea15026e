"""Model files that lie: each is refused by a sentence that names it, or predicts without a foreign error.

The checksum of every forgery fits, so that only what the file says of itself can tell.
"""

import time
import tracemalloc
import warnings
from contextlib import contextmanager, suppress
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from forged_files import forgeries
from grids import few
from latent_toys import Halves, Peak
from sklearn.datasets import load_iris

import oneslack
from oneslack import (
    GrammarParser,
    KernelSVC,
    LatentStructuralSVM,
    LatentSVM,
    LinearSVC,
    LinearSVR,
    MetricSVC,
    OneslackError,
    OrdinalSVC,
    RankSVM,
    SequenceTagger,
    StructuralSVM,
)
from oneslack.formats import Sentences, compressed, load_model, save_model
from oneslack.models import Binary, Chain, Multiclass

X, Y = load_iris(return_X_y=True)
X, Y = X[::3], Y[::3]
NAMES = np.array(["setosa", "größer", "小"])
MATRIX = np.column_stack([Y == 0, Y > 0, Y == 1]).astype(int)
RNG = np.random.default_rng(0)
TOKENS = [RNG.normal(size=(3, 4)) for _ in range(8)]
TAGS = [["B", "I", "O"], ["O", "B", "I"]] * 4
WORDS = Sentences.from_lists(w=[["the", "cat", "sat"], ["a", "dog", "ran"]] * 4)
DICTS = [[{"w": word} for word in ("the", "cat", "sat")]] * 8
TREES = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (D a) (A big) (N dog)) (VP (V saw) (NP (D the) (N cat))))",
] * 3
CODES = [np.array([0, 1, 2]), np.array([2, 0, 1])] * 4


def tagger(**options):
    return SequenceTagger(tol=0.1, **options)


#: name: (fitted estimator, inputs to predict on)
MODELS = {
    "LinearSVC": lambda: (
        LinearSVC(class_weight={0: 2.0}, loss=1.0 - np.eye(3), prior=np.zeros(4)).fit(X, Y), X,
    ),
    "LinearSVC, text": lambda: (LinearSVC(class_weight={"小": 2.0}).fit(X, NAMES[Y]), X),
    "LinearSVC, names": lambda: (_named(LinearSVC().fit(X, Y > 0)), X),
    "LinearSVR": lambda: (LinearSVR().fit(X, Y.astype(float)), X),
    "MetricSVC": lambda: (MetricSVC("precision_at_k", k=3).fit(X, Y == 1), X),
    "MetricSVC, labels": lambda: (MetricSVC("f1").fit(X, MATRIX), X),
    "OrdinalSVC": lambda: (OrdinalSVC().fit(X, Y), X),
    "RankSVM": lambda: (RankSVM().fit(X, Y), X),
    "RankSVM, kernel": lambda: (RankSVM(kernel="rbf", n_basis=6).fit(X, Y), X),
    "KernelSVC": lambda: (KernelSVC().fit(X, NAMES[Y]), X),
    "KernelSVC, sparse": lambda: (KernelSVC(kernel="poly").fit(sp.csr_matrix(X), Y == 1), sp.csr_matrix(X)),
    "KernelSVC, precomputed": lambda: (KernelSVC(kernel="precomputed").fit(X @ X.T, Y), X @ X.T),
    "SequenceTagger, matrices": lambda: (tagger(order=2, start=True, end=True).fit(TOKENS, TAGS), TOKENS),
    "SequenceTagger, kernel": lambda: (tagger(kernel="rbf", n_basis=6).fit(TOKENS, TAGS), TOKENS),
    "SequenceTagger, dicts": lambda: (tagger(constraints="iob").fit(DICTS, [["B", "I", "O"]] * 8), DICTS),
    "SequenceTagger, templates": lambda: (tagger(templates="w[-1..1]\nw[0] & w[1]").fit(WORDS, TAGS), WORDS),
    "SequenceTagger, hashed": lambda: (tagger(templates="w[0]", hash_bits=5).fit(WORDS, TAGS), WORDS),
    "StructuralSVM, Binary": lambda: (StructuralSVM(Binary(4, True)).fit(X, np.where(Y > 0, 1, -1)), X),
    "StructuralSVM, Multiclass": lambda: (StructuralSVM(Multiclass(4, 3)).fit(X, Y), X),
    "StructuralSVM, Chain": lambda: (StructuralSVM(Chain(4, 3), tol=0.1).fit(TOKENS, CODES), TOKENS),
    "StructuralSVM, kernel": lambda: (
        StructuralSVM(Multiclass(4, 3), kernel="rbf", n_basis=6).fit(X, Y), X,
    ),
    "GrammarParser": lambda: (GrammarParser(min_count=1, tol=0.1).fit(TREES), SENTENCES),
    "GrammarParser, spans": lambda: (
        GrammarParser(span_features=True, tol=0.1, vertical=2, loss="zero_one").fit(TREES), SENTENCES,
    ),
    "LatentSVM": lambda: (LatentSVM(Peak()).fit(list(X), np.where(Y > 0, "yes", "no")), list(X)),
    "LatentStructuralSVM": lambda: (
        LatentStructuralSVM(Halves()).fit(X[:, 0].tolist(), (Y > 0).astype(int).tolist()), X[:, 0].tolist(),
    ),
}  # fmt: skip
SENTENCES = [["the", "cat", "sat"], ["a", "new", "dog", "saw", "it", "there"]]
OWN = {"LatentSVM": Peak(), "LatentStructuralSVM": Halves()}
#: A forged file may take so many seconds and bytes.
SECONDS, BYTES = 2.0, 200e6


def _named(model):
    model.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where files need not survive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oneslack.formats.atomic.os.fsync", lambda descriptor: None)
        yield tmp_path_factory.mktemp("forged")


@cache
def good(name, folder, packed):
    """(header, arrays, inputs) of a model file, with its arrays packed or as they are."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(compressed, "SMALL", 0 if packed else 1 << 12)
        model, inputs = MODELS[name]()
        model.save(folder / "good")
        oneslack.load(folder / "good", model=OWN.get(name)).predict(inputs)  # compiles
    return *load_model(folder / "good"), inputs


def refusal(path, own, inputs, changes_inputs):
    """Load and predict: the sentence with which the file is refused, or None.

    Inputs of another width than the file says are refused too, but only when they are seen.
    """
    try:
        model = oneslack.load(path, model=own)
    except OneslackError as error:
        return str(error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # absurd weights overflow
        with suppress(ValueError if changes_inputs else ()):
            model.predict(inputs)
    return None


def forge(name, folder, share, packed=False):
    """How many of the forgeries, of which a share is tried, are refused, and how many are not."""
    header, arrays, inputs = good(name, folder, packed)
    path, rng, refused, taken = folder / "forged", np.random.default_rng(0), 0, 0
    for what, forged_header, forged_arrays in forgeries(header, arrays):
        if rng.random() >= share:
            continue
        save_model(path, forged_header, forged_arrays)
        begin = time.process_time()  # on a busy machine the clock tells nothing
        try:
            sentence = refusal(path, OWN.get(name), inputs, "n_features:" in what or ".columns:" in what)
            assert sentence is None or sentence.startswith(f"{path}: ")
            assert sentence is None or "\n" not in sentence
            assert time.process_time() - begin < SECONDS
        except BaseException as error:
            error.add_note(f"{name}, {what}")
            raise
        refused, taken = refused + (sentence is not None), taken + (sentence is None)
    return refused, taken


@contextmanager
def little_room():
    """What numpy and Python ask for stays below BYTES."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("share", few([0.02, 0.1], 1))
@pytest.mark.parametrize("name", MODELS)
def test_some_forgeries(name, folder, share):
    good(name, folder, packed=False)
    with little_room():
        refused, taken = forge(name, folder, share)
    assert min(refused, taken) > 0


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith(("Sequence", "Structural"))])
def test_some_forgeries_of_packed_arrays(name, folder):
    good(name, folder, packed=True)
    with little_room():
        refused, _ = forge(name, folder, 0.015, packed=True)
    assert refused > 0


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_all_forgeries(name, folder, packed):
    refused, _ = forge(name, folder, 1.0, packed)
    assert refused > 200
