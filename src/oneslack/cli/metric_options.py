"""Options of `train classify` that do not go together: each is refused by a sentence of its own."""

from __future__ import annotations

from .output import Exit, Refusal

AT_K = ("precision_at_k", "recall_at_k")
#: Measures that see a threshold; the others see the order of the scores alone.
WITH_INTERCEPT = ("error", "f1", "fbeta")


def check(metric, k, beta, solver, multi_class, class_weight, no_intercept):
    """The k, as a number; a Refusal where an option has no meaning beside the others."""
    _check_parameters(metric, k, beta)
    if metric is None:
        return None
    for option, given in (("--multi-class", multi_class), ("--class-weight", class_weight)):
        if given is not None:
            raise _usage(f"{option} and --metric do not go together; drop one of them.")
    if metric != "error" and solver not in ("auto", "one_slack"):
        raise _usage(f"--solver {solver} cannot train for {metric}; use auto or one_slack.")
    if no_intercept and metric not in WITH_INTERCEPT:
        raise _usage(
            f"--no-intercept has no meaning with --metric {metric}, which sees only the order of the scores; "
            "drop it."
        )
    return None if k is None else _number(k)


def check_size(k, table):
    """Refuse a k that is more than all examples."""
    n = table.X.shape[0]
    if isinstance(k, int) and k > n:
        raise _usage(f"--k {k}: {table.path} has {n} examples only; choose a smaller number, or a share.")


def _check_parameters(metric, k, beta):
    if k is not None and metric not in AT_K:
        raise _usage("--k has a meaning only with --metric precision_at_k or recall_at_k; drop it.")
    if beta is not None and metric != "fbeta":
        raise _usage("--beta has a meaning only with --metric fbeta; drop it.")
    if k is None and metric in AT_K:
        raise _usage(f"--metric {metric} needs --k, the number or share of examples to predict positive.")
    if beta is None and metric == "fbeta":
        raise _usage("--metric fbeta needs --beta: above 1 recall counts more, below 1 precision.")


def _number(text):
    """A whole number of examples, or a share of them with a point in it."""
    try:
        k = int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        k = 0
    if k >= 1 if isinstance(k, int) else 0 < k <= 1:
        return k
    raise _usage(f"--k: {text!r} is neither a whole number from 1 on, nor a share from 0 to 1 such as 0.1.")


def _usage(sentence):
    return Refusal(sentence, Exit.USAGE)
