"""What tells a problem from another: the state and the bounds of one are none of the other.

The identity looks at all numbers that P and the order of the duals depend on.  What nobody can look into (a
function, an open file) it names, as `unseen`.
"""

from __future__ import annotations

from .digests import Digest


class Identified:
    """What a problem tells to who would go on with a run of it."""

    #: By what share of itself P may differ when it is computed again.
    rounding = 1e-6

    #: How large the answers of what is not ours to bound have been, where bounds of rounding rest on it.
    seen = None

    def see(self, seen):
        """Such answers stand behind a state that is taken up."""

    def identity(self) -> dict:
        """What must be the same where a state is to be of use; `unseen` says what could not be looked at."""
        model, (data, unseen) = Digest(self.model), data_digest(self.data)
        return {
            "model": f"{described(self.model)} {model.hex}",
            "parameters": self.n_params,
            "examples": self.n,
            "weight": self.weight,
            "rescaling": getattr(self, "rescaling", None),
            "data": data,
            "regulariser": regulariser_digest(self.regulariser),
            "unseen": unseen_in(model=model.unseen, examples=unseen),
        }

    def vouches_for(self, w, primal, weight) -> bool:
        """Whether a state is this problem's though something is unseen, of one whose P(w) was `primal`."""
        return False

    def has_objective(self, w, primal, weight=None) -> bool:
        """Whether P(w) is `primal`, but for rounding, with the weight of the risk that it had there."""
        here = self.primal(w, weight)
        return here == primal or abs(here - primal) <= self.rounding * abs(primal)


def described(model) -> str:
    """Its kind, numbers and words, for readers."""
    values = getattr(model, "__dict__", {})
    found = {name: value for name, value in values.items() if isinstance(value, bool | int | float | str)}
    return f"{type(model).__name__} {found}"


def data_digest(data) -> tuple[str, str | None]:
    """(digest, unseen) of packed examples, which nobody changes: they remember it, or find it themselves."""
    if hasattr(data, "digest"):
        return data.digest
    known = getattr(data, "__dict__", {})
    if "_digest" not in known:
        found = Digest(data)
        known["_digest"] = found.hex, found.unseen
    return known["_digest"]


def regulariser_digest(regulariser) -> str | None:
    """None for 1/2 |w|^2."""
    parts = [getattr(regulariser, name, None) for name in ("prior", "scale", "nonnegative")]
    return None if all(part is None for part in parts) else Digest(*parts).hex


def unseen_in(**parts) -> str | None:
    """A sentence without its end, as "the model holds a function"; parts are what is unseen in each."""
    found = [
        f"the {name} hold{'' if name.endswith('s') else 's'} {what}" for name, what in parts.items() if what
    ]
    return " and ".join(found) or None
