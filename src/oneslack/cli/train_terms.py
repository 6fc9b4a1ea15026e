"""What options of `oneslack train` mean to the estimators, and which of them do not go together."""

from __future__ import annotations

import math

from .output import Exit, Refusal

#: Labels that a sentence shows.
SHOWN = 20
#: Measures of the examples with the largest scores.
AT_K = ("precision_at_k", "recall_at_k")
#: Measures that see a threshold; the others see the order of the scores alone.
WITH_INTERCEPT = ("error", "f1", "fbeta")


def refuse_beside(option, **others):
    """Complain about any of the others that is given: it does not go together with the option."""
    for name, value in others.items():
        if value not in (None, False):
            raise _usage(f"{_flag(name)} and {option} do not go together; drop one of them.")


def _flag(name) -> str:
    return "--" + name.replace("_", "-")


def _usage(sentence) -> Refusal:
    return Refusal(sentence, Exit.USAGE)


# --loss.


def loss_terms(loss, tube, quantile, delta) -> dict:
    """Parameters of LinearSVR; a Refusal where a loss has no such option."""
    loss = loss or ("epsilon_insensitive" if quantile is None else "pinball")
    if quantile is not None and loss != "pinball":
        raise _usage(f"--quantile has a meaning only with --loss pinball, not {loss}; drop one of them.")
    if delta is not None and loss != "huber":
        raise _usage(f"--delta has a meaning only with --loss huber, not {loss}; drop it.")
    if tube and loss in ("pinball", "huber"):
        raise _usage(f"--tube has no meaning with --loss {loss}; drop it.")
    terms = {"loss": loss, "epsilon": tube, "quantile": quantile, "delta": delta}
    return {name: value for name, value in terms.items() if value is not None}


# --class-weight.


def weight_of_classes(text, labels, path):
    """None, "balanced" or {label: weight} from LABEL=W,..."""
    if text is None or text == "balanced":
        return text
    known = {str(value): value for value in labels}
    weights = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        name = name.strip()
        if not equals:
            raise _usage(f"--class-weight: {part!r} is not LABEL=WEIGHT, nor balanced.")
        if name not in known:
            shown = ", ".join(list(known)[:SHOWN])
            raise _usage(f"--class-weight: {path} has no label {name!r}; it has {shown}.")
        if known[name] in weights:
            raise _usage(f"--class-weight: the label {name!r} stands there twice.")
        weights[known[name]] = _weight(number, part)
    return weights


def _weight(text, part):
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise _usage(f"--class-weight: the weight in {part!r} is not a positive number.")
    return weight


# --metric.


def check_metric(aim, solver, no_intercept, **others):
    """The k, as a number; a Refusal where an option has no meaning beside the others."""
    metric, k, beta = aim.metric, aim.k, aim.beta
    if aim.pos_label is not None and metric is None:
        raise _usage("--pos-label is the class that a --metric looks for; add --metric f1.")
    if k is not None and metric not in AT_K:
        raise _usage("--k has a meaning only with --metric precision_at_k or recall_at_k; drop it.")
    if beta is not None and metric != "fbeta":
        raise _usage("--beta has a meaning only with --metric fbeta; drop it.")
    if k is None and metric in AT_K:
        raise _usage(f"--metric {metric} needs --k, the number or share of examples to predict positive.")
    if beta is None and metric == "fbeta":
        raise _usage("--metric fbeta needs --beta: above 1 recall counts more, below 1 precision.")
    if metric is None:
        return None
    refuse_beside("--metric", **others)
    if metric != "error" and solver not in ("auto", "one_slack"):
        raise _usage(f"--solver {solver} cannot train for {metric}; use auto or one_slack.")
    if no_intercept and metric not in WITH_INTERCEPT:
        raise _usage(
            f"--no-intercept has no meaning with --metric {metric}, which sees only the order of the scores; "
            "drop it."
        )
    return None if k is None else _size_of_k(k)


def positive_label(text, labels, path):
    """The label that is written so; None where nothing is said."""
    if text is None:
        return None
    known = {str(label): label for label in labels}
    if len(labels) > 2:
        raise _usage(f"--pos-label is for two classes, and {path} has {len(labels)}; drop it.")
    if text not in known:
        raise _usage(f"--pos-label: {path} has no label {text!r}; it has {', '.join(known)}.")
    return known[text]


def _size_of_k(text):
    """A whole number of examples, or a share of them with a point in it."""
    try:
        k = int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        k = 0
    if k >= 1 if isinstance(k, int) else 0 < k <= 1:
        return k
    raise _usage(f"--k: {text!r} is neither a whole number from 1 on, nor a share from 0 to 1 such as 0.1.")


def check_size(k, table):
    """Refuse a k that is more than all examples."""
    n = table.X.shape[0]
    if isinstance(k, int) and k > n:
        raise _usage(f"--k {k}: {table.path} has {n} examples only; choose a smaller number, or a share.")


# --kernel.


def kernel_terms(by_kernel, **others) -> dict:
    """The parameters of a kernel, and those of its method, that are given; empty without a kernel."""
    given = {name: value for name, value in {**vars(by_kernel), **others}.items() if value is not None}
    if given and by_kernel.kernel is None:
        raise _usage(f"{_flag(next(iter(given)))} is for a kernel; add --kernel rbf, or drop it.")
    if given.get("method") == "basis" and "sample_size" in given:
        given["n_basis"] = given.pop("sample_size")
    return given


# --prior and --nonnegative.


def weight_terms(kind, prior, nonnegative, examples, labels=None) -> dict:
    """The parameters of the estimator of this kind."""
    terms = {"nonnegative": True} if nonnegative else {}
    if prior is not None:
        terms["prior"] = _weights(kind, prior, examples, labels)
    return terms


def _weights(kind, path, examples, labels):
    from . import model_store

    saved = model_store.load(path)
    if saved.header["kind"] != kind:
        raise Refusal(f"--prior {path}: holds a {saved.header['kind']}; expected a {kind}.")
    before, now = saved.n_features, examples.X.shape[1]
    if before != now:
        raise Refusal(f"--prior {path}: has {before:,} features, but {examples.path} has {now:,}.")
    if labels is not None and saved.model.classes_.tolist() != labels:
        raise Refusal(f"--prior {path}: was trained on other labels than those of {examples.path}.")
    return saved.model.coef_
