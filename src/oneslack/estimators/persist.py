"""Models from one safe file."""

from __future__ import annotations

from functools import partial

from ..errors import FormatError

#: What numbers and arrays that do not fit raise; MemoryError where a size is absurd.
_DAMAGE = (TypeError, ValueError, AttributeError, OverflowError, IndexError, MemoryError)


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
    from ..formats import load_model
    from .saving_latent import check_given

    readers = _readers()
    header, arrays = load_model(path)
    kind = header.get("kind") if isinstance(header, dict) else None
    if not isinstance(kind, str) or kind not in readers:
        raise FormatError(
            f"{path}: holds a model of kind {kind!r}, expected one of {', '.join(readers)}; "
            "a newer oneslack may know it"
        )
    check_given(path, header, model)
    try:
        return readers[kind](header, arrays, *(() if model is None else (model,)))
    except KeyError as error:
        raise FormatError(f"{path}: the model file lacks {error}; train the model again") from error
    except _DAMAGE as error:
        raise FormatError(f"{path}: the model file is damaged ({error}); train the model again") from error


def _readers():
    """From the name of an estimator to what makes it of a header and arrays."""
    from . import (
        GrammarParser,
        KernelSVC,
        LatentStructuralSVM,
        LatentSVM,
        LinearSVC,
        LinearSVR,
        MetricSVC,
        OrdinalSVC,
        RankSVM,
        SequenceTagger,
        StructuralSVM,
    )
    from .saving import from_file
    from .saving_kernel import kernel_from_file
    from .saving_latent import latent_from_file
    from .saving_parser import parser_from_file
    from .saving_structured import structural_from_file, tagger_from_file

    readers = dict.fromkeys((LinearSVC, LinearSVR, MetricSVC, OrdinalSVC, RankSVM), from_file)
    readers |= {KernelSVC: kernel_from_file, LatentSVM: latent_from_file}
    readers |= {LatentStructuralSVM: latent_from_file}
    readers |= {GrammarParser: parser_from_file}
    readers |= {SequenceTagger: tagger_from_file, StructuralSVM: structural_from_file}
    return {kind.__name__: partial(reader, kind) for kind, reader in readers.items()}
