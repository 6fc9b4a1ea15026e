"""Labels that depend on each other: what a picture of a digit is, by several names at once.

python examples/label_sets.py
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import oneslack
from oneslack.metrics import label_set_scores

NAMES = {"even": (0, 2, 4, 6, 8), "large": (5, 6, 7, 8, 9), "loop": (0, 6, 8, 9), "prime": (2, 3, 5, 7)}


def main(n_train=300):
    digits = load_digits()
    Y = np.column_stack([np.isin(digits.target, kind) for kind in NAMES.values()]).astype(int)
    X, X_test, Y, Y_test = train_test_split(digits.data / 16, Y, train_size=n_train, random_state=0)
    found = {}
    for dependencies in ("none", "tree", "full"):
        svm = oneslack.MultiLabelSVC(C=0.3, dependencies=dependencies).fit(X, Y)
        scores = found[dependencies] = label_set_scores(Y_test, svm.predict(X_test))
        print(
            f"{dependencies:5} Hamming loss {scores['hamming_loss']:.3f}, F1 of an example "
            f"{scores['example_f1']:.3f}, all right {scores['subset_accuracy']:.3f}, "
            f"relative gap {svm.duality_gap_:.1e}"
        )
    return found


if __name__ == "__main__":
    main()
