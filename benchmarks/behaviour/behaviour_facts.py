"""What is written down of results, models and files: numbers, digests of arrays, texts without times."""

import hashlib
import json
import math
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from safetensors import safe_open

#: What a fitted estimator has learned, where it has it; then what it says of rows, where it can.
LEARNED = (
    "coef_", "intercept_", "thresholds_", "classes_", "support_", "support_vectors_", "dual_coef_",
    "components_", "mapping_", "outside_", "outer_objectives_", "inner_gaps_", "objective_",
    "dual_objective_", "duality_gap_", "n_iter_", "certified_", "method_", "C_", "n_seen_", "n_forgotten_",
    "objective_error_", "reduction_error_", "n_features_in_", "feature_names_in_",
)  # fmt: skip
ANSWERS = ("predict", "decision_function", "rank_scores", "predict_margins", "predict_latent", "transform")
#: Columns of a trace: no seconds, and no bytes moved, as these may well become fewer.
COLUMNS = ("iteration", "primal", "dual", "gap", "n_cuts", "oracle_calls", "cached", "rounds")
#: Fields of files that tell how fast, by which version, and how large in text.
VOLATILE = {"seconds", "read_seconds", "oneslack", "memory_estimate"}
#: The same in texts: from a pattern to what stands in its place.
IN_TEXTS = {
    r"\b\d[\d.,]*(e-?\d+)? ?(s|ms|µs|seconds?|minutes?|hours?)\b": "TIME",
    r'(?m)^( *"?(?:read_|oracle_)?seconds"?:? +)[-+\d.e]+': r"\1TIME",
    r'(?m)^( *"?bytes"?:? +)[\d,]+': r"\1SIZE",  # of a model, which holds times
    r'("?oneslack"?:? +"?)\d+(\.\d+)+': r"\1VERSION",
    # Progress, at most a line a second: of training, of tuning, of packing.
    r"(?m)^(class \d+ of \d+: )?step \d+  .*\n|^\d+ trained: .*\n|^\d+ %  .* rows in \d+ shards?\n": "",
    r"memory: about [\d.,]+ [kMG]?B": "memory: about SIZE",  # of the whole process
    r'("memory_estimate": )\d+': r"\1SIZE",
    r"\b0x[0-9a-f]+": "ADDRESS",
    r"[^\s'\"]*/behaviour-\w+": "FOLDER",
}


def steady(text) -> str:
    """A text without times, versions, addresses and folders."""
    for pattern, instead in IN_TEXTS.items():
        text = re.sub(pattern, instead, text)
    return text


def raised(error) -> dict:
    return {"raised": f"{type(error).__name__}: {steady(str(error))}"}


def each(runs):
    """One case of several runs, by name: the facts that each of them gives, or what it raises."""

    def run():
        facts = {}
        for name, one in runs.items():
            try:
                found = one()
                facts[name] = found if isinstance(found, dict) else {"given": type(found).__name__}
            except Exception as error:
                facts[name] = raised(error)
        return facts

    return run


def digest(value) -> str:
    """64 bits of an array, or of anything made of lists, numbers, texts and what has a text of its own."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        head, content = f"{value.dtype.str} {value.shape}", np.ascontiguousarray(value, dtype="<f8").tobytes()
    else:
        head, content = "", repr(_plain(value)).encode()
    return hashlib.sha256(head.encode() + content).hexdigest()[:16]


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return [value.dtype.str, value.tolist()]
    return value if isinstance(value, str | int | float | None) else str(value)


def about(value):
    """An array by its digest and, to tell how far two are apart, its shape and norm; JSON as it is."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str | int | float | None):
        return value
    value = value.toarray() if sp.issparse(value) else value
    facts = {"digest": digest(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        squares = np.square(value, dtype=float)
        facts |= {"shape": list(value.shape), "norm": math.sqrt(math.fsum(squares.flat))}
    return facts


def of_result(result) -> dict:
    """A Result: weights, bounds, and the course of the training."""
    names = ("primal", "dual", "gap", "rounding", "primal_error", "certified", "n_iter", "solver", "reason")
    facts = {name: about(getattr(result, name)) for name in names} | {"status": result.status.name}
    w = result.w.merged() if hasattr(result.w, "merged") else None
    parts = {"w": result.w} if w is None else {"index": w.index, "c": w.coefficients, "bias": w.bias}
    rows = [[about(getattr(row, name)) for name in COLUMNS] for row in result.trace]
    facts["trace"] = {"digest": digest(rows), "last": dict(zip(COLUMNS, rows[-1])) if rows else None}
    return facts | {name: about(value) for name, value in parts.items()}


def of_model(model, X=None, but=()) -> dict:
    """A fitted estimator, and its answers for X; not those named in `but`."""
    facts = {name: about(getattr(model, name)) for name in LEARNED if hasattr(model, name)}
    results = getattr(model, "result_", [])
    results = results if isinstance(results, list) else [results]
    facts |= {f"result {k}": of_result(result) for k, result in enumerate(results)}
    names = [name for name in ANSWERS if hasattr(model, name) and name not in but and X is not None]
    return facts | {name: about(getattr(model, name)(X)) for name in names}


def of_file(path) -> dict:
    """A model file or a checkpoint: its header without what is volatile, and its arrays."""
    with safe_open(path, framework="np") as file:
        text = file.metadata()["oneslack"]
        timed = re.findall(r'\["(?:oracle_)?seconds", {"array": "(\w+)"}\]', text)  # columns of a checkpoint
        arrays = {name: about(file.get_tensor(name)) for name in sorted({*file.keys()} - {*timed})}
    envelope = json.loads(text)
    header = _without_times(envelope["header"])
    parts = {name: digest(value) for name, value in header.items()}
    return {"format": [envelope["format"], envelope["format_version"]], "header": parts, "arrays": arrays}


def _without_times(value):
    if isinstance(value, dict):
        kept = {key: _without_times(item) for key, item in value.items() if key not in VOLATILE}
        if "trace" in value and "n_iter" in value and not _is_whole(value):
            del kept["trace"]
        return kept
    if isinstance(value, list):  # checkpoints have pairs in place of dicts
        is_time = len(value) == 2 and isinstance(value[0], str) and value[0] in VOLATILE
        return value[:1] if is_time else [_without_times(item) for item in value]
    return steady(value) if isinstance(value, str) else value


def _is_whole(certificate) -> bool:
    """Whether its trace has all rows of one problem: those of several, or of long ones, the clock chooses."""
    return certificate["trace"]["iteration"][-1] <= certificate["n_iter"] < 100


def of_folder(path) -> dict:
    """The bytes of the files of a folder."""
    files = sorted(file for file in Path(path).rglob("*") if file.is_file())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files}


def word(name, value) -> str:
    """An option in the name of a case."""
    if name == "fit_intercept":
        return "intercept" if value else "no intercept"
    if isinstance(value, bool):
        return name if value else f"no {name}"
    if is_dataclass(value):
        given = [
            f"{f.name}={getattr(value, f.name)!r}"
            for f in fields(value)
            if getattr(value, f.name) != f.default
        ]
        return f"{type(value).__name__}({', '.join(given)})"
    if name in ("solver", "form", "metric", "kernel", "method") and value is not None:
        return value if isinstance(value, str) else value.__name__
    if isinstance(value, np.ndarray):
        return name
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}".replace("\n", " ")
