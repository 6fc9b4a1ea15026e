"""Several results, of problems that are solved one after the other, as one: sums of their bounds."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ..certificate.rounding import sum_down, sum_up
from ..result import Result
from .trace_keeping import completed, joined

#: What is put together when it is first asked for.
LATER = ("w", "trace")


class Results(Result):
    """The Result of several problems: bounds, seconds and steps are sums, the status that of the worst.

    parts  the results of the problems, one a class or label
    w      theirs, one after the other
    trace  the sums of their bounds over time; added up when it is first asked for
    """

    def __init__(self, results):
        worst = max(results, key=lambda result: (not result.status.ok, result.gap))
        taken = {
            "primal": sum_up([result.primal for result in results]),
            "dual": sum_down([max(result.dual, 0.0) for result in results]),
            "status": worst.status,
            "certified": all(result.certified for result in results),
            "n_iter": sum(result.n_iter for result in results),
            "seconds": sum(result.seconds for result in results),
            "solver": ", ".join(sorted({result.solver for result in results})),
            "reason": worst.reason,
            "rounding": sum(result.rounding for result in results),
            "_parts": tuple(results),
        }
        rest = {f.name: f.default for f in fields(Result) if f.name not in (*taken, *LATER)}
        vars(self).update(rest | {"state": {}} | taken)

    def __getattr__(self, name):
        if name not in LATER or "_parts" not in vars(self):
            raise AttributeError(name)
        if name == "w":
            value = np.concatenate([np.ravel(result.w) for result in self._parts])
        else:
            value = joined(map(completed, self._parts))
        vars(self)[name] = value
        return value

    @property
    def parts(self) -> tuple[Result, ...]:
        return self._parts

    def __str__(self) -> str:
        return f"{len(self._parts)} problems, {super().__str__()}"
