"""A tagger with 18.5 million weights: peak memory and time of each solver.

Made-up text in the shape of a large tagging set: 35,000 sentences of about 24 tokens, 20 features a token out
of 430,000 (20 templates, small to large, the values of each by Zipf's law), 43 labels that follow a random
chain model in which some templates say much and others little, 2 % of the labels replaced by noise.  Each
solver trains in a process of its own, which reports the memory it needed at most, with the data, Python and
the compiler.

    python benchmarks/big_tagging.py                         # up to half an hour
    python benchmarks/big_tagging.py --sentences 3500 --features 43000 --limit 60
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

import oneslack
from oneslack.data.rows import Ragged, Shard
from oneslack.models.chain import Chain

TEMPLATES, LABELS = 20, 43
SOLVERS = ("auto", "n_slack", "one_slack")


def make_text(n_sentences, n_features, seed=0, n_labels=LABELS):
    """(X, labels, offsets)."""
    rng = np.random.default_rng(seed)
    lengths = 1 + rng.negative_binomial(4, 4 / (4 + 23), n_sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns, template = _features(rng, int(offsets[-1]), n_features)
    indptr = np.arange(0, columns.size + 1, TEMPLATES)
    X = sp.csr_matrix((np.ones(columns.size), columns.ravel(), indptr), shape=(len(columns), n_features))
    chain = Chain(n_features, n_labels)
    w = np.zeros(chain.n_params)
    favourite = np.arange(n_features) * n_labels + rng.integers(0, n_labels, n_features)
    w[favourite] = (8.0 / rng.permutation(np.arange(1, TEMPLATES + 1)))[template]
    w[n_features * n_labels :] = rng.normal(size=n_labels * n_labels)
    data = chain.pack(Ragged(X, offsets), None)
    labels = chain.predict_batch(data, Shard(0, data.n), w)
    wrong = rng.random(len(labels)) < 0.02
    labels[wrong] = rng.integers(0, n_labels, wrong.sum())
    return X, labels, offsets


def _features(rng, n_tokens, n_features):
    """(tokens, TEMPLATES) columns, rising in each row, and the template of each column."""
    sizes = np.geomspace(1, 1000, TEMPLATES)
    bounds = np.concatenate([[0], np.cumsum(sizes) / sizes.sum() * n_features]).astype(int)
    columns = np.empty((n_tokens, TEMPLATES), np.int32)
    for t, (lo, hi) in enumerate(pairwise(bounds)):
        popularity = 1.0 / np.arange(3, hi - lo + 3)
        edges = np.cumsum(popularity) / popularity.sum()
        columns[:, t] = lo + np.minimum(np.searchsorted(edges, rng.random(n_tokens)), hi - lo - 1)
    return columns, np.repeat(np.arange(TEMPLATES), np.diff(bounds))


def write(args):
    """The text, in this process."""
    X, labels, offsets = make_text(args.sentences, args.features)
    np.savez(args.text, data=X.data, indices=X.indices, indptr=X.indptr, labels=labels, offsets=offsets)
    print(f"{args.sentences:,} sentences, {X.shape[0]:,} tokens, {X.nnz:,} features of tokens\n", flush=True)


def train(args):
    """One solver, in this process."""
    with np.load(args.text) as file:
        text = dict(file)
    shape = (len(text["indptr"]) - 1, args.features)
    X = Ragged(sp.csr_matrix((text["data"], text["indices"], text["indptr"]), shape=shape), text["offsets"])
    Y = [text["labels"][lo:hi] for lo, hi in pairwise(X.offsets)]
    before = _peak()
    tagger = oneslack.SequenceTagger(
        C=args.C, solver=args.job, tol=args.tol, time_limit=args.limit, verbose=args.verbose
    )
    start = time.perf_counter()
    tagger.fit(X, Y)
    seconds = time.perf_counter() - start
    result = tagger.result_
    row = [
        args.job, f"{tagger.model_.n_params:,}", f"{seconds:.0f} s", f"{100 * tagger.duality_gap_:.2f} %",
        result.n_iter, result.status.name.lower(), f"{before:.2f} GB", f"{_peak():.2f} GB",
    ]  # fmt: skip
    print("| " + " | ".join(map(str, row)) + " |", flush=True)


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=int, default=35_000)
    parser.add_argument("--features", type=int, default=430_000)
    parser.add_argument("--C", type=float, default=0.1)
    parser.add_argument("--tol", type=float, default=0.01, help="relative duality gap")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of a solver")
    parser.add_argument("--solvers", nargs="+", default=SOLVERS)
    parser.add_argument("--verbose", type=int, default=0)
    parser.add_argument("--text", help="the file of the text, made where it is missing")
    parser.add_argument("--job", help=argparse.SUPPRESS)  # in a process of its own: "write", or the solver
    args = parser.parse_args()
    if args.job:
        return write(args) if args.job == "write" else train(args)
    with tempfile.TemporaryDirectory() as folder:
        path = args.text or f"{folder}/text.npz"
        # A process begins with the peak of the one that made it: the text is made elsewhere.
        if not os.path.exists(path):
            _run("write", path)
        print("| solver | weights | time | gap | steps | status | before training | peak memory |")
        print("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |", flush=True)
        for solver in args.solvers:
            _run(solver, path)


def _run(job, path):
    subprocess.run([sys.executable, *sys.argv, "--job", job, "--text", path], check=False)


if __name__ == "__main__":
    main()
