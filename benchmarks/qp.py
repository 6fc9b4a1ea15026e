"""The small dual QPs of the cutting-plane solver: ours against quadprog, daqp, piqp and Clarabel.

    min  1/2 a'Qa - <b, a>      a >= 0,  sum a = total

The QPs are those that occur: OneSlack is run to a relative gap of 1e-4 on several problems and every QP is
kept.  All solvers get the same numbers, scaled to sum a = 1, and are asked for their best (about 1e-9).
An answer is made feasible (clipped, scaled) and judged by its own duality gap,

    error = (total max_j g_j - <a, g>) / value       g = b - Qa

    python benchmarks/qp.py [--repeat 3] [--every 5]
"""

import argparse
import time

import clarabel
import daqp
import numpy as np
import piqp
import quadprog
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.preprocessing import minmax_scale, scale

import oneslack
from oneslack.solvers import planes
from oneslack.solvers.simplex_qp import solve_simplex_qp

SIZES = ((1, 10), (11, 30), (31, 100), (101, 10_000))
TIGHT = 1e-9


def training_problems():
    """(name, problem) with data that anyone has."""
    X, y = load_breast_cancer(return_X_y=True)
    for C in (0.1, 10.0):
        yield f"breast cancer, C={C:g}", oneslack.Problem(oneslack.Binary(30), scale(X), 2 * y - 1, C)
    X, y = load_iris(return_X_y=True)
    yield "iris", oneslack.Problem(oneslack.Multiclass(4, 3), scale(X), y, 1.0)
    X, y = load_digits(return_X_y=True)
    yield "digits", oneslack.Problem(oneslack.Multiclass(64, 10), minmax_scale(X), y, 0.1)
    X, y = make_classification(20_000, 50, n_informative=20, flip_y=0.1, random_state=0)
    yield "tall", oneslack.Problem(oneslack.Binary(50), scale(X), 2 * y - 1, 0.01)
    rng = np.random.default_rng(0)
    X = sp.random_array((5_000, 5_000), density=0.004, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=5_000) + rng.normal(size=5_000) > 0, 1, -1)
    yield "wide and sparse", oneslack.Problem(oneslack.Binary(5_000), X, y, 0.5)


def collect(problem):
    """Every QP of a run, as (Q, b, total, warm start, tolerance asked for)."""
    kept = []

    def record(Q, b, total, a, F=None, tol=0.0, **options):
        kept.append((Q.copy(), b.copy(), total, a.copy(), tol))
        return solve_simplex_qp(Q, b, total, a, F, tol, **options)

    planes.solve_simplex_qp = record
    try:
        oneslack.solve(problem, oneslack.OneSlack(), tol=1e-4)
    finally:
        planes.solve_simplex_qp = solve_simplex_qp
    return kept


# Each solver: (H, f, start, tolerance asked for) -> u for min 1/2 u'Hu - <f, u>, u >= 0, sum u = 1.


def ours_cold(H, f, start, asked):
    first = np.zeros(len(f))
    first[0] = 1.0
    return solve_simplex_qp(H, f, 1.0, first, None, TIGHT * np.abs(f).max()).a


def ours_warm(H, f, start, asked):
    return solve_simplex_qp(H, f, 1.0, start, None, TIGHT * np.abs(f).max()).a


def ours_as_used(H, f, start, asked):
    return solve_simplex_qp(H, f, 1.0, start, None, asked).a


def by_quadprog(H, f, start, asked):
    m = len(f)
    H = H + 1e-10 * max(np.trace(H) / m, 1e-12) * np.eye(m)  # it needs a positive definite matrix
    return quadprog.solve_qp(H, f, np.column_stack([np.ones(m), np.eye(m)]), np.append(1.0, np.zeros(m)), 1)[
        0
    ]


def by_daqp(H, f, start, asked):
    m = len(f)
    upper, lower = np.append(np.full(m, 1e30), 1.0), np.append(np.zeros(m), 1.0)
    sense = np.append(np.zeros(m, np.int32), np.int32(5))
    return daqp.solve(H, -f, np.ones((1, m)), upper, lower, sense, eps_prox=-1.0, primal_tol=1e-10)[0]


def by_piqp(H, f, start, asked):
    m = len(f)
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = TIGHT
    one, zero = np.ones(1), np.zeros(m)
    solver.setup(np.asfortranarray(H), -f, np.ones((1, m), order="F"), one, None, None, None, zero, None)
    solver.solve()
    return solver.result.x


def by_clarabel(H, f, start, asked):
    m = len(f)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TIGHT
    A = sp.vstack([np.ones((1, m)), -sp.eye_array(m)], format="csc")
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(m)]
    right = np.append(1.0, np.zeros(m))
    return np.array(clarabel.DefaultSolver(sp.csc_array(np.triu(H)), -f, A, right, cones, settings).solve().x)


SOLVERS = {
    "ours, cold": ours_cold,
    "ours, warm": ours_warm,
    "ours, warm, to the precision asked for": ours_as_used,
    "quadprog": by_quadprog,
    "daqp": by_daqp,
    "piqp": by_piqp,
    "Clarabel": by_clarabel,
}


def run(solver, qp, repeat):
    """(microseconds, error) of one solver on one QP; an error of inf where it fails."""
    Q, b, total, start, asked = qp
    H, f, start, asked = total * Q, b, start / total, asked / total
    times, answer = [], None
    for _ in range(repeat):
        began = time.perf_counter()
        try:
            answer = solver(H, f, start, asked)
        except (ValueError, RuntimeError):
            answer = None
        times.append(time.perf_counter() - began)
    return 1e6 * min(times), error_of(H, f, answer)


def error_of(H, f, u):
    if u is None or not np.isfinite(u).all() or np.maximum(u, 0).sum() <= 0:
        return np.inf
    u = np.maximum(u, 0)
    u /= u.sum()
    g = f - H @ u
    value = float(f @ u - 0.5 * u @ H @ u)
    return max(float(g.max() - u @ g), 0.0) / max(abs(value), 1e-12 * np.abs(f).max())


def table(results, sizes):
    """Markdown: one row a solver, a column a range of sizes."""
    counts = [sum(low <= m <= high for m in sizes) for low, high in SIZES]
    heads = [
        f"{low}-{high if high < 10_000 else max(sizes)} planes ({count})"
        for (low, high), count in zip(SIZES, counts, strict=True)
        if count
    ]
    lines = [
        f"| solver | {' | '.join(f'{head}: median µs' for head in heads)} | worst error | median error |"
    ]
    lines.append("|---" * (len(heads) + 3) + "|")
    for name, pairs in results.items():
        times, errors = np.array(pairs).T
        cells = [
            f"{np.median(times[[low <= m <= high for m in sizes]]):.0f}"
            for (low, high), count in zip(SIZES, counts, strict=True)
            if count
        ]
        lines.append(f"| {name} | {' | '.join(cells)} | {errors.max():.0e} | {np.median(errors):.0e} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="timings a QP; the smallest counts")
    parser.add_argument("--every", type=int, default=5, help="take every k-th QP of a run")
    options = parser.parse_args()
    qps = []
    for name, problem in training_problems():
        found = collect(problem)
        print(f"{name}: {len(found)} QPs, up to {max(len(qp[1]) for qp in found)} planes")
        qps += found[:: options.every]
    sizes = [len(qp[1]) for qp in qps]
    results = {name: [run(solver, qp, options.repeat) for qp in qps] for name, solver in SOLVERS.items()}
    print()
    print(table(results, sizes))


if __name__ == "__main__":
    main()
