"""A fitted linear model as the header and arrays of a model file, and back."""

from __future__ import annotations

import re

import numpy as np
from sklearn.base import is_classifier

from ...certificate.intercepts import Intercepts
from ...errors import OneslackError
from ...memory.trace_keeping import from_header, to_header
from .._shared.costs import cost_matrix
from .._shared.given import TERMS, check_parameters
from .file_fields import check_shape, count, field, flag, floats, number, table, texts

#: What stands for a function in a file.
FUNCTION = "the function "
#: Labels of text may have a type so much wider than they need.
WIDEST = 1000
#: What is learned, where a model has it, and its name in a sentence.
ARRAYS = {"coef": "weights", "intercept": "intercepts", "thresholds": "thresholds"}


def to_file(model):
    """(header, arrays) of a fitted model."""
    header, arrays = common_to_file(model)
    header["n_features"] = int(model.n_features_in_)
    if hasattr(model, "classes_"):
        header["classes"], class_arrays = classes_to_file(model.classes_)
        arrays |= class_arrays
    if hasattr(model, "multilabel_"):
        header["multilabel"] = bool(model.multilabel_)
        header["positive_class"] = None if model.pos_label_ is None else (1 + model._side) // 2
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = [str(name) for name in model.feature_names_in_]
    if getattr(model, "basis_", None) is not None:
        from .basis import basis_to_file

        header["basis"], basis = basis_to_file(model.basis_)
        arrays |= basis
    for name in ARRAYS:
        if hasattr(model, f"{name}_"):
            arrays[name] = np.asarray(getattr(model, f"{name}_"), dtype=float)
    return header, arrays | _optimum_to_file(model)


def _optimum_to_file(model):
    """What is known of the optimum beside the radius; see _shared/bounded_intercept.py."""
    model._look_at_examples()
    arrays = {} if model._scale_rows is None else {"optimum.scale": model._scale_rows}
    if model._intercepts is not None:
        arrays |= {f"optimum.{name}": array for name, array in model._intercepts._asdict().items()}
    if model._middle is not None:
        arrays |= {"optimum.coef": model._middle[0], "optimum.intercept": model._middle[1]}
    return arrays


def _optimum_from_file(model, arrays):
    rows, d = np.atleast_2d(model.coef_).shape
    if "optimum.scale" in arrays:
        model._scale_rows = floats(arrays, "optimum.scale", (rows, d))
        if not (model._scale_rows > 0).all():
            raise ValueError("optimum.scale holds a number that is not > 0")
    if "optimum.coef" in arrays:
        middle = floats(arrays, "optimum.coef", (rows, d)), floats(arrays, "optimum.intercept", (rows,))
        model._middle = middle
    if "optimum.centre" in arrays:
        centre = floats(arrays, "optimum.centre", (len(model._radii or ()), d))
        bounds = [arrays[f"optimum.{name}"] for name in ("below", "above")]
        for bound in bounds:  # inf where nothing is known
            check_shape("bounds of the intercepts", bound, (rows,))
            if bound.dtype != np.float64 or not (bound > -np.inf).all():
                raise ValueError("bounds of the intercepts must be numbers above -inf")
        model._intercepts = Intercepts(*bounds, centre)


def from_file(cls, header, arrays):
    """The model of class `cls`; a ValueError, TypeError or KeyError where something is missing or wrong."""
    model = common_from_file(cls, header, arrays)
    d = inputs_from_file(model, header)
    if is_classifier(model):
        model.classes_ = classes_from_file(table(header, "classes"), arrays)
    if isinstance(getattr(model, "loss", None), np.ndarray):
        cost_matrix(model.loss, model.classes_)
    if "multilabel" in header:
        model.multilabel_ = flag(header, "multilabel")
        place = header.get(
            "positive_class", 1 if len(model.classes_) == 2 and not model.multilabel_ else None
        )
        if place not in (None, 0, 1) or isinstance(place, bool):
            raise ValueError(f"the positive class is {place!r}, expected 0 or 1")
        model.pos_label_ = None if place is None else model.classes_[place]
    if "kernel" in model.get_params(deep=False):
        model.basis_ = _basis(header, arrays, d)
    for name, shape in model._shapes().items():
        array = floats(arrays, name, shape, ARRAYS[name])
        setattr(model, f"{name}_", array if shape else float(array))
    _optimum_from_file(model, arrays)
    if (np.diff(getattr(model, "thresholds_", [])) < 0).any():
        raise ValueError("the thresholds do not rise")
    return model


