"""What a model file says of its training, beside the model: checked, as all else in it.

Commands print these notes and read other files by them; no estimator looks at them.
"""

from __future__ import annotations

from ..errors import FormatError

NUMBER = (int, float)
TEXTS = "a list of texts"
#: From a note on the training to what it may be.
TRAINING = {
    **dict.fromkeys(("data", "status", "advice", "solver", "reason"), (str,)),
    **dict.fromkeys(("examples", "features", "tokens", "queries", "pairs", "steps"), (int,)),
    **dict.fromkeys(("seconds", "read_seconds"), NUMBER),
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
}


def check_notes(path, header, n_features):
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
    if source.get("kind") == "conll" and label not in range(len(source.get("columns") or ())):
        raise _wrong(path, "source.label", label)
    if source.get("kind") == "conllu" and not isinstance(label, str):
        raise _wrong(path, "source.label", label)
    if training and training.get("data") is None:
        raise FormatError(f"{path}: the model file lacks 'training.data'; train the model again")


def _is(value, kinds):
    if kinds is TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _wrong(path, name, value):
    return FormatError(
        f"{path}: the model file is damaged ({name} is {str(value)[:60]!r}); train the model again"
    )
