"""The problem for an engine: in one piece, in parts, or with the rows of X elsewhere."""

from __future__ import annotations

from .in_memory import Problem, is_compiled

#: What `engine` may be called.
NAMES = ("threads", "ray")


def new_problem(model, X, Y, C, *, engine=None, solver="auto", n_jobs=None, **options):
    """A Problem on this machine, or one whose examples lie with the workers of an engine.

    engine  None or "threads"; "ray" for a Ray cluster on this machine with n_jobs workers; or a Ray(...)

    Workers of a machine that is alone are threads of one process, where the model's loops are compiled and
    no solver is asked for that is made for parts.
    """
    engine = engine_of(engine, n_jobs)
    if engine is None and not wants_parts(solver):
        return Problem(model, X, Y, C, n_jobs=n_jobs, **options)
    from ..engines.crew import ThreadCrews
    from .parts.problem import GatheredProblem, SplitProblem

    engine = engine or ThreadCrews(n_jobs)
    if is_compiled(model, options.get("rescaling", "margin")) and not wants_parts(solver):
        alone = engine.on_one_machine()
        if alone is not None:
            from .parts.whole import WholeProblem

            return WholeProblem(model, X, Y, C, engine=alone, **options)
    if hasattr(model, "cut_along"):
        options.pop("cache_size", None)
        return GatheredProblem(model, X, Y, C, engine=engine, **options)
    return SplitProblem(model, X, Y, C, engine=engine, **options)


def engine_of(engine, n_jobs=None):
    """None for this machine's threads or processes."""
    if engine is None or engine == "threads":
        return None
    if engine == "ray":
        from ..engines.ray import Ray
        from ..engines.threads import count_jobs

        return Ray(None if n_jobs is None else count_jobs(n_jobs))
    if not hasattr(engine, "start"):
        raise ValueError(f"engine={engine!r} is not known; use 'threads', 'ray' or Ray(...)")
    return engine


def wants_parts(solver) -> bool:
    """Whether the solver needs a problem in parts."""
    return (solver if isinstance(solver, str) else getattr(solver, "name", "")) == "distributed_dual"
