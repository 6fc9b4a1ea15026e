"""Models from one safe file."""

from __future__ import annotations

from ..errors import FormatError


def load(path):
    """The estimator saved at `path` by its `save`; runs no code from the file.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.

    Returns
    -------
    model : LinearSVC, MetricSVC, OrdinalSVC or RankSVM
        As it was when saved, but for `result_`, the course of the training.

    Raises
    ------
    FormatError
        Where the file is missing, damaged, foreign, or of a newer version.

    Examples
    --------
    >>> import os, tempfile
    >>> import oneslack
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = oneslack.LinearSVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.model")
    ...     model.save(path)
    ...     again = oneslack.load(path)
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    from ..formats import load_model
    from . import LinearSVC, MetricSVC, OrdinalSVC, RankSVM
    from .saving import from_file

    kinds = {kind.__name__: kind for kind in (LinearSVC, MetricSVC, OrdinalSVC, RankSVM)}
    header, arrays = load_model(path)
    kind = header.get("kind") if isinstance(header, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise FormatError(
            f"{path}: holds a model of kind {kind!r}, expected one of {', '.join(kinds)}; "
            "a newer oneslack may know it"
        )
    try:
        return from_file(kinds[kind], header, arrays)
    except KeyError as error:
        raise FormatError(f"{path}: the model file lacks {error}; train the model again") from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"{path}: the model file is damaged ({error}); train the model again") from error
