"""Models from one safe file."""

from __future__ import annotations

from os import PathLike
from typing import Any

from ..errors import FormatError
from .registry import KINDS, estimator_of

#: What fields and arrays that do not fit raise; MemoryError where a size is absurd.
_DAMAGE = (TypeError, ValueError, AttributeError, OverflowError, IndexError, MemoryError, RecursionError)


def load(path: str | PathLike[str], model: Any = None) -> Any:
    """The estimator saved at `path` by its `save`; runs no code from the file.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.
    model : a model of your own, or None
        The one that a StructuralSVM, LatentSVM or LatentStructuralSVM was made with: files hold no code.

    Returns
    -------
    model : an estimator of oneslack
        As it was when saved, but for `result_`, the course of the training.

    Raises
    ------
    FormatError
        Where the file is missing, damaged, foreign, or of a newer version.
    OneslackError
        Where a model of your own is needed, and none or another one is given.

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
    from ..estimators._saving.latent import check_given
    from ..estimators._saving.proof import proof_from_file
    from ..formats import load_model

    header, arrays = load_model(path)
    kind = header.get("kind") if isinstance(header, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(
            f"{path}: holds a model of kind {kind!r}, expected one of {', '.join(KINDS)}; "
            "a newer oneslack may know it"
        )
    check_given(path, header, model)
    try:
        estimator = estimator_of(kind)._from_file(header, arrays, *(() if model is None else (model,)))
        proof_from_file(estimator, header, arrays)
        return estimator
    except KeyError as error:
        raise FormatError(f"{path}: the model file lacks {error}; train the model again") from error
    except _DAMAGE as error:
        what = " ".join(str(error).split())
        raise FormatError(f"{path}: the model file is damaged ({what}); train the model again") from error
