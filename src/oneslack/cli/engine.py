"""Where a training runs: --engine, --address, --threads."""

from __future__ import annotations

from .output import Exit, Refusal


def engine_for(machines, jobs):
    """What an estimator takes as its engine: None for this machine's cores."""
    address, threads = machines.address, machines.threads
    if machines.is_here:
        if address is not None:
            raise Refusal("--address is that of a Ray cluster; add --engine ray.", Exit.USAGE)
        if threads is not None:
            raise Refusal(
                "--threads is for each worker of a Ray cluster; add --engine ray, or give --jobs alone.",
                Exit.USAGE,
            )
        return None
    from ..engines.ray import Ray

    return Ray(jobs, address, threads)
