"""Which short word do these DNA sequences share?  Learn a motif and where it starts.

python examples/motifs.py

Half of the sequences hold a copy of an unknown word of eight letters, some of them changed; the others are
random.  Where the word starts is latent.  The comparison is a classifier that counts all words of three
letters.
"""

from dataclasses import dataclass

import numpy as np

import oneslack

LETTERS = "ACGT"


@dataclass(frozen=True)
class Motif:
    """x (T,): letters as numbers 0 to 3; h: where the word starts; a weight a place and letter, a bias."""

    width: int

    @property
    def n_params(self):
        return 4 * self.width + 1

    def feature(self, x, h):
        phi = np.zeros(self.n_params)
        phi[4 * np.arange(self.width) + x[h : h + self.width]] = 1.0
        phi[-1] = 1.0
        return phi

    def best(self, w, x):
        words = np.lib.stride_tricks.sliding_window_view(x, self.width)
        return int(w[4 * np.arange(self.width) + words].sum(axis=1).argmax())

    def consensus(self, w):
        return "".join(LETTERS[k] for k in w[:-1].reshape(-1, 4).argmax(axis=1))


def sequences(n, word, length=50, change=0.15, seed=0):
    """(X, y, H): every second sequence holds the word, from h on, each letter changed with some chance."""
    rng = np.random.default_rng(seed)
    letters = np.array([LETTERS.index(letter) for letter in word])
    X, y = rng.integers(0, 4, (n, length)), np.arange(n) % 2
    H = rng.integers(0, length - len(word) + 1, n)
    for x, label, h in zip(X, y, H, strict=True):
        if label:
            kept = rng.random(len(word)) >= change
            x[h : h + len(word)] = np.where(kept, letters, rng.integers(0, 4, len(word)))
    return X, y, H


def word_counts(X, k=3):
    """(n, 4**k): how often each word of k letters occurs."""
    codes = sum(X[:, a : X.shape[1] - k + 1 + a] * 4**a for a in range(k))
    return np.array([np.bincount(row, minlength=4**k) for row in codes], dtype=float)


def main(word="TGACGTCA", n_train=300, n_test=300, C=0.1, n_starts=8, tol=1e-2):
    X, y, _ = sequences(n_train, word, seed=0)
    X_test, y_test, H_test = sequences(n_test, word, seed=1)
    model = Motif(len(word))
    svm = oneslack.LatentSVM(model, C=C, n_starts=n_starts, tol=tol).fit(X, y)
    print(f"hidden word {word}, learned {model.consensus(svm.coef_)}")
    right = np.mean((svm.predict_latent(X_test) == H_test)[y_test == 1])
    print(f"starts found in {n_test // 2} other sequences: {right:.1%}")
    learned = svm.score(X_test, y_test)
    counts = oneslack.LinearSVC(C=C).fit(word_counts(X), y).score(word_counts(X_test), y_test)
    print(f"sequences told apart: {learned:.1%}; by counts of words of three letters {counts:.1%}")
    return svm, learned, counts


if __name__ == "__main__":
    main()
