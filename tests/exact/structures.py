"""Structured outputs as small problems: every output of every example is listed."""

from fractions import Fraction
from itertools import pairwise, product

from .linear import Penalty, exact
from .optimum import ZERO, Block, Cut, Small


def outputs_listed(examples, n_params, c, slack=False, **penalty) -> Small:
    """sum_i c_i max_z loss(z) - <w, psi(y_i) - psi(z)>, or with slack loss(z) (1 - <w, ...>).

    examples : for each one (psi of the truth, [(psi, loss) of each output]); psi {k: value}
    """

    def score(w, psi):
        return sum((value * w[k] for k, value in psi.items()), ZERO)

    def hinge(w, truth, listed):
        right = score(w, truth)
        lead = [right - score(w, psi) for psi, _ in listed]
        return max(
            loss * (1 - by) if slack else loss - by for (_, loss), by in zip(listed, lead, strict=True)
        )

    def risk(w):
        return sum((c_i * hinge(w, *example) for example, c_i in zip(examples, c, strict=True)), ZERO)

    blocks = []
    for (truth, listed), c_i in zip(examples, c, strict=True):
        cuts = [
            Cut(loss, _scaled(_difference(truth, psi), loss if slack else Fraction(1)))
            for psi, loss in listed
        ]
        blocks.append(Block(c_i, [cut for cut in cuts if cut.loss or cut.delta]))
    return Penalty(n_params, **penalty).problem(blocks, risk)


def _difference(a, b):
    values = {k: a.get(k, ZERO) - b.get(k, ZERO) for k in a | b}
    return {k: value for k, value in values.items() if value}


def _scaled(delta, factor):
    return {k: factor * value for k, value in delta.items() if factor}


def chain_examples(X, Y, L, *, order=1, start=False, end=False, losses=None, allowed=None):
    """Sentences X of tokens (rational numbers), Y of labels: psi and loss of all label sequences.

    Weights: feature k with label a; pairs; triples; first and last label (models/chain/model.py).
    """
    d = len(X[0][0])
    pairs = d * L
    triples = pairs + L * L
    first = triples + (L**3 if order == 2 else 0)
    last = first + (L if start else 0)
    losses = losses or [[Fraction(a != b) for b in range(L)] for a in range(L)]

    def psi(x, z):
        found = {}

        def add(k, value):
            found[k] = found.get(k, ZERO) + value

        for token, label in zip(x, z, strict=True):
            for k, value in enumerate(token):
                add(k * L + label, value)
        for a, b in pairwise(z):
            add(pairs + a * L + b, Fraction(1))
        if order == 2:
            for a, b, c in zip(z, z[1:], z[2:]):
                add(triples + (a * L + b) * L + c, Fraction(1))
        if start:
            add(first + z[0], Fraction(1))
        if end:
            add(last + z[-1], Fraction(1))
        return found

    def fits(z):
        return allowed is None or all(allowed[a][b] for a, b in pairwise(z))

    examples = []
    for x, y in zip(X, Y, strict=True):
        listed = [
            (psi(x, z), sum((losses[a][b] for a, b in zip(y, z, strict=True)), ZERO))
            for z in product(range(L), repeat=len(x))
            if fits(z)
        ]
        examples.append((psi(x, y), listed))
    return examples, last + (L if end else 0)


def model_examples(model, X, Y, psi=None):
    """Of a model that lists its outputs; psi(x, z) {k: value} is its joint_feature unless given."""

    def own(x, z):
        row = model.joint_feature(x, z)
        row = row.toarray().ravel() if hasattr(row, "toarray") else row
        return {k: value for k, value in enumerate(exact(row)) if value}

    psi = psi or own
    return [
        (psi(x, y), [(psi(x, z), Fraction(model.loss(y, z))) for z in model.outputs(x)])
        for x, y in zip(X, Y, strict=True)
    ]
