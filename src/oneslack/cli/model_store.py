"""Model files with notes on their training: commands print these, and read other files by them."""

from __future__ import annotations

import os
import tempfile
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import FormatError
from .data import Source
from .output import Refusal

#: Of the notes: numbers, and lists of texts.
NUMBER = (int, float)
TEXTS = "a list of texts"
#: From a note on the training to what it may be.
TRAINING = {
    **dict.fromkeys(("data", "status", "advice", "solver", "reason"), (str,)),
    **dict.fromkeys(("examples", "features", "tokens", "queries", "pairs", "steps"), (int,)),
    **dict.fromkeys(("seconds", "read_seconds", "compile_seconds"), NUMBER),
    "options": TEXTS,
}
#: The same of how the data were read.
SOURCE = {
    "kind": (str,),
    "zero_based": (bool,),
    "tagged": (bool,),
    "label": (str, int, bool),
    "group": (str, int, bool),
    "feature_names": TEXTS,
    "columns": TEXTS,
    "encoder": (dict,),
}


@dataclass(frozen=True)
class Saved:
    """A model file: the estimator, the header, how the training data were read, and the class that measures
    are asked to look for."""

    path: str
    model: Any
    header: dict
    source: Source | None
    pos_label: str | None = None

    @property
    def kind(self):
        """What commands ask about the model."""
        from ..kinds.registry import kind_of

        return kind_of(self.header["kind"])

    @property
    def n_features(self) -> int | None:
        """Of one example or, for a tagger, of one token; None for a model of other outputs."""
        if hasattr(self.model, "n_features_in_"):
            return self.model.n_features_in_
        return getattr(getattr(self.model, "model_", None), "n_features", None)

    @property
    def feature_names(self):
        known = self.source.feature_names if self.source else None
        return known or self.header.get("feature_names")


def load(path) -> Saved:
    """The model at `path` with its notes."""
    from ..formats import load_model
    from ..kinds.load import load

    model = load(path)
    header, _ = load_model(path)
    # The names are checked by the reader; scikit-learn would warn that arrays have none.
    vars(model).pop("feature_names_in_", None)
    saved = Saved(path, model, header, Source.from_header(header))
    _check_notes(path, header, saved.n_features)
    return saved


def load_to_predict(path) -> Saved:
    """The same; refused where no file holds what the model is for."""
    saved = load(path)
    if saved.kind.takes is None:
        raise Refusal(
            f"{path}: holds a {saved.header['kind']}, whose inputs no data file holds; use it in Python."
        )
    return saved


def save(model, path, source, training, proof=False):
    """Write the model with its certificate, or its `proof`, its `source` and the facts of the `training`."""
    from ..formats import save_model

    header, arrays = model._to_file(proof)
    header |= {"source": asdict(source), "training": training}
    try:
        save_model(path, header, arrays)
    except (OSError, FormatError) as error:
        _save_elsewhere(path, header, arrays, error)


def _save_elsewhere(path, header, arrays, error):
    """What took long to train is not lost for want of room: a Refusal says where it is."""
    from ..formats import save_model

    reason = getattr(error, "strerror", None) or getattr(error.__cause__, "strerror", None) or error
    name = f"{os.path.basename(path)}-{uuid.uuid4().hex[:8]}"
    for folder in _other_folders():
        place = os.path.join(folder, name)
        with suppress(OSError, FormatError):
            save_model(place, header, arrays)
            raise Refusal(
                f"{path}: cannot be written ({reason}); the model is saved as {place} instead, so make room "
                "and move it."
            ) from error
    raise Refusal(
        f"{path}: cannot be written ({reason}), nor does the model fit into the temporary, the home or the "
        "current folder; make room and train again, with --resume where there is a checkpoint."
    ) from error


def _other_folders():
    with suppress(OSError):  # none of its places can be written to
        yield tempfile.gettempdir()
    yield os.path.expanduser("~")
    yield os.curdir


def looks_like_model(path) -> bool:
    """Does the file start as a safetensors file does: a length, then JSON?"""
    try:
        with open(path, "rb") as file:
            start = file.read(9)
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") < 2**40


# Notes are checked, as all else in a model file.


def _check_notes(path, header, n_features):
    """FormatError for a note that is not what it should be."""
    for part, kinds in (("training", TRAINING), ("source", SOURCE)):
        notes = header.get(part, {})
        if not isinstance(notes, dict):
            raise _wrong(path, part, notes)
        for name, value in notes.items():
            if value is not None and name in kinds and not _is(value, kinds[name]):
                raise _wrong(path, f"{part}.{name}", value)
    source, training = header.get("source", {}), header.get("training", {})
    names, label = source.get("feature_names"), source.get("label")
    if names is not None and len(names) != n_features:
        raise _wrong(path, "source.feature_names", names)
    _check_encoder(path, source.get("encoder"), names)
    if source.get("kind") == "conll" and label not in range(len(source.get("columns") or ())):
        raise _wrong(path, "source.label", label)
    if source.get("kind") == "conllu" and not isinstance(label, str):
        raise _wrong(path, "source.label", label)
    if training and training.get("data") is None:
        raise FormatError(f"{path}: the model file lacks 'training.data'; train the model again")


def _check_encoder(path, encoder, names):
    if encoder is None:
        return
    from .table_columns import encoder_of

    try:
        is_whole = encoder_of(encoder).feature_names == names and isinstance(encoder["n_columns"], int)
        is_whole = is_whole and isinstance(encoder["has_header"], bool)
    except (ValueError, TypeError, KeyError, AttributeError):
        is_whole = False
    if not is_whole:
        raise _wrong(path, "source.encoder", encoder)


def _is(value, kinds):
    if kinds is TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _wrong(path, name, value):
    return FormatError(
        f"{path}: the model file is damaged ({name} is {str(value)[:60]!r}); train the model again"
    )
