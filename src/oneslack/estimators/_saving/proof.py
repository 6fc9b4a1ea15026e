"""The proof that a model file carries: the dual point of each problem, and what it claims.

    header["proof"] = {"version": 1, "claims": [[primal, dual], ...], "fingerprint": ...}
    arrays "proof.0.duals", ...     the dual point of problem 0, ... (Result.duals)

`oneslack verify` (verify/, checks/proof.py) takes nothing of it at its word.
"""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from ...formats.model_file import fingerprint
from ...models.matching import Matching
from ...problems.regulariser_input import regulariser_of
from .._shared.given import given_terms
from .._shared.weight_terms import rows_of_terms, tagger_terms

#: Of proofs that are written.
VERSION = 1


def proof_to_file(model, header, arrays):
    """Add what proves the certificate of a fitted model to its header and arrays."""
    kept = getattr(model, "_kept_proof", None)
    if not model._results() and kept is not None:
        header["proof"], proof = kept
        arrays |= proof
        return
    results, why = model._results(), no_proof(model)
    if why is not None:
        raise OneslackError(f"{type(model).__name__} has no proof to save: {why}")
    is_partial = _is_estimate(results)
    for k, result in enumerate(() if is_partial else results):
        arrays |= {f"proof.{k}.{name}": array for name, array in result.duals.items()}
    arrays |= _named_terms(model, header, arrays)
    claims = [[float(result.primal), float(result.dual)] for result in results]
    header["proof"] = {
        "version": VERSION, "partial": is_partial, "C": float(getattr(model, "C_", model.C)),
        "claims": claims, "fingerprint": fingerprint(arrays),
    }  # fmt: skip


def _is_estimate(results):
    """Whether lower bounds are estimates, of sampled cuts or of another problem: then P alone is proven."""
    return any(result.solver in ("sampled_cuts", "basis_functions") for result in results)


def _named_terms(model, header, arrays) -> dict:
    """What is said of weights by names, which a model file leaves out: an array of their shape."""
    kept = {*header["parameters"], *(name.removeprefix("parameter.") for name in arrays)}
    named = [name for name in given_terms(model) if name not in kept]
    if not named:
        return {}
    if model._saving == "matcher":
        rows = vars(
            regulariser_of(Matching(model.n_features_in_, bool(model.unmatched)), **given_terms(model))
        )
    elif model._saving in ("tagger", "segmenter"):
        terms = tagger_terms(model, model._indexer, model.model_, model.classes_)
        rows = vars(regulariser_of(model.model_, **terms))
    else:
        rows = rows_of_terms(model, np.atleast_2d(model.coef_).shape)
    return {f"proof.{name}": np.array(rows[name]) for name in named}


def proof_from_file(model, header, arrays):
    """Keep the proof of a file, so that a model that is saved again has it again."""
    if "proof" in header:
        kept = {name: array for name, array in arrays.items() if name.startswith("proof.")}
        model._kept_proof = header["proof"], kept


def no_proof(model) -> str | None:
    """Why a fitted model has no proof, in a sentence, or None."""
    results = model._results()
    if not results:
        return "it was loaded from a file without one; train it again, and save with proof=True"
    if hasattr(model, "reduction_error_"):
        return "its certificate is of the model before `reduce`; save that with proof=True"
    if model._saving not in ("linear", "kernel", "tagger", "segmenter", "graph", "matcher", "parser"):
        return (
            "no checker is written for sets of labels, integer programmes, models of one's own or latent "
            "values; save without proof"
        )
    if model._saving == "graph" and (model.backtracks or model.relaxed or model.basis_ is not None):
        return (
            "no checker is written for graphs with backtracks, whose bound is toulbar2's word, with relaxed "
            "outputs, or with a kernel; save without proof"
        )
    if getattr(model, "n_forgotten_", 0):
        return "examples of `partial_fit` are forgotten, and nobody could check it"
    if _is_estimate(results):
        return None
    if not all(result.certified for result in results):
        return "nothing is certified, as the status of its training says"
    if any(result.duals is None for result in results):
        solvers = ", ".join(sorted({result.solver for result in results if result.duals is None}))
        return (
            f"solver {solvers} does not hold its dual point, or the model was pickled since; train it again"
        )
    return None
