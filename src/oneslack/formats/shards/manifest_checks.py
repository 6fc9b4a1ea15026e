"""Is a manifest possible?  Each field is checked before a number of it is computed or allocated with.

Whoever wrote the manifest could compute its checksum too; but the shards' files are there, and no number of
rows can be larger than they are.
"""

import math
from itertools import pairwise

from .columns import LEVELS, MANY
from .faults import are_writable
from .places import PLAIN

KINDS = ("dense", "sparse", "sentences")
ITEMS = {"float32": 4, "float64": 8}
#: Columns are 32-bit integers.
MOST_FEATURES = 2**31 - 1


def fault_of_manifest(content):
    """What is wrong with the content of a manifest, or None."""
    for name, (fits, expected) in FIELDS.items():
        if name not in content or not fits(content[name]):
            return f"{name!r} is {_shown(content.get(name))}, expected {expected}"
    for k, entry in enumerate(content["shards"]):
        fault = _fault_of_entry(entry, content)
        if fault:
            return f"shard {k}: {fault}"
    return (_fault_of_complete(content) if content["complete"] else None) or _fault_of_sums(content)


def _fault_of_entry(entry, content):
    if not isinstance(entry, dict) or set(entry) != set(ENTRY):
        return f"expected {', '.join(ENTRY)}"
    for name, (fits, expected) in ENTRY.items():
        if not fits(entry[name]):
            return f"{name!r} is {_shown(entry[name])}, expected {expected}"
    if content["kind"] is None:
        return "its kind is not known"
    if _least_bytes(entry, content) > entry["bytes"]:
        return f"{entry['rows']} rows with {entry['entries']} entries do not fit into {entry['bytes']} bytes"
    if content["kind"] == "dense" and entry["entries"] != entry["rows"] * content["n_features"]:
        return f"{entry['entries']} entries are not {entry['rows']} rows of {content['n_features']}"
    return None


def _least_bytes(entry, content):
    """What rows, entries and offsets take; rows of nothing take a byte, lest their number have no bound."""
    rows, entries, item = entry["rows"], entry["entries"], ITEMS[content["dtype"]]
    if content["kind"] == "sentences":
        return 8 * rows + 4 * entries * len(content["feature_names"] or ())
    return entries * (item + 4) + 4 * rows if content["kind"] == "sparse" else max(entries * item, rows)


def _fault_of_complete(content):
    kind, names, classes = content["kind"], content["feature_names"], content["classes"]
    if kind is None or not content["shards"]:
        return "it is complete, but holds no shard"
    if kind == "sentences" and (not names or len(set(names)) < len(names)):
        return "sentences need columns with different names"
    if kind != "sentences" and names is not None and len(names) != content["n_features"]:
        return f"there are {len(names)} names of {content['n_features']} features"
    if kind == "sentences" and (content["labels"] or content["groups"] or content["weights"]):
        return "sentences have columns, no labels, groups or weights"
    if classes is None:
        return None
    fits = {None: lambda value: False, "integers": _is_integer, "numbers": _is_number, "text": _is_text}
    if not classes or not all(map(fits[content["labels"]], classes)):
        return f"the classes are not all {content['labels'] or 'absent, as the labels are'}"
    if any(a >= b for a, b in pairwise(classes)):
        return "the classes are not in order"
    if len(classes) > sum(entry["rows"] for entry in content["shards"]):
        return f"{len(classes)} classes are more than the rows"
    return None


def _fault_of_sums(content):
    for name, part in (("n_rows", "rows"), ("n_entries", "entries")):
        found = sum(entry[part] for entry in content["shards"])
        if content.get(name) != found:
            return f"{name!r} is {_shown(content.get(name))}, but the shards hold {found}"
    return None


def _is_count(value):
    return type(value) is int and value >= 0


def _is_integer(value):
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value):
    return type(value) is float and math.isfinite(value)


def _is_text(value):
    return isinstance(value, str) and are_writable([value])


def _are_texts(values):
    return isinstance(values, list) and all(map(_is_text, values))


def _are_classes(values):
    fits = (_is_integer, _is_number, _is_text)
    return values is None or (
        isinstance(values, list) and len(values) <= MANY and all(any(f(v) for f in fits) for v in values)
    )


def _is_source(source):
    """What `pack` wrote of its arguments; who writes shards without files may note other things."""
    if not isinstance(source, dict) or ("files" not in source and set(SOURCE) & set(source)):
        return False
    return "files" not in source or all(name in source and SOURCE[name](source[name]) for name in SOURCE)


def _are_files(files):
    return isinstance(files, list) and all(
        isinstance(file, dict) and _is_text(file.get("path")) and _is_count(file.get("bytes"))
        for file in files
    )


def _is_column(value):
    return value is None or _is_integer(value) or _is_text(value)


def _is_progress(progress):
    return progress == {} or (
        isinstance(progress, dict)
        and set(progress) == {"file", "start", "line"}
        and all(map(_is_count, progress.values()))
    )


def _shown(value):
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _one_of(values):
    return (lambda value: value in values), f"one of {', '.join(map(str, values))}"


TRUTH = (lambda value: type(value) is bool), "true or false"
COUNT = _is_count, "a whole number >= 0"
SOURCE = {
    "files": _are_files,
    "kinds": _are_texts,
    "label": _is_column,
    "group": _is_column,
    "first_index": (lambda value: value in (None, 0, 1)),
}
FIELDS = {
    "kind": _one_of((None, *KINDS)),
    "dtype": _one_of(tuple(ITEMS)),
    "complete": TRUTH,
    "n_features": ((lambda value: _is_count(value) and value <= MOST_FEATURES), "a number of features"),
    "feature_names": ((lambda value: value is None or _are_texts(value)), "a list of names or null"),
    "labels": _one_of(LEVELS),
    "classes": (_are_classes, "a list of labels or null"),
    "groups": _one_of((None, "integers", "text")),
    "weights": TRUTH,
    "source": (_is_source, "how the files were read"),
    "progress": (_is_progress, "how far the files are read"),
    "shards": ((lambda value: isinstance(value, list)), "a list of shards"),
}
ENTRY = {
    "file": ((lambda value: isinstance(value, str) and PLAIN.fullmatch(value)), "a name without a folder"),
    "rows": ((lambda value: _is_count(value) and value > 0), "a whole number > 0"),
    "entries": COUNT,
    "bytes": COUNT,
    "crc32": COUNT,
}
