"""What the kinds share whose examples are rows of numbers."""

from __future__ import annotations


class FileNumbers:
    """Names of the features of a file that only numbers them."""

    def __init__(self, n, first):
        self.n, self.first = n, first

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        return f"feature {k + self.first}"


def feature_names(saved):
    """What the features are called in the files; None where the model itself knows, or has none."""
    if not hasattr(saved.model, "n_features_in_"):
        return None
    if saved.feature_names:
        return saved.feature_names
    in_order = saved.source is not None and saved.source.zero_based is False
    return FileNumbers(saved.n_features, 1 if in_order else 0)


def looks(saved) -> list[str]:
    """HTML of the largest weights."""
    from ..viz.report.looks import weights

    return [weights(saved.model, feature_names(saved))]


def cells(saved, X, scores=False, say=None):
    """What is predicted: one text an example, or several.

    One of several labels is a 0 or 1; scores of a ranking are told exactly, to keep their order.
    """
    return (map(str, row) for row in saved.model.predict(X).reshape(X.shape[0], -1).tolist())


def cells_and(saved, X, values):
    """The same, followed by scores."""
    rows = values.reshape(X.shape[0], -1).tolist()
    for texts, row in zip(cells(saved, X), rows, strict=True):
        yield [*texts, *(f"{value:.9g}" for value in row)]
