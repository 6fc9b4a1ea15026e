"""A search for parameters as the command line shows it: progress, table, JSON, picture."""

from __future__ import annotations

import sys
import time
import warnings
from math import isfinite

from .output import Exit, Refusal, print_json

PICTURES = ("png", "svg", "pdf")
#: Seconds between two lines of progress.
INTERVAL = 1.0


def search(model, examples, C, gamma, folds, scoring, jobs, quiet, try_all=False, **terms):
    """The Tuning of a model; Ctrl-C ends it after the training at hand."""
    from sklearn.exceptions import ConvergenceWarning

    from ..selection.tuning import tune
    from .interrupt import Interrupt

    with Interrupt() as interrupt, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", r"R\^2 score is not well-defined")  # `tune` refuses such a score
        progress = Progress(interrupt, quiet)
        try:
            return tune(
                model, examples.X, examples.y, C, grid={} if gamma is None else {"gamma": gamma}, cv=folds,
                scoring=scoring, n_jobs=jobs, refit=False, stop_early=not try_all, on_candidate=progress,
                **terms,
            )  # fmt: skip
        except ValueError as error:
            raise Refusal(f"{examples.path}: {error}") from error
        except AttributeError as error:
            if "predict_proba" not in str(error):
                raise
            raise Refusal(
                f"--scoring {scoring} needs probabilities, which these models do not give; choose another.",
                Exit.USAGE,
            ) from error


def check(scoring, plot):
    """Refuse a scorer that is not known, and a picture that cannot be drawn."""
    check_scorer(scoring, "--scoring")
    if plot is not None:
        _check_picture(plot)


def tell(found, examples, output, quiet, as_json):
    """Print the table, or JSON."""
    if as_json:
        print_json(facts(found, examples, output))
    elif not quiet:
        print(table(found))


def check_scorer(name, option):
    """Refuse a scorer that scikit-learn does not know."""
    from sklearn.metrics import get_scorer_names

    if name is not None and name not in (*get_scorer_names(), "phrase_f1"):
        raise Refusal(
            f"{option}: scikit-learn has no scorer {name!r}; use one of sklearn.metrics.get_scorer_names(), "
            "such as accuracy, f1_macro or roc_auc.",
            Exit.USAGE,
        )


def _check_picture(path):
    """Refuse a picture of a kind that is not drawn, or where nothing can draw it."""
    from importlib.util import find_spec

    if str(path).rpartition(".")[2].lower() not in PICTURES:
        raise Refusal(f"{path}: --plot writes .png, .svg or .pdf; name such a file.", Exit.USAGE)
    if find_spec("matplotlib") is None:
        raise Refusal("--plot needs matplotlib: pip install oneslack[plot].", Exit.USAGE)


class Progress:
    """Now and then a line about what was trained; an interrupt becomes one here."""

    def __init__(self, interrupt, quiet):
        self.interrupt, self.quiet, self.count, self.next_time = interrupt, quiet, 0, 0.0

    def __call__(self, params, fold, gap):
        if self.interrupt.asked:
            raise KeyboardInterrupt
        self.count += 1
        now = time.perf_counter()
        if not self.quiet and now >= self.next_time:
            self.next_time = now + INTERVAL
            print(f"{self.count} trained: fold {fold + 1}, {words(params)}, gap {gap:.1e}", file=sys.stderr)


def words(params) -> str:
    """Parameters as a few words."""
    return ", ".join(f"{name} {value:.4g}" for name, value in params.items())


def facts(found, examples, output) -> dict:
    """All there is to say about a search, as JSON can hold it."""
    return {
        "data": examples.path,
        "model": output,
        "best": found.best_params,
        "score": float(found.mean[found.best]),
        "candidates": [
            row | {"unfinished": bool(is_open), "abandoned": bool(gone)}
            for row, is_open, gone in zip(found.rows(), found.unfinished, found.abandoned, strict=True)
        ],
        "seconds": found.seconds,
    }


#: The columns of the table beside the parameters: head, width, format.
COLUMNS = {"score": ("score", 10, ".4f"), "deviation": ("±", 9, ".4f"), "loss": ("loss", 9, ".4f"),
           "gap": ("gap", 10, ".1e")}  # fmt: skip


def table(found) -> str:
    """One line a candidate, the best one marked; without numbers where it was not tried."""
    names, rows = list(found.candidates[0]), found.rows()
    columns = {name: column for name, column in COLUMNS.items() if name in rows[0]}
    lines = ["".join(f"{name:>12}" for name in names) + "".join(f"{h:>{w}}" for h, w, _ in columns.values())]
    for k, row in enumerate(rows):
        values = "".join(f"{row[name]:>12.4g}" for name in names)
        for name, (_, width, form) in columns.items():
            values += f"{row[name]:>{width}{form}}" if isfinite(row[name]) else f"{'-':>{width}}"
        marks = {"best": k == found.best, "unfinished": found.unfinished[k]}
        marks["abandoned"] = found.abandoned[k]
        lines.append("  ".join([values, *(mark for mark, is_set in marks.items() if is_set)]))
    if found.abandoned.any():
        lines.append("abandoned: clearly behind the best after a first look, so not trained to the end")
    if any(not isfinite(row["score"]) and not gone for row, gone in zip(rows, found.abandoned, strict=True)):
        lines.append("-: not tried, as the loss of held-out examples had risen; --all tries every C")
    if found.unfinished.any():
        lines.append("unfinished: stopped far from the optimum, so the score says little; scale the features")
    return "\n".join([*lines, f"{words(found.best_params)}, in {found.seconds:.2f} s"])


def draw(path, found, scoring):
    """Write a picture of the scores by C, one line for each value of the other parameters."""
    from matplotlib.figure import Figure

    from .output import writing

    axes = Figure(figsize=(6, 4), layout="constrained", dpi=150).subplots()
    lines = {}
    for params, mean, deviation in zip(found.candidates, found.mean, found.deviation):
        others = {name: value for name, value in params.items() if name != "C"}
        lines.setdefault(words(others), []).append((params["C"], mean, deviation))
    for name, points in lines.items():
        Cs, mean, deviation = zip(*points)
        axes.errorbar(Cs, mean, deviation, marker="o", capsize=3, label=name or None)
    axes.axvline(found.best_C, linestyle=":", color="#333333")
    axes.set(xscale="log", xlabel="C", ylabel=f"{scoring or 'score'} (mean and deviation over folds)")
    if len(lines) > 1:
        axes.legend()
    with writing(path, text=False) as file:
        axes.figure.savefig(file, format=str(path).rpartition(".")[2].lower())
