"""Models from one safe file."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from ...errors import FormatError

#: From the name of an estimator to the module and the functions that turn it into a file and back.
_FILES = {
    "LinearSVC": (".linear", "to_file", "from_file"),
    "LinearSVR": (".linear", "to_file", "from_file"),
    "MetricSVC": (".linear", "to_file", "from_file"),
    "OrdinalSVC": (".linear", "to_file", "from_file"),
    "RankSVM": (".linear", "to_file", "from_file"),
    "KernelSVC": (".kernel", "kernel_to_file", "kernel_from_file"),
    "LatentSVM": (".latent", "latent_to_file", "latent_from_file"),
    "LatentStructuralSVM": (".latent", "latent_to_file", "latent_from_file"),
    "GrammarParser": (".parser", "parser_to_file", "parser_from_file"),
    "SequenceTagger": (".structured", "tagger_to_file", "tagger_from_file"),
    "StructuralSVM": (".structured", "structural_to_file", "structural_from_file"),
}
#: What fields and arrays that do not fit raise; MemoryError where a size is absurd.
_DAMAGE = (TypeError, ValueError, AttributeError, OverflowError, IndexError, MemoryError, RecursionError)


def load(path, model=None):
    """The estimator saved at `path` by its `save`; runs no code from the file.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.
    model : a model of your own, or None
        The one that a LatentSVM or LatentStructuralSVM was made with: their files hold no code.

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
    from ...formats import load_model
    from .latent import check_given

    header, arrays = load_model(path)
    kind = header.get("kind") if isinstance(header, dict) else None
    if not isinstance(kind, str) or kind not in _FILES:
        raise FormatError(
            f"{path}: holds a model of kind {kind!r}, expected one of {', '.join(_FILES)}; "
            "a newer oneslack may know it"
        )
    check_given(path, header, model)
    try:
        return _reader(kind)(header, arrays, *(() if model is None else (model,)))
    except KeyError as error:
        raise FormatError(f"{path}: the model file lacks {error}; train the model again") from error
    except _DAMAGE as error:
        what = " ".join(str(error).split())
        raise FormatError(f"{path}: the model file is damaged ({what}); train the model again") from error


def _reader(kind):
    """What makes an estimator of this name of a header and arrays; the others need not be imported."""
    import oneslack

    module, _, name = _FILES[kind]
    return partial(getattr(import_module(module, __package__), name), getattr(oneslack, kind))


def contents(model):
    """(header, arrays) that `save` would write of a fitted estimator."""
    module, name, _ = _FILES[type(model).__name__]
    return getattr(import_module(module, __package__), name)(model)
