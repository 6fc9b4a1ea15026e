"""From a model file with its proof and the data to what the checker of verify/ takes; and what it answers.

Here labels become numbers and files become arrays, as they did before training; all that is proven is
computed in verify/, which knows nothing of the rest of the library.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from .. import verify
from ..certificate.words import distance
from ..errors import OneslackError, ProofError
from ..estimators._saving.proof import VERSION
from ..formats.model_file import fingerprint
from ..verify.claim import DRIFT, LOOSE, compare
from ..verify.sums import down, up

#: Of a model whose lower bound is an estimate.
UNPROVEN = "the objective is proven; its lower bound was estimated from sampled cuts, and is not proven"


@dataclass(frozen=True)
class ProofReport:
    """What `check_proof` has proven: dual <= optimum <= P(w) <= primal, whatever rounding does.

    primal, dual   computed anew from the data and the proof
    claimed        (primal, dual) of the model file
    n_problems     how many problems they are sums of
    lines          how many lines of code the checker has
    remark         what is not proven, where that is so
    problem        what it is the objective of: the model's parameters
    """

    path: str
    primal: float
    dual: float
    claimed: tuple[float, float]
    n_problems: int
    lines: int
    remark: str = ""
    problem: str = ""

    @property
    def gap(self) -> float:
        """By what share of itself the objective may at most be lowered."""
        return (self.primal - self.dual) / self.primal if self.primal > 0.0 else 0.0

    def __str__(self) -> str:
        problems = f", in {self.n_problems} problems" if self.n_problems > 1 else ""
        if self.remark:
            return (
                f"{self.path}: proven: objective at most {self.primal:.9g}{problems}\n  {self.remark}\n"
                f"  the problem: {self.problem}"
            )
        return (
            f"{self.path}: proven: {distance(self.primal, self.dual)}{problems}\n"
            f"  objective {self.primal:.9g}, optimum at least {self.dual:.9g}: both computed from the data "
            f"and the proof by {self.lines} lines of NumPy you can read (oneslack/verify)\n"
            f"  the problem: {self.problem}"
        )


def check_proof(
    path: str | PathLike[str], X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None,
) -> ProofReport:  # fmt: skip
    """Prove anew what a model file claims of itself; raise ProofError where its proof does not hold.

    Parameters
    ----------
    path : str or path
        A file that `save(path, proof=True)` or `oneslack train ... --proof` wrote.
    X, y : the examples that it was fitted on, as `fit` took them
        Of shape (n, d) and (n,), or sequences of inputs and outputs.
    sample_weight : array-like of shape (n,) or None
        Their weights.
    groups : array-like of shape (n,) or None
        Of a RankSVM.

    Returns
    -------
    ProofReport, to print

    Examples
    --------
    >>> import oneslack
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(200, 5, random_state=0)
    >>> oneslack.LinearSVC(C=0.5).fit(X, y).save("proven.model", proof=True)
    >>> oneslack.check_proof("proven.model", X, y).gap <= 1e-3
    True
    """
    from ..formats import load_model
    from ..kinds.load import load
    from .proof_problems import problems_of, take_named_terms
    from .proof_settled import refuse_other_balls, refuse_other_intercepts

    header, arrays = load_model(path)
    if "proof" not in header:
        raise OneslackError(
            f"{path}: carries no proof; save it with proof=True, or train it with --proof, and verify that"
        )
    model = load(path)
    try:
        claims, is_partial = _claims(model, header, arrays), header["proof"].get("partial") is True
        named = take_named_terms(model, header, arrays)
        problems = list(problems_of(model, header["proof"], X, y, sample_weight, groups))
        bounds, drifts = zip(*_bounds(claims, problems, arrays, is_partial), strict=True)
        if not is_partial:
            refuse_other_balls(model, claims, problems, bounds, drifts)
            refuse_other_intercepts(model, X, y, sample_weight)
    except ProofError as error:
        raise ProofError(f"{path}: not proven: {error}") from None
    except (ValueError, KeyError, IndexError, TypeError, ArithmeticError) as error:
        if type(error) is OneslackError:
            raise OneslackError(f"{path}: {error}") from None
        raise ProofError(f"{path}: not proven: the data do not fit the model ({error})") from error
    primal = up(*(each.high for each in bounds))
    dual = 0.0 if is_partial else down(*(each.dual_low for each in bounds))
    claimed = header["certificate"]["primal"], header["certificate"]["dual"]
    remark, lines = UNPROVEN if is_partial else "", checker_lines(model)
    return ProofReport(str(path), primal, dual, claimed, len(problems), lines, remark, _problem(model, named))


def _claims(model, header, arrays):
    """One (primal, dual) a problem: numbers, which add up to what the model says of itself."""
    proof = header["proof"]
    if not isinstance(proof, dict) or proof.get("version") != VERSION:
        raise ProofError("its header is damaged, or of another version of oneslack")
    if proof.get("fingerprint") != fingerprint(arrays):
        raise ProofError(
            "the weights or the duals are not those that were written, as their fingerprint says"
        )
    claims = proof.get("claims")
    is_pair = isinstance(claims, list) and all(isinstance(each, list) and len(each) == 2 for each in claims)
    if not is_pair or not claims or not all(isinstance(value, float) for each in claims for value in each):
        raise ProofError("its claims are not two numbers a problem")
    if not all(isfinite(value) for each in claims for value in each):
        raise ProofError("a claim is NaN or infinite")
    is_sampled = getattr(model, "method_", None) in ("linear", "constant", "basis")
    if proof.get("partial") is True and not is_sampled:
        raise ProofError("it has no lower bound, but the model is not one of sampled cuts or a basis")
    said = model.objective_, model.dual_objective_
    total = up(*(each[0] for each in claims)), down(*(max(each[1], 0.0) for each in claims))
    room = 1e-9 * abs(total[0])
    C = getattr(model, "C_", proof.get("C"))
    if proof.get("C") != C:
        raise ProofError(f"C of the proof is {proof.get('C')!r}, but that of the training is {C!r}")
    if said[0] < total[0] - room or said[1] > total[1] + room:
        raise ProofError(
            f"the model claims {said[0]!r} and {said[1]!r}, its proof {total[0]!r} and {total[1]!r}"
        )
    return claims


def _bounds(claims, problems, arrays, is_partial):
    """(Bounds, by what share of the gap they may drift) of each problem, once its claim holds."""
    if len(claims) != len(problems):
        raise ProofError(f"it claims {len(claims)} problems, but the model has {len(problems)}")
    for k, (claim, problem) in enumerate(zip(claims, problems, strict=True)):
        start = f"proof.{k}."
        proof = {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}
        if is_partial:  # kernels of sampled cuts are computed in blocks, perhaps of single precision
            claim = (1.0 + LOOSE) * claim[0], 0.0
        if claim[1] <= 0.0:
            proof = {}  # a claim of 0 needs no duals
        where = f" of problem {k}" if len(problems) > 1 else ""
        drift = DRIFT if "points" in proof else 0.0
        try:
            bounds = problem.bounds(proof)
            compare(claim, bounds, where, drift)
            yield bounds, drift
        except ProofError as error:
            raise ProofError(f"{error}{where}" if where and where not in str(error) else str(error)) from None


def _problem(model, named) -> str:
    """The parameters of the problem in one line, and what the file says by names."""
    text = " ".join(repr(model).split())
    text += f", C={model.C_!r}" if isinstance(model.C, str) else ""
    return text + (f", with {' and '.join(named)} as they stand in the file" if named else "")


#: The files of the checker for each estimator, beside those that they import.
FILES = {
    "LinearSVC": ("linear", "losses"), "LinearSVR": ("linear", "losses"), "KernelSVC": ("kernels", "losses"),
    "RankSVM": ("linear", "sample", "pairs"), "OrdinalSVC": ("linear", "sample", "pairs"),
    "MetricSVC": ("linear", "sample", "labellings"), "SequenceTagger": ("structured", "chains"),
    "SequenceSegmenter": ("structured", "chains"), "GraphTagger": ("structured", "graphs"),
    "GridSegmenter": ("structured", "graphs"), "Matcher": ("structured", "matchings"),
    "GrammarParser": ("structured", "trees"),
}  # fmt: skip
#: The same by the metric, where it is not a labelling.
OF_METRIC = {"error": ("linear", "losses"), "roc_auc": ("linear", "sample", "pairs")}


def checker_files(model) -> list[Path]:
    """The files that prove a model."""
    name, metric = type(model).__name__, str(getattr(model, "metric", None))
    folder, files = Path(verify.__file__).parent, set()
    more = set(OF_METRIC.get(metric) or FILES.get(name, ()))
    while more:
        files |= more
        texts = [(folder / f"{file}.py").read_text() for file in more]
        more = {found for text in texts for found in re.findall(r"^from \.(\w+) import", text, re.M)} - files
    return [folder / f"{file}.py" for file in sorted(files)]


def checker_lines(model) -> int:
    """Their lines of code, without docstrings, comments and empty lines."""
    count = 0
    for path in checker_files(model):
        text = path.read_text()
        lines = {k for k, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != "#"}
        for node in ast.walk(ast.parse(text)):
            has_words = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            if has_words and ast.get_docstring(node) is not None:
                lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        count += len(lines)
    return count
