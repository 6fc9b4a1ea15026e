"""Model files with a note on what they were trained on."""

from __future__ import annotations

import os
import tempfile
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import FormatError
from .data import Source
from .model_notes import check_notes
from .output import Refusal


@dataclass(frozen=True)
class Saved:
    """A model file: the estimator, the header, and how the training data were read."""

    path: str
    model: Any
    header: dict
    source: Source | None

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
    check_notes(path, header, saved.n_features)
    return saved


def load_to_predict(path) -> Saved:
    """The same; refused where no file holds what the model is for."""
    saved = load(path)
    if saved.kind.takes is None:
        raise Refusal(
            f"{path}: holds a {saved.header['kind']}, whose inputs no data file holds; use it in Python."
        )
    return saved


def save(model, path, source, training):
    """Write the model with its certificate, `source` and the facts of the `training`."""
    from ..formats import save_model

    header, arrays = model._to_file()
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
