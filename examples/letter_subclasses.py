"""A class of many shapes: learn sub-classes that nobody has named.

python examples/letter_subclasses.py [FILE OF letter IN SVMLIGHT FORMAT]

Is a handwritten digit even or odd?  Each answer has five shapes, which a linear model cannot put together.
Here each class has several weight vectors, and which one an example belongs to is latent.  With the letters
of the UCI collection: each of 26 letters, printed in twenty fonts.  The comparison is one weight vector a
class.
"""

import sys
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits, load_svmlight_file

import oneslack


@dataclass(frozen=True)
class Subclasses:
    """x (d,); y: a class; h: one of its sub-classes, each with weights of its own."""

    n_features: int
    n_classes: int
    n_kinds: int

    @property
    def n_params(self):
        return self.n_classes * self.n_kinds * self.n_features

    def scores(self, w, x):
        return w.reshape(self.n_classes, self.n_kinds, self.n_features) @ x

    def joint_feature(self, x, y, h):
        psi = np.zeros((self.n_classes, self.n_kinds, self.n_features))
        psi[y, h] = x
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        scores = self.scores(w, x)
        if y is not None:
            scores = scores + 1.0
            scores[y] -= 1.0
        return divmod(int(scores.argmax()), self.n_kinds)

    def complete(self, w, x, y):
        return int(self.scores(w, x)[y].argmax())


def examples(path=None):
    """(X, classes, shapes): the shapes are what is not told."""
    if path is None:
        X, shapes = load_digits(return_X_y=True)
        X, classes = X / 16.0, shapes % 2
    else:
        X, labels = load_svmlight_file(path)
        X, classes, shapes = X.toarray(), labels.astype(int) - 1, None
    return np.column_stack([X, np.ones(len(X))]), classes, shapes


def purity(shapes, kinds):
    """The share of examples whose shape is the most frequent one of their sub-class."""
    pairs = {}
    for shape, kind in zip(shapes, kinds, strict=True):
        pairs.setdefault(kind, []).append(shape)
    return sum(np.bincount(mine).max() for mine in pairs.values()) / len(shapes)


def main(path=None, n_train=800, n_kinds=5, C=0.3, n_starts=2, tol=1e-2):
    X, y, shapes = examples(path)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:n_train], order[n_train : 2 * n_train]
    model = Subclasses(X.shape[1], int(y.max()) + 1, n_kinds)
    svm = oneslack.LatentStructuralSVM(model, C=C, n_starts=n_starts, tol=tol).fit(X[train], y[train])
    best = min(svm.rounds_, key=lambda entry: entry.convex).start
    path = [round(entry.convex, 2) for entry in svm.rounds_ if entry.start == best]
    print("objective after each round of the best start:", *path)
    learned = svm.score(X[test], y[test])
    plain = oneslack.LinearSVC(C=C, fit_intercept=False).fit(X[train], y[train]).score(X[test], y[test])
    print(
        f"right of {len(test)} others: {learned:.1%} with {n_kinds} sub-classes a class, {plain:.1%} with one"
    )
    if shapes is not None:
        print(f"shapes that go together: {purity(shapes[test], svm.predict_latent(X[test])):.1%}")
    return svm, learned, plain


if __name__ == "__main__":
    main(*sys.argv[1:2])
