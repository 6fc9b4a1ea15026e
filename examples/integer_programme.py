"""What does the planner value?  Learn the objective of an integer programme from its optimal decisions.

python examples/integer_programme.py

Every month projects are chosen within budgets of money and hours, some pairs excluding each other.  We see
projects, limits and choices, never the values, which are hidden weights of the projects' features.  Hamming
loss is linear in the choice, so the worst offender of the training is the same programme with other prices.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

import oneslack

#: The planner's values, which the training does not see.
HIDDEN = np.array([1.0, -0.5, 2.0, 0.3, -1.5])


class Month(NamedTuple):
    """Projects with features (m, d); a choice z of 0/1 obeys use @ z <= limit."""

    features: np.ndarray
    use: np.ndarray
    limit: np.ndarray


@dataclass(frozen=True)
class Programme:
    """The best choice under linear limits: x a Month, y (m,) of 0/1, Hamming loss."""

    n_features: int

    @property
    def n_params(self):
        return self.n_features

    def joint_feature(self, x, y):
        return x.features.T @ y

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        gain = x.features @ w
        if y is not None:
            gain = gain + 1 - 2 * y
        limits, best = LinearConstraint(x.use, ub=x.limit), {"mip_rel_gap": 0}  # not just nearly the best
        found = milp(-gain, integrality=1, bounds=Bounds(0, 1), constraints=limits, options=best)
        return np.rint(found.x).astype(int)


def month(rng, n_projects):
    """Projects with costs in money and hours; dear ones have more of what is valued."""
    costs = rng.uniform(1, 5, size=(2, n_projects))
    dear = costs.sum(axis=0) - 6
    features = rng.normal(size=(n_projects, len(HIDDEN))) + 0.5 * np.outer(dear, np.sign(HIDDEN))
    excluding = np.array([rng.permutation(n_projects) < 2 for _ in range(3)])  # at most one of two
    return Month(features, np.vstack([costs, excluding]), np.append(rng.uniform(5, 20, size=2), [1, 1, 1]))


def months(n, n_projects=10, seed=0):
    """Months and the planner's choices."""
    rng = np.random.default_rng(seed)
    X = [month(rng, n_projects) for _ in range(n)]
    return X, [Programme(len(HIDDEN)).decode(HIDDEN, x) for x in X]


def value_lost(X, Y, model, w):
    """Share of the planner's best value that the choices at w miss."""
    choices = [model.decode(w, x) for x in X]
    best, got = (sum(x.features.T @ z @ HIDDEN for x, z in zip(X, Z, strict=True)) for Z in (Y, choices))
    return float(1 - got / best)


def one_by_one(X, Y, C):
    """Weights that tell chosen projects from others by features and costs, without the programme."""
    seen = np.concatenate([np.column_stack([x.features, x.use[:2].T]) for x in X])
    return oneslack.LinearSVC(C=C).fit(seen, np.concatenate(Y)).coef_.ravel()[: len(HIDDEN)]


def main(n_train=24, n_test=50, C=10.0, tol=1e-2):
    X, Y = months(n_train, seed=0)
    X_test, Y_test = months(n_test, seed=1)
    model = Programme(len(HIDDEN))

    svm = oneslack.StructuralSVM(model, C=C, tol=tol, n_jobs=1).fit(X, Y)
    print(svm.result_)
    print("hidden values ", np.round(HIDDEN / np.linalg.norm(HIDDEN), 2))
    print("learned values", np.round(svm.coef_ / np.linalg.norm(svm.coef_), 2))
    learned, alone = (value_lost(X_test, Y_test, model, w) for w in (svm.coef_, one_by_one(X, Y, C)))
    print(f"value lost in {n_test} other months: {learned:.2%}; learned project by project {alone:.2%}")
    return svm, learned, alone


if __name__ == "__main__":
    main()
