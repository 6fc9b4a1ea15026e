"""Models to and from one safe file."""

from __future__ import annotations

from ..errors import FormatError


def load(path):
    """The estimator saved at `path` by its `save`; runs no code from the file.

    Examples
    --------
    >>> import oneslack, tempfile, os
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.model")
    >>> oneslack.LinearSVC().fit(X, y).save(path)
    >>> bool((oneslack.load(path).predict(X) == y).mean() > 0.9)
    True
    """
    from ..formats import load_model
    from .linear_svc import LinearSVC

    kinds = {"LinearSVC": LinearSVC}
    header, arrays = load_model(path)
    kind = header.get("kind")
    if kind not in kinds:
        raise FormatError(
            f"{path}: holds a model of kind {kind!r}, expected one of {', '.join(kinds)}; "
            "a newer oneslack may know it"
        )
    try:
        return kinds[kind]._from_file(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError(
            f"{path}: the model file is incomplete or damaged ({error}); train it again"
        ) from error
