"""Losses of a whole sample as small problems: P = 1/2 |w|^2 + C n R(w), by enumeration of all outputs."""

from fractions import Fraction
from itertools import permutations, product

from .linear import Penalty, dot
from .optimum import ZERO, Block, Cut, Small


def ranking(X, targets, groups, s, C) -> Small:
    """C (sum of s) (mean of max(0, 1 - (f_i - f_j)) over pairs of a group with target i > target j)."""
    n = len(X)
    pairs = [(i, j) for i in range(n) for j in range(n) if groups[i] == groups[j] and targets[i] > targets[j]]
    unit = C * sum(s) / sum(s[i] * s[j] for i, j in pairs)

    def risk(w):
        f = [dot(w, x) for x in X]
        return unit * sum(s[i] * s[j] * max(ZERO, 1 - (f[i] - f[j])) for i, j in pairs)

    blocks = [Block(unit * s[i] * s[j], [Cut(Fraction(1), total(X, {i: 1, j: -1}))]) for i, j in pairs]
    return Penalty(len(X[0])).problem(blocks, risk)


def measure(X, y, C, outputs, intercept=False) -> Small:
    """C n max over outputs of loss - sum_i share_i f_i; outputs are pairs (loss, {i: share_i})."""
    n, d = len(X), len(X[0])

    def risk(w):
        f = [dot(w[:d], x) + (w[d] if intercept else 0) for x in X]
        values = [loss - sum(share * f[i] for i, share in shares.items()) for loss, shares in outputs]
        return C * n * max(ZERO, *values)

    rows = [[*x, Fraction(1)] for x in X] if intercept else X
    cuts = [
        Cut(n * loss, total(rows, {i: n * share for i, share in shares.items()})) for loss, shares in outputs
    ]
    return Penalty(d, int(intercept)).problem([Block(C, cuts)], risk)


def total(rows, shares):
    """sum_i share_i row_i."""
    sums = [sum((share * rows[i][k] for i, share in shares.items()), ZERO) for k in range(len(rows[0]))]
    return {k: value for k, value in enumerate(sums) if value}


# Outputs of the measures, y of -1 and +1: (loss, what each score counts).


def labellings(y, loss):
    """All ways to label the sample; loss(tp, fp, fn, tn) is counted from that of the truth."""
    n, P = len(y), sum(label > 0 for label in y)
    truth = Fraction(loss(P, 0, 0, n - P))
    outputs = []
    for z in product((-1, 1), repeat=n):
        tp = sum(a > 0 and b > 0 for a, b in zip(y, z, strict=True))
        fp = sum(a < 0 < b for a, b in zip(y, z, strict=True))
        shares = {i: Fraction(y[i], n) for i in range(n) if y[i] != z[i]}
        outputs.append((Fraction(loss(tp, fp, P - tp, n - P - fp)) - truth, shares))
    return outputs


def f_beta_loss(beta):
    """1 - F; 0 where nothing is positive and nothing predicted so."""
    b2 = Fraction(beta) ** 2

    def loss(tp, fp, fn, tn):
        below = b2 * (tp + fn) + tp + fp
        return 1 - (1 + b2) * tp / below if below else ZERO

    return loss


def top_k(y, k, unit):
    """k are predicted positive; a missed positive costs 1 / unit; compared with the mean of the perfect
    outputs nearest to it (models/measures/top_k.py)."""
    n, P = len(y), sum(label > 0 for label in y)
    outputs = []
    for z in product((0, 1), repeat=n):
        if sum(z) != k:
            continue
        false = [i for i in range(n) if z[i] and y[i] < 0]
        missed = [i for i in range(n) if not z[i] and y[i] > 0]
        a = k - len(false)
        alpha, beta = Fraction(1), Fraction(1)
        if k <= P and a < P:
            beta = Fraction(k - a, P - a)
        elif k > P and a < k:
            alpha = Fraction(P - a, k - a)
        shares = dict.fromkeys(false, -alpha / n) | dict.fromkeys(missed, beta / n)
        outputs.append((Fraction(min(k, P) - a, max(unit, 1)), shares))
    return outputs


def rankings(y):
    """All orders of the sample, best first: 1 - average precision; pairs turned round."""
    n = len(y)
    positives = [i for i in range(n) if y[i] > 0]
    pairs = Fraction(len(positives) * (n - len(positives)))
    if not pairs:
        return [(ZERO, {})]
    outputs = {}
    for order in permutations(range(n)):
        place = {i: r for r, i in enumerate(order)}
        turned = [(i, j) for i in positives for j in range(n) if y[j] < 0 and place[j] < place[i]]
        if frozenset(turned) in outputs:
            continue
        precisions = [Fraction(sum(place[m] <= place[i] for m in positives), place[i] + 1) for i in positives]
        shares = dict.fromkeys(range(n), ZERO)
        for i, j in turned:
            shares[i] += 1 / pairs
            shares[j] -= 1 / pairs
        outputs[frozenset(turned)] = (1 - sum(precisions) / len(positives), shares)
    return list(outputs.values())
