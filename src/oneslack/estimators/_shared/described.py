"""Documentation that is said once: what most estimators share is filled into the docstring of each.

A class tells its own parameters and attributes; `described` adds the others, from the docstrings of its bases
and from COMMON, in the order of the signature and with its defaults.
"""

from __future__ import annotations

import inspect
import re
from typing import TypeVar

Class = TypeVar("Class", bound=type)

COMMON = """
Parameters
----------
C : float
    Weight of the sum of the hinges.
tol : float
    Relative duality gap (P - D) / P to stop at: the optimum lies within this share below the objective.
epsilon : float or None
    Stop by the cutting-plane papers' rule instead: no constraint is violated by more (mean loss).
solver : {"auto", "one_slack"} or a solver
    How to solve it.
rescaling : {"margin", "slack"}
    How the loss enters.
multi_class : {"crammer_singer", "ovr"}
    One problem for all classes, or one a class against the rest.
dual : {"auto", True, False}
    Taken for scikit-learn's sake: what is solved is the same, and `solver` says how.
fit_intercept : bool
    Whether to learn an intercept.
intercept_scaling : float
    With penalize_intercept: by what the intercept is divided where it is penalised.  Otherwise without
    effect.
penalize_intercept : bool
    Whether the intercept is penalised as weights are, as in LIBLINEAR, divided by intercept_scaling.
class_weight : dict, "balanced" or None
    Multiplies the weights of the examples of a class; "balanced" gives all classes the same sum.
kernel : {"rbf", "poly", "linear", "laplacian"}, callable or None
    Score by a kernel instead of linearly: by basis functions, see `KernelFeatures`.  The certificate is
    then that of the span of the basis.
gamma, degree, coef0 : as for KernelSVC
n_basis : int
    Rows of the basis.
prior : array-like or None
    Where the weights are drawn to instead of 0, for example the `coef_` of an earlier model: of shape
    (d,), or of the shape of `coef_`; or by groups, as pairs (columns, value) or a dict from names of
    columns.
scale : float, array-like or None
    How strongly: 1/2 sum_k (scale_k (w_k - prior_k))^2 instead of 1/2 |w|^2.  Given likewise, or as one
    number.
nonnegative : bool, array-like or None
    Weights held >= 0: True for all, a mask, or numbers or names as for `prior`.
n_jobs : int or None
    Threads; None or -1 for all cores.  The result is the same for any number.
engine : {"threads", "ray"}, Ray or None
    Where to train: this machine's cores, or a Ray cluster (docs/scaling.md); `Ray(...)` says which.
max_iter : int
    Steps of the solver.
time_limit : float or None
    Seconds of training, without the compilation before a first one; the best model so far is kept, with its
    gap.
warm_start : bool
    Begin at the last fit.  The very same problem (X, y, weights, C) goes on where it stopped, for example
    with a smaller tol; other data with the same classes and features start from the last weights, which
    helps "newton" and "one_slack" ("dual_cd" then starts anew).  Keeps the solver's state in `result_`.
random_state : int, RandomState or None
    Seed of the order in which examples are visited; None is 0, so equal fits are equal.
verbose : int
    1 prints a line when the gap has closed by a fifth, 2 one for each step.
X : array-like or sparse matrix of shape (n, d)
    float32 and float64, C-ordered or CSR, are used as they are.
y : array-like of shape (n,)
groups : array-like of shape (n,) or None
k : int
sample_weight : array-like of shape (n,) or None
    Weights >= 0 of the examples; 2 counts as often as two equal examples.
callbacks : sequence of functions
    Each is called with the newest TraceRow after every step; a true answer stops the training.
checkpoint : path, CheckpointFolder or None
    A folder where the training is written down every five minutes and when it is cut short; removed when
    it is done.
resume : bool
    Go on from that checkpoint, if it is there; otherwise one that is there is refused.
validation : (X, y), Validation or None
    Examples that are not learned from: the model with the best score on them is kept (`Validation` says by
    what measure, and when to stop), with `validation_scores_`, pairs (step, score), and
    `best_validation_score_`.
"""


def described(cls: Class) -> Class:
    """The class, with the docstrings of itself and of its methods made whole."""
    if cls.__doc__ is None:  # as `python -OO` leaves it
        return cls
    common = COMMON.strip()
    bases = [base for base in cls.__mro__[1:] if base.__module__.startswith(__package__)]
    told = [inspect.cleandoc(base.__doc__ or "") for base in bases]
    cls.__doc__ = _filled(cls.__doc__, [*told, common], cls.__init__)
    fit = inspect.cleandoc(getattr(vars(cls).get("fit"), "__doc__", None) or "")
    of_fit = _known([_sections(fit)[1]], "Parameters").items()
    as_for_fit = "\n".join(f"{name} : {_kind(entry)}\n    As for `fit`." for name, entry in of_fit)
    for name, method in vars(cls).items():
        has_sections = re.search(r"\n *----", getattr(method, "__doc__", None) or "")
        if inspect.isfunction(method) and not name.startswith("_") and has_sections:
            others = [] if name == "fit" else [f"Parameters\n----------\n{as_for_fit}"]
            method.__doc__ = _filled(method.__doc__, [*others, common], method)
    return cls


def _filled(text, told, function):
    """A docstring with what its Parameters and Attributes lack, taken from the first of the texts `told`."""
    head, sections = _sections(inspect.cleandoc(text))
    sources = [sections, *(_sections(each)[1] for each in told)]
    own, known = _known(sources[:1], "Parameters"), _known(sources[1:], "Parameters")
    taken = inspect.signature(function).parameters.values()
    known = {one.name: _with_default(known[one.name], one) for one in taken if one.name in known} | own
    filled = {"Parameters": [known[one.name] for one in taken if one.name in known]}
    if function.__name__ == "__init__":
        filled["Attributes"] = list(_known(sources, "Attributes").values())
    rest = {title: body for title, body in sections.items() if title not in filled}
    sections = {
        title: "\n".join(dict.fromkeys(entries)) for title, entries in filled.items() if entries
    } | rest
    parts = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items()]
    return head + "\n\n".join(parts)


def _known(sources, title):
    """{name: entry}: what the first source that knows a name says of it."""
    known = {}
    for source in sources:
        for entry in _entries(source.get(title, "")):
            known |= {name: entry for name in _names(entry) if name not in known}
    return known


def _sections(text):
    """(what comes first, {title: text})."""
    head, *rest = re.split(r"(?m)^(\w+)\n-+\n", text)
    return head, {title: body.rstrip() for title, body in zip(rest[::2], rest[1::2], strict=True)}


def _entries(text):
    return re.split(r"\n(?=\S)", text) if text else []


def _names(entry):
    return re.split(r", ", entry.partition("\n")[0].partition(" : ")[0])


def _kind(entry):
    return entry.partition("\n")[0].partition(" : ")[2]


def _with_default(entry, parameter):
    first, newline, rest = entry.partition("\n")
    if parameter.default is parameter.empty or len(_names(entry)) > 1 or "default=" in first:
        return entry
    shown = parameter.default
    if isinstance(shown, str):
        shown = f'"{shown}"'
    elif type(shown) is int:
        shown = f"{shown:_}"
    return f"{first}, default={shown}{newline}{rest}"
