"""A fitted linear model as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_classifier

from ..errors import OneslackError
from ..trace_keeping import from_header, to_header
from .weight_terms import NAMES

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
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = [str(name) for name in model.feature_names_in_]
    if getattr(model, "basis_", None) is not None:
        from .saving_basis import basis_to_file

        header["basis"], basis = basis_to_file(model.basis_)
        arrays |= basis
    for name in ARRAYS:
        if hasattr(model, f"{name}_"):
            arrays[name] = np.asarray(getattr(model, f"{name}_"), dtype=float)
    return header, arrays


def from_file(kind, header, arrays):
    """The model of class `kind`; a ValueError, TypeError or KeyError where something is missing."""
    model = kind(**parameters_from_file(header["parameters"], arrays))
    model.n_features_in_ = int(header["n_features"])
    if is_classifier(model):
        model.classes_ = classes_from_file(header["classes"], arrays)
    if "multilabel" in header:
        model.multilabel_ = bool(header["multilabel"])
    if "feature_names" in header:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        check_shape("feature names", model.feature_names_in_, (model.n_features_in_,))
    certificate_from_file(model, header["certificate"])
    if "kernel" in model.get_params(deep=False):
        model.basis_ = _basis(header, arrays, model.n_features_in_)
    for name, shape in model._shapes().items():
        check_shape(ARRAYS[name], arrays[name], shape)
        setattr(model, f"{name}_", arrays[name] if shape else float(arrays[name]))
    return model


def _basis(header, arrays, d):
    """The basis functions, or None where there is no kernel."""
    from .saving_basis import basis_from_file

    if "basis" not in header:
        return None
    basis = basis_from_file(header["basis"], arrays)
    if basis.n_features_in_ != d:
        raise ValueError(f"the basis has {basis.n_features_in_} columns, expected {d}")
    return basis


# What all estimators have.


def common_to_file(model):
    """(header, arrays) with the parameters and the certificate."""
    from .. import __version__

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
    trace = to_header(getattr(model, "trace_", ()))
    if trace is not None:
        header["certificate"]["trace"] = trace
    return header, arrays


def certificate_from_file(model, certificate):
    """Give the model its objective, bound, gap and, where it was kept, the course of its training."""
    model.objective_ = float(certificate["primal"])
    model.dual_objective_ = float(certificate["dual"])
    model.duality_gap_ = float(certificate["relative_gap"])
    model.n_iter_ = int(certificate["n_iter"])
    model._kept_certified = bool(certificate.get("certified", True))
    if "trace" in certificate:
        model._kept_trace = from_header(certificate["trace"])


def check_shape(name, array, shape):
    """Raise unless the array has the shape."""
    if array.shape != shape:
        raise ValueError(f"the {name} have shape {array.shape}, expected {shape}")


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
    if header["type"] == "number":
        classes = arrays["classes"]
    elif header["type"] == "text":
        classes = np.array(header["values"], dtype=np.dtype(header["dtype"]))
    else:
        raise ValueError(f"class labels of type {header['type']!r} are not known")
    if classes.ndim != 1 or len(classes) < at_least:
        raise ValueError(f"there are {classes.size} class labels, expected at least {at_least}")
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
            plain[name] = f"the function {getattr(value, '__qualname__', repr(value))}"
        elif name == "templates" and value is not None and not isinstance(value, str):
            plain[name] = "\n".join(map(str, value))
        elif isinstance(value, bool | int | float | str | None):
            plain[name] = value
        elif name in NAMES and not isinstance(value, dict):
            array = np.asarray(value)
            if array.dtype.kind in "biuf":
                arrays[f"parameter.{name}"] = array
    return plain, arrays


def _item(label):
    return label.item() if isinstance(label, np.generic) else label


def parameters_from_file(parameters, arrays):
    """The arguments of the estimator."""
    parameters = dict(parameters)
    if isinstance(parameters.get("class_weight"), dict):
        parameters["class_weight"] = dict(parameters["class_weight"]["pairs"])
    if "loss" in arrays:
        parameters["loss"] = arrays["loss"]
    for name in NAMES:
        if f"parameter.{name}" in arrays:
            parameters[name] = arrays[f"parameter.{name}"]
    return parameters
