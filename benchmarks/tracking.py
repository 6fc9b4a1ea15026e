"""motile's tracking weights: learned by structsvm, and by oneslack in its place.

    pip install motile            # with SCIP, by ilpy
    python benchmarks/tracking.py [--frames 50] [--cells 8] [--rounds 3] [--divisions 0.02]

A film is made up: cells that move, divide and die, detections that are missed or false, and candidate edges
between near detections of neighbouring frames.  `motile.Solver.fit_weights` learns the weights of its
costs from the true tracks, alternately with structsvm's BundleMethod and SoftMarginLoss and with ours.  Both
w are then judged alike:
lambda/2 |w|^2 + L(w), with L by SCIP.  Times are medians of wall and of processor seconds.
"""

import argparse
import logging
import statistics
import sys
import time
import warnings
from itertools import pairwise

import motile
import networkx as nx
import numpy as np
import structsvm
from motile.constraints import MaxChildren, MaxParents
from motile.costs import EdgeDistanceCost, NodeAppearCost, NodeSelectedCost, NodeSplitCost
from motile.variables import EdgeSelected, NodeSelected

from oneslack.adapters import structsvm as ours

#: How far a cell may go between frames; the unit of positions.
REACH = 30.0


def film(n_frames, n_cells, seed=0, divisions=0.0):
    """A graph of detections with the truth in the attribute "gt"."""
    rng = np.random.default_rng(seed)
    graph, names = nx.DiGraph(), iter(range(10**9))
    size = 40.0 * np.sqrt(n_cells)

    def detect(t, x, is_true):
        name = next(names)
        score = np.clip(rng.normal(0.75 if is_true else 0.4, 0.2), 0, 1)
        graph.add_node(
            name, t=t, x=float(x[0]) / REACH, y=float(x[1]) / REACH, score=float(score), gt=int(is_true)
        )
        return name

    alive = [(None, rng.uniform(0, size, 2)) for _ in range(n_cells)]
    for t in range(n_frames):
        after = []
        for parent, x in alive:
            x = x + rng.normal(0, 5.0, 2)
            children = [x] if rng.random() >= divisions else [x + 6.0, x - 6.0]
            if len(alive) > n_cells and rng.random() < 0.05:
                continue  # dies
            for child in children:
                if rng.random() < 0.03:  # missed: the track is broken
                    after.append((None, child))
                    continue
                name = detect(t, child, True)
                if parent is not None:
                    graph.add_edge(parent, name, gt=1)
                after.append((name, child))
        for _ in range(rng.poisson(0.3 * n_cells)):
            detect(t, rng.uniform(0, size, 2), False)
        alive = after
    _candidates(graph, n_frames)
    return motile.TrackGraph(graph)


def _candidates(graph, n_frames):
    """Edges between near detections; what is none of the truth is false."""
    frames = [[] for _ in range(n_frames)]
    for name, node in graph.nodes.items():
        frames[node["t"]].append(name)
    at = {name: np.array([node["x"], node["y"]]) for name, node in graph.nodes.items()}
    for before, after in pairwise(frames):
        for a in before:
            for b in after:
                if np.linalg.norm(at[a] - at[b]) < 1.0 and not graph.has_edge(a, b):
                    graph.add_edge(a, b, gt=0)


def tracker(graph, divides):
    """motile's solver: four weights, and two more where cells divide.  Of those, appearances and splits,
    motile gives no truth, so that F falls far below 0."""
    solver = motile.Solver(graph)
    solver.add_cost(NodeSelectedCost(weight=-1.0, attribute="score", constant=0.5))
    solver.add_cost(EdgeDistanceCost(weight=1.0, position_attribute=("x", "y"), constant=-1.0))
    if divides:
        solver.add_cost(NodeAppearCost(constant=1.0))
        solver.add_cost(NodeSplitCost(constant=1.0))
    solver.add_constraint(MaxParents(1))
    solver.add_constraint(MaxChildren(2 if divides else 1))
    return solver


def objective(solver, weight):
    """F of the learned weights, by structsvm's own loss."""
    theirs = ours._replaced.get("structsvm") or structsvm
    w, features = (part.to_ndarray().astype(float) for part in (solver.weights, solver.features))
    mask, truth = np.zeros((2, solver.num_variables), np.float32)
    for kind, things in ((NodeSelected, solver.graph.nodes), (EdgeSelected, solver.graph.edges)):
        for name, index in solver.get_variables(kind).items():
            mask[index], truth[index] = 1.0, things[name]["gt"]
    loss = theirs.SoftMarginLoss(solver.constraints, features.T, truth, theirs.HammingCosts(truth, mask))
    return loss.value_and_gradient(w)[0] + 0.5 * weight * float(w @ w)


def fitted(graph, divides, weight, eps, max_iterations):
    """(wall seconds, processor seconds, the solver): what `fit_weights` takes."""
    solver = tracker(graph, divides)
    wall, cpu = time.perf_counter(), time.process_time()
    solver.fit_weights("gt", regularizer_weight=weight, max_iterations=max_iterations, eps=eps)
    return time.perf_counter() - wall, time.process_time() - cpu, solver


def main():
    parser = argparse.ArgumentParser()
    for name, default in {"frames": 50, "cells": 8, "rounds": 3, "seed": 0, "iterations": 1000}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--weight", type=float, default=0.1, help="lambda of structsvm")
    parser.add_argument("--eps", type=float, default=1e-3)
    parser.add_argument("--divisions", type=float, default=0.0, help="how often cells divide")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    graph = film(given.frames, given.cells, given.seed, given.divisions)
    task = graph, given.divisions > 0, given.weight, given.eps, given.iterations
    times = {"structsvm": [], "oneslack": []}
    print(f"{given.frames} frames, {len(graph.nodes)} detections, {len(graph.edges)} edges", flush=True)
    calls = _count_calls()
    for _ in range(given.rounds):
        for name in times:
            calls.clear()
            if name == "oneslack":
                with ours.install():
                    wall, cpu, solver = fitted(*task)
                proved, asked = ours.certificate(), ours.certificate().calls
            else:
                wall, cpu, solver = fitted(*task)
                asked = len(calls)
            value = objective(solver, given.weight)
            times[name].append((wall, cpu))
            print(
                f"  {name:10s} {wall:7.2f} s, {cpu:7.2f} s cpu, {asked:4d} calls, F = {value:.6f}", flush=True
            )
    for name, runs in times.items():
        wall, cpu = (statistics.median(run[k] for run in runs) for k in (0, 1))
        print(f"{name:10s} median {wall:.2f} s, {cpu:.2f} s cpu")
    print(f"oneslack's certificate: {proved.lower:.6f} <= F <= {proved.objective:.6f}")
    return 0


def _count_calls():
    """A list that grows at each question to structsvm's own loss."""
    calls, plain = [], structsvm.SoftMarginLoss.value_and_gradient

    def counted(self, w):
        calls.append(1)
        return plain(self, w)

    structsvm.SoftMarginLoss.value_and_gradient = counted
    return calls


if __name__ == "__main__":
    sys.exit(main())
