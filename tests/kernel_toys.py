"""Small sets for kernel methods: a board of two classes, and three kinds of flowers."""

import numpy as np
from sklearn.datasets import load_iris

from oneslack import Binary, Kernel, KernelProblem, Multiclass
from oneslack.datasets import make_checkers

X, Y = make_checkers(150, random_state=0)
RBF = Kernel("rbf", 2.0)
IRIS, KIND = load_iris(return_X_y=True)
IRIS, KIND = IRIS[::2] - IRIS.mean(axis=0), KIND[::2]


def problem_of(kernel, X, y, C=1.0, **options):
    K = len(np.unique(y))
    return KernelProblem(Binary(0) if K == 2 else Multiclass(0, K), kernel, X, y, C, **options)
