"""Which point of one picture is which of the other?  Learn what to trust in a matching.

python examples/matching.py

A pair of pictures shows the same points: the second one turned a little, its descriptors jittered, some much
more than others.  The matching is an assignment, and so is the worst offender of the training: a wrong pair
has one more unit of loss, whatever the other pairs are.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

import oneslack

#: How much each descriptor suffers from one picture to the next, in standard deviations.
JITTER = np.array([0.3, 0.6, 1.0, 2.0, 4.0, 8.0])


@dataclass(frozen=True)
class Matching:
    """x: two arrays (m, d) of points; y (m,): partners in the second of the first's points; Hamming loss."""

    n_features: int

    @property
    def n_params(self):
        return self.n_features

    def likeness(self, x):
        """(m, m, d): minus the squared difference of each pair in each feature."""
        first, second = x
        return -((first[:, None] - second[None]) ** 2)

    def joint_feature(self, x, y):
        return self.likeness(x)[np.arange(len(y)), y].sum(axis=0)

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        gains = self.likeness(x) @ w
        if y is not None:
            gains += 1.0
            gains[np.arange(len(y)), y] -= 1.0  # only the true partner brings no loss
        return linear_sum_assignment(gains, maximize=True)[1]


def picture_pair(rng, n_points):
    """Columns: two coordinates, the distance from the centre, descriptors; all of about the same spread."""
    place = rng.normal(size=(n_points, 2))
    turn = rng.normal(scale=0.5)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    turned = place @ rotation.T + 0.2 * rng.normal(size=place.shape)
    seen = rng.normal(size=(n_points, len(JITTER)))
    seen_again = (seen + JITTER * rng.normal(size=seen.shape)) / np.sqrt(1 + JITTER**2)
    first = np.column_stack([place, np.linalg.norm(place, axis=1), seen])
    second = np.column_stack([turned, np.linalg.norm(turned, axis=1), seen_again])
    order = rng.permutation(n_points)
    return (first, second[order]), np.argsort(order)


def picture_pairs(n, n_points=15, seed=0):
    rng = np.random.default_rng(seed)
    pairs = [picture_pair(rng, n_points) for _ in range(n)]
    return [x for x, _ in pairs], [y for _, y in pairs]


def wrong(Y, Y_hat):
    """Share of the points with a wrong partner."""
    return float(np.mean(np.concatenate(Y) != np.concatenate(Y_hat)))


def main(n_train=40, n_test=100, C=0.1, tol=1e-2):
    X, Y = picture_pairs(n_train, seed=0)
    X_test, Y_test = picture_pairs(n_test, seed=1)
    model = Matching(X[0][0].shape[1])

    svm = oneslack.StructuralSVM(model, C=C, tol=tol, n_jobs=1).fit(X, Y)
    print(svm.result_)
    learned = wrong(Y_test, svm.predict(X_test))
    equal = wrong(Y_test, [model.decode(np.ones(model.n_params), x) for x in X_test])
    print("weights (x, y, distance from the centre, descriptors):", np.round(svm.coef_, 2))
    print(f"wrong partners in {n_test} other pairs: {learned:.1%}; with equal weights {equal:.1%}")
    return svm, learned, equal


if __name__ == "__main__":
    main()
