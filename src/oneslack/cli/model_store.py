"""Model files with a note on what they were trained on."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass
from typing import Any

from .data import Source


@dataclass(frozen=True)
class Saved:
    """A model file: the estimator, the header, and how the training data were read."""

    path: str
    model: Any
    header: dict
    source: Source | None

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
    from ..estimators.persist import load
    from ..formats import load_model

    model = load(path)
    header, _ = load_model(path)
    # The names are checked by the reader; scikit-learn would warn that arrays have none.
    vars(model).pop("feature_names_in_", None)
    return Saved(path, model, header, Source.from_header(header))


def load_to_predict(path) -> Saved:
    """The same; refused where no file holds what the model is for."""
    from .output import Refusal
    from .parse_output import is_parser

    saved = load(path)
    if saved.n_features is None and not is_parser(saved):
        raise Refusal(
            f"{path}: holds a {saved.header['kind']}, whose inputs no data file holds; use it in Python."
        )
    return saved


def save(model, path, source, training):
    """Write the model with its certificate, `source` and the facts of the `training`."""
    from ..formats import load_model, save_model

    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "model")
        model.save(plain)
        header, arrays = load_model(plain)
    save_model(path, {**header, "source": asdict(source), "training": training}, arrays)


def looks_like_model(path) -> bool:
    """Does the file start as a safetensors file does: a length, then JSON?"""
    try:
        with open(path, "rb") as file:
            start = file.read(9)
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") < 2**40