def inputs_from_file(model, header) -> int:
    """Give the model the number of its features and, where they have some, their names; the number."""
    model.n_features_in_ = count(header, "n_features", 1)
    if "feature_names" in header:
        model.feature_names_in_ = np.array(texts(header, "feature_names"), dtype=object)
        check_shape("feature names", model.feature_names_in_, (model.n_features_in_,))
    return model.n_features_in_


def _basis(header, arrays, d):
    """The basis functions, or None where there is no kernel."""
    from .basis import basis_from_file

    if "basis" not in header:
        return None
    basis = basis_from_file(table(header, "basis"), arrays)
    if basis.n_features_in_ != d:
        raise ValueError(f"the basis has {basis.n_features_in_} columns, expected {d}")
    return basis


# What all estimators have.


def common_to_file(model):
    """(header, arrays) with the parameters and the certificate."""
    from ... import __version__

    parameters, arrays = _parameters_to_file(model.get_params(deep=False))
    header = {
        "kind": type(model).__name__,
        "oneslack": __version__,
        "parameters": parameters,
        "certificate": {
            "primal": float(model.objective_),
            "dual": float(model.dual_objective_),
            "relative_gap": float(model.duality_gap_),
            "n_iter": int(model.n_iter_),
            "certified": bool(model._is_certified()),
        },
    }
    if hasattr(model, "C_"):
        header["certificate"]["C"] = float(model.C_)
    radii = getattr(model, "_radii", None)
    if radii is not None and np.isfinite(radii).all():
        header["certificate"]["radius"] = [float(radius) for radius in radii]
    trace = to_header(getattr(model, "trace_", ()))
    if trace is not None:
        header["certificate"]["trace"] = trace
    return header, arrays


def common_from_file(cls, header, arrays, *model, is_convex=True, **older):
    """An estimator with the parameters and the certificate; `older`: parameters that older files lack."""
    if "oneslack" in header:
        field(header, "oneslack", (str,), "the version that wrote it")
    parameters = older | table(header, "parameters")
    estimator = cls(*model, **_parameters_from_file(parameters, arrays))
    # Where a model is trained says nothing of where it is used; of a function only its name is kept.
    is_function = str(parameters.get("metric")).startswith(FUNCTION)
    check_parameters(estimator, but=("engine", "metric") if is_function else ("engine",))
    _certificate_from_file(estimator, table(header, "certificate"), is_convex)
    return estimator


def _certificate_from_file(model, certificate, is_convex):
    """Give the model its objective, bound, gap and, where it was kept, the course of its training.

    The gap of a problem that is not convex is that of its last convex one, whose objective is another.
    """
    primal = model.objective_ = number(certificate, "primal", finite=False)
    dual = model.dual_objective_ = number(certificate, "dual", finite=False)
    gap = model.duality_gap_ = number(certificate, "relative_gap", 0.0, finite=False)
    model.n_iter_ = count(certificate, "n_iter")
    if "C" in certificate:
        model.C_ = number(certificate, "C", 0.0)
    model._kept_certified = flag({"certified": True} | certificate, "certified")
    if is_convex and 0 < primal < np.inf and abs(gap - max(primal - dual, 0.0) / primal) > 1e-6 * (1 + gap):
        raise ValueError(f"relative_gap is {gap:g}, which does not follow from {primal:g} and {dual:g}")
    if "radius" in certificate:
        radii = field(certificate, "radius", (list,), "a list of numbers")
        model._radii = [number({"radius": radius}, "radius", 0.0) for radius in radii]
    if "trace" in certificate:
        model._kept_trace = from_header(table(certificate, "trace"))


