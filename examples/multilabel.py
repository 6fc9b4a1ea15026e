"""A model of one's own in twenty lines: several yes/no labels for a picture of a digit.

python examples/multilabel.py
"""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import oneslack


@dataclass(frozen=True)
class MultiLabel:
    """Independent yes/no labels: x (d,), y (k,) of 0/1, Hamming loss."""

    n_features: int
    n_labels: int

    @property
    def n_params(self):
        return self.n_features * self.n_labels

    def joint_feature(self, x, y):
        return np.outer(y, x).ravel()

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        scores = w.reshape(self.n_labels, self.n_features) @ x
        if y is not None:
            scores += 1 - 2 * y  # saying 1 earns a loss where y is 0, forgoes one where y is 1
        return (scores > 0).astype(int)


def main(n_train=600, tol=1e-2):
    digits = load_digits()
    X = np.column_stack([digits.data / 16, np.ones(len(digits.data))])
    digit = digits.target
    Y = np.column_stack([digit % 2 == 0, digit >= 5, np.isin(digit, (0, 6, 8, 9))]).astype(int)
    X, X_test, Y, Y_test = train_test_split(X, Y, train_size=n_train, random_state=0)

    model = MultiLabel(X.shape[1], Y.shape[1])
    print(oneslack.check_model(model, X[:20], Y[:20]))
    result = oneslack.solve(oneslack.Problem(model, X, Y, C=0.1), oneslack.OneSlack(), tol=tol)
    print(result)
    right = np.mean([model.decode(result.w, x) == y for x, y in zip(X_test, Y_test, strict=True)])
    print(f"labels right on {len(X_test)} other pictures (even, at least 5, has a loop): {right:.1%}")
    return result, right


if __name__ == "__main__":
    main()
