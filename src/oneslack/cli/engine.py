"""Where a training runs: --engine, --address."""

from __future__ import annotations

from .output import Exit, Refusal


def engine_for(engine, address, jobs):
    """What an estimator takes as its engine: None for this machine's cores."""
    if engine.value == "threads":
        if address is not None:
            raise Refusal("--address is that of a Ray cluster; add --engine ray.", Exit.USAGE)
        return None
    from ..engines.ray import Ray

    return Ray(jobs, address)