def classes_to_file(classes):
    """Text in the header, numbers as an array."""
    if classes.dtype.kind in "iufb":
        return {"type": "number"}, {"classes": classes}
    values = classes.tolist()
    if not all(isinstance(value, str) for value in values):
        raise OneslackError(
            f"cannot save class labels of type {type(values[0]).__name__}; use text or numbers"
        )
    return {"type": "text", "dtype": classes.dtype.str, "values": values}, {}


def classes_from_file(header, arrays, at_least=2):
    """The sorted labels (K,)."""
    kind = header["type"]
    if kind == "number":
        classes = arrays["classes"]
        if classes.dtype.kind == "f" and not np.isfinite(classes).all():
            raise ValueError("classes holds NaN or infinity")
    elif kind == "text":
        classes = _text_classes(texts(header, "values"), header["dtype"])
    else:
        raise ValueError(f"class labels of type {kind!r} are not known")
    if classes.ndim != 1 or len(classes) < at_least:
        raise ValueError(f"there are {classes.size} class labels, expected at least {at_least}")
    if len(np.unique(classes)) < len(classes):
        raise ValueError("a class label stands there twice")
    return classes


def _text_classes(values, dtype):
    """As they were; what is said to be far wider than any label is as wide as they are."""
    classes = np.array(values, dtype=object if dtype == "|O" else np.str_)
    width = re.fullmatch(r"[<>]U([0-9]{1,9})", str(dtype))
    if dtype != "|O" and not width:
        raise ValueError(f"dtype of the class labels is {dtype!r}, expected a type of text")
    if width and classes.dtype.itemsize // 4 <= int(width[1]) <= WIDEST:
        classes = classes.astype(dtype)
    return classes


def _parameters_to_file(parameters):
    """JSON values as they are, class weights as pairs, matrices of costs and weights as arrays, templates as
    text; what is said of weights by names is left out.

    A solver or RandomState object has no place in a safe file: the default stands for it.
    """
    plain, arrays = {}, {}
    for name, value in parameters.items():
        if isinstance(value, np.generic):
            value = value.item()
        if name == "loss" and not isinstance(value, str):
            arrays["loss"] = np.array(value, dtype=float)
        elif name == "class_weight" and isinstance(value, dict):
            plain[name] = {"pairs": [[_item(label), float(weight)] for label, weight in value.items()]}
        elif name == "metric" and callable(value):
            # Code is not stored: the name tells what it was, and a fit asks for the function again.
            plain[name] = f"{FUNCTION}{getattr(value, '__qualname__', repr(value))}"
        elif name == "templates" and value is not None and not isinstance(value, str):
            plain[name] = "\n".join(map(str, value))
        elif isinstance(value, bool | int | float | str | None):
            plain[name] = value
        elif name in TERMS and not isinstance(value, dict):
            array = np.asarray(value)
            if array.dtype.kind in "biuf":
                arrays[f"parameter.{name}"] = array
    return plain, arrays


def _item(label):
    return label.item() if isinstance(label, np.generic) else label


def _parameters_from_file(parameters, arrays):
    """The arguments of the estimator."""
    parameters = dict(parameters)
    if isinstance(parameters.get("class_weight"), dict):
        weights = dict(field(parameters["class_weight"], "pairs", (list,), "pairs of labels and weights"))
        parameters["class_weight"] = {label: number(weights, label, 0.0) for label in weights}
    if not isinstance(parameters.get("templates"), str | None):
        raise ValueError("templates is no text")
    if "loss" in arrays:
        parameters["loss"] = arrays["loss"]
    for name in TERMS:
        if f"parameter.{name}" in arrays:
            array = parameters[name] = arrays[f"parameter.{name}"]
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds NaN or infinity")
    return parameters
