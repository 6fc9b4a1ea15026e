"""Parsing: speed beside NLTK's ViterbiParser, F1 beside relative frequencies, questions of solvers.

speed   the same grammar, sentences and best score as NLTK's ViterbiParser on one core; then two threads.
        NLTK is given only those lexical rules that a sentence needs, which is in its favour.
threads only the latter: all test sentences on one and on two threads, without NLTK.
f1      labelled F1 by EVALB's rules of one grammar, with weights that are logarithms of relative
        frequencies, that are learned, and that are learned with span features too.  ptb_sample keeps its
        last tenth for testing, craft_treebank has its own development part.  With --choose the last tenth
        of the training trees is tested instead, for choosing settings before the test is seen.
rules   rules alone beside relative frequencies on several sets, one row each, by the settings that parts of
        the training trees chose (RULES below); with the standard error of the gain.
folds   rules alone beside relative frequencies, every tenth of the training trees held out in turn: where a
        test of 80 sentences says little.
calls   questions to the parser of n-slack and of one-slack with its cache, to the same certified gap.
all     all CRAFT training trees of at most 40 words, with span features unless --only rules: progress, time,
        peak of memory, and F1 beside relative frequencies; --limit takes the first trees alone, and
        --time-limit or Ctrl-C keeps the best weights so far.

pip install nltk
python benchmarks/parsing.py f1 --data DIR --corpus ptb --longest 15
python benchmarks/parsing.py rules --data DIR --sets ptb15 ptb40 craft15 craft40
python benchmarks/parsing.py threads --data DIR --longest 40
python benchmarks/parsing.py all --data DIR --time-limit 1200
python benchmarks/parsing.py calls --data DIR --corpus ptb --longest 15
"""

import argparse
import resource
import statistics
import time
from itertools import pairwise
from math import exp

import numpy as np
from problems import add_options, data_folder

import oneslack
from oneslack.data.rows import Ragged, Shard
from oneslack.engines.threads import Threads
from oneslack.estimators.grammar_parser import PARTS, GrammarParser
from oneslack.formats.trees import read_trees
from oneslack.metrics.brackets import bracket_scores
from oneslack.models.grammar import GrammarModel, SpanFeatures
from oneslack.models.grammar.reading import read_grammar_and_trees
from oneslack.problems.in_memory import Problem
from oneslack.solvers.dual_cd import DualCD
from oneslack.solvers.n_slack import NSlack
from oneslack.solvers.one_slack import OneSlack


def corpus(folder, name, longest):
    """(training trees, test trees) of at most so many words."""
    if name == "ptb":
        trees = read_trees(folder / "ptb_sample" / "wsj_0001-0199.trees.xz")
        n = len(trees) * 9 // 10
        parts = trees[:n], trees[n:]
    else:
        names = (f"craft_{part}.trees.xz" for part in ("train", "dev"))
        parts = [read_trees(folder / "craft_treebank" / each) for each in names]
    return [[tree for tree in part if len(tree.words()) <= longest] for part in parts]


def read(args, trees):
    """(grammar, sentences, outputs) of trees."""
    grammar, outputs = read_grammar_and_trees(
        trees, direction="right", horizontal=_horizontal(args), vertical=args.vertical, min_count=2
    )
    return grammar, Ragged.from_list([grammar.word_ids(tree.words()) for tree in trees]), outputs


def _horizontal(args):
    return None if args.horizontal < 0 else args.horizontal


def sentences(args, trees):
    """What the parser is given: words, or words with their tags."""
    pairs = (zip(tree.words(), tree.tags(), strict=True) for tree in trees)
    return [list(each) for each in pairs] if args.tagged else [tree.words() for tree in trees]


# Speed.


class Viterbi:
    """NLTK's parser for sentences of a Grammar.

    A symbol with a chain on top and one without are two of NLTK's, so that no chain is put on another.
    """

    def __init__(self, grammar, weights):
        import nltk

        self.nltk, self.grammar, self.p = nltk, grammar, [exp(w) for w in weights]
        base = [nltk.Nonterminal(f"{k} {symbol}") for k, symbol in enumerate(grammar.symbols)]
        full = [nltk.Nonterminal(f"{k} {symbol}!") for k, symbol in enumerate(grammar.symbols)]
        self.base, self.start = base, full[grammar.roots[0]]
        rules = zip(grammar.binary_parent, grammar.binary_left, grammar.binary_right, strict=True)
        self.rules = [self._rule(base[a], [full[b], full[c]], self.p[r]) for r, (a, b, c) in enumerate(rules)]
        self.rules += [self._rule(full[k], [base[k]], 1.0) for k in range(grammar.n_symbols)]
        for c in range(grammar.n_chains):
            rules = grammar.chain_rules[grammar.chain_ptr[c] : grammar.chain_ptr[c + 1]]
            p = exp(sum(weights[grammar.n_binary + rule] for rule in rules))
            self.rules.append(self._rule(full[grammar.chain_parent[c]], [base[grammar.chain_child[c]]], p))

    def _rule(self, left, right, p):
        return self.nltk.ProbabilisticProduction(left, right, prob=p)

    def parser(self, x):
        grammar, first = self.grammar, self.grammar.n_binary + self.grammar.n_unary
        lexical = [
            self._rule(self.base[grammar.lexical_tag[r]], [str(word)], self.p[first + r])
            for word in np.unique(x[:, 0])
            for r in range(grammar.lexical_ptr[word], grammar.lexical_ptr[word + 1])
        ]
        parser = self.nltk.ViterbiParser(self.nltk.CFG(self.start, self.rules + lexical))
        parser._max_time = None  # newer versions give up after some seconds
        return parser

    def best(self, x):
        """(log-probability, seconds)."""
        parser = self.parser(x)
        start = time.process_time()
        tree = next(iter(parser.parse([str(word) for word in x[:, 0]])))
        return tree.logprob() * np.log(2.0), time.process_time() - start


def threads(args, train, test):
    grammar, _, _ = read(args, train)
    X = [grammar.word_ids(tree.words()) for tree in test]
    _threads(GrammarModel(grammar), X, grammar.frequency_weights())


def speed(args, train, test):
    grammar, _, _ = read(args, train)
    weights = grammar.frequency_weights()
    model, viterbi = GrammarModel(grammar), Viterbi(grammar, weights)
    print(f"{grammar.n_symbols} symbols, {grammar.n_binary} binary rules, {grammar.n_chains} chains\n")
    print("| about words | NLTK, s | oneslack, ms | ratio |\n| ---: | ---: | ---: | ---: |")
    X = [grammar.word_ids(tree.words()) for tree in test]
    for length in args.lengths:
        same = sorted(X, key=lambda x: abs(len(x) - length))[: args.repeat]
        theirs, ours = [], []
        for x in same:
            value, seconds = viterbi.best(x)
            theirs.append(seconds)
            data = model.pack([x], None)
            z = model.predict_batch(data, Shard(0, 1), weights)
            score = (model.joint_feature(x, z) @ weights).item()
            assert abs(score - value) < 1e-6 * abs(score), (score, value)
            ours.append(statistics.median(_seconds(model, data, Shard(0, 1), weights) for _ in range(5)))
        a, b = statistics.median(theirs), statistics.median(ours)
        print(f"| {length} | {a:.2f} | {1000 * b:.2f} | {a / b:,.0f} |", flush=True)
    _threads(model, X, weights)


def _seconds(model, data, shard, weights):
    start = time.process_time()
    model.predict_batch(data, shard, weights)
    return time.process_time() - start


def _threads(model, X, weights):
    """Wall-clock time of all sentences on one and on two threads."""
    data, seconds = model.pack(X, None), {1: [], 2: []}
    model.predict_batch(data, data.shards[0], weights)  # compiled, before the clock runs
    for _ in range(5):
        for n_jobs, times in seconds.items():
            with Threads(n_jobs) as engine:
                start = time.perf_counter()
                engine.map(lambda shard: model.predict_batch(data, shard, weights), data.shards)
                times.append(time.perf_counter() - start)
    one, two = (statistics.median(times) for times in seconds.values())
    words = data.word_offsets[-1]
    print(f"\n{data.n} sentences: {words / one:,.0f} words/s on one thread, {one / two:.2f} x on two")


# F1.

#: What parts of the training trees chose for rules alone; `rules` and the table in RESULTS.md use it.
RULES = {
    "tagged": True, "horizontal": 0, "vertical": 2, "C": 1.0, "tol": 0.02, "missing": 1.6, "prior": True,
}  # fmt: skip
SETS = {"ptb15": ("ptb", 15), "ptb40": ("ptb", 40), "craft15": ("craft", 15), "craft40": ("craft", 40)}


def by_frequencies(args, train):
    """A parser whose weights are logarithms of relative frequencies."""
    parser = GrammarParser(n_jobs=args.jobs)
    parser.grammar_, _, _ = read(args, train)
    parser.model_, parser.coef_ = GrammarModel(parser.grammar_), parser.grammar_.frequency_weights()
    return parser


def learner(args, C, spans=False):
    return GrammarParser(
        C, missing=args.missing, horizontal=_horizontal(args), vertical=args.vertical, span_features=spans,
        frequencies="prior" if args.prior else True, n_jobs=args.jobs, tol=args.tol, solver=args.solver,
        time_limit=args.time_limit, verbose=args.verbose,
    )  # fmt: skip


def parsed(args, parser, trees):
    """BracketScores of what the parser makes of their sentences."""
    return bracket_scores(trees, parser.predict(sentences(args, trees)))


def learned(args, parser, train):
    """Cells: seconds of training, the parser's share of them, the gap, questions."""
    start = time.perf_counter()
    parser.fit(sentences(args, train), train)
    seconds, last = time.perf_counter() - start, parser.result_.trace[-1]
    share = f"{100 * last.oracle_seconds / seconds:.0f} %"
    return f"{seconds:.0f} s | {share} | {parser.duality_gap_:.4f} | {last.oracle_calls:,}"


def f1(args, train, test):
    print(f"{len(train)} trees for training, {len(test)} for testing, at most {args.longest} words\n")
    print(
        "| weights | F1 | precision | recall | exact | tags | training | parser's share | gap | questions |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    found = parsed(args, by_frequencies(args, train), test)
    print(f"| relative frequencies | {_cells(found)} | | | | |", flush=True)
    kinds = {"rules": ("learned", args.C, False), "spans": ("learned, span features", args.C_spans, True)}
    for name, C, spans in kinds.values() if args.only is None else [kinds[args.only]]:
        parser = learner(args, C, spans)
        cells = learned(args, parser, train)
        print(f"| {name}, C = {C:g} | {_cells(parsed(args, parser, test))} | {cells} |", flush=True)
        print(f"<!-- {parser.result_.reason} -->", flush=True)


def _cells(found):
    values = (found.f1, found.precision, found.recall, found.exact, found.tag_accuracy)
    return " | ".join(f"{100 * value:.2f}" for value in values)


def gain(trees, before, after, times=1000):
    """(F1 before, F1 after, the standard error of their difference), in points; by resampled sentences."""
    counts = np.array(
        [[_counts(*each) for each in zip(trees, some, strict=True)] for some in (before, after)]
    )
    draws = np.random.default_rng(0).integers(len(trees), size=(times, len(trees)))
    resampled = np.array([_f1(counts[:, draw].sum(axis=1)) for draw in draws])
    return *_f1(counts.sum(axis=1)), np.std(resampled[:, 1] - resampled[:, 0])


def _counts(tree, guess):
    found = bracket_scores([tree], [guess]).brackets
    return found.n_true, found.n_predicted, found.n_correct


def _f1(counts):
    """Of counts (..., 3), in points."""
    return 200 * counts[..., 2] / (counts[..., 0] + counts[..., 1])


def rules(args, folder):
    vars(args).update(RULES)
    print(
        "| set (train / test) | relative frequencies | learned | gain | training | parser's share | gap | "
        "questions |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        flush=True,
    )
    for name in args.sets:
        train, test = parts(args, folder, *SETS[name])
        X, parser = sentences(args, test), learner(args, args.C)
        cells = learned(args, parser, train)
        before, after, error = gain(test, by_frequencies(args, train).predict(X), parser.predict(X))
        name = f"{name} ({len(train):,} / {len(test):,})"
        difference = f"{after - before:+.2f} ± {error:.2f}"
        print(f"| {name} | {before:.2f} | {after:.2f} | {difference} | {cells} |", flush=True)


def folds(args, train, _):
    """Pooled F1 over held-out parts of the training trees, in the order of documents."""
    cuts = [len(train) * k // args.folds for k in range(args.folds + 1)]
    before, after = [], []
    for a, b in pairwise(cuts):
        rest, held_out = train[:a] + train[b:], sentences(args, train[a:b])
        before += by_frequencies(args, rest).predict(held_out)
        after += learner(args, args.C).fit(sentences(args, rest), rest).predict(held_out)
    print(f"{len(train)} trees of at most {args.longest} words, {args.folds} parts, C = {args.C:g}\n")
    print("| weights | F1 | precision | recall | exact | tags |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, trees in (("relative frequencies", before), ("learned", after)):
        print(f"| {name} | {_cells(bracket_scores(train, trees))} |", flush=True)
    first, second, error = gain(train, before, after)
    print(f"\ngain {second - first:+.2f} ± {error:.2f}")


# Questions.


def calls(args, train, _):
    grammar, X, Y = read(args, train)
    spans = SpanFeatures.read(grammar, X, Y) if args.spans else None
    model = GrammarModel(grammar, args.loss, spans, frequencies=True)
    print(f"{len(X)} sentences, C = {args.C:g}, relative gap {args.tol:g}, loss {args.loss}\n")
    print("| solver | questions | from the cache | rounds | seconds | parser's share | gap |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    solvers = {"n-slack": NSlack(), "n-slack, a part at a time": NSlack(inner=0.3, parts=PARTS)}
    solvers |= {"dual steps": DualCD(), "one-slack": OneSlack()}
    for k in args.cache_sizes:
        solvers[f"one-slack, cache of {k}"] = OneSlack(cache_size=k)
        solvers[f"one-slack, cache of {k}, a part at a time"] = OneSlack(cache_size=k, parts=PARTS)
    for name, solver in solvers.items():
        problem = Problem(model, X, Y, args.C, n_jobs=args.jobs)
        start = time.perf_counter()
        with problem.engine:
            result = oneslack.solve(problem, solver, tol=args.tol)
        seconds, work = time.perf_counter() - start, problem.work
        gap = (result.primal - result.dual) / result.primal
        share = work.oracle_seconds / seconds
        cells = [f"{work.oracle_calls:,}", f"{work.cached:,}", str(result.n_iter), f"{seconds:.0f}"]
        print(f"| {name} | {' | '.join(cells)} | {100 * share:.0f} % | {gap:.4f} |", flush=True)


# Everything.


def everything(args, train, test):
    spans = args.only != "rules"
    args.verbose = args.verbose or 2  # a line a step: before P is known a step takes long
    print(f"{len(train):,} trees of at most {args.longest} words", flush=True)
    parser = learner(args, args.C_spans if spans else args.C, spans)
    seconds, share, gap, questions = learned(args, parser, train).split(" | ")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # Linux counts in KiB
    print(
        f"{len(parser.coef_):,} weights: {seconds}, {share} of it in the parser, {questions} questions, "
        f"gap {gap}, peak of memory {peak:.2f} GB",
        flush=True,
    )
    before = 100 * parsed(args, by_frequencies(args, train), test).f1
    after = 100 * parsed(args, parser, test).f1
    print(f"F1 {before:.2f} by relative frequencies, {after:.2f} learned: {after - before:+.2f}")


RUNS = {"speed": speed, "threads": threads, "f1": f1, "folds": folds, "calls": calls, "all": everything}


def parts(args, folder, name, longest):
    """(training trees, test trees) as --limit, --choose and --test-longest say."""
    train, test = corpus(folder, name, longest)
    test = [tree for tree in test if len(tree.words()) <= (args.test_longest or longest)]
    train = train[: args.limit]
    if not args.choose:
        return train, test
    n = len(train) * 9 // 10
    return train[:n], train[n:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("part", choices=[*RUNS, "rules"])
    parser.add_argument("--corpus", choices=["ptb", "craft"], help="ptb, but for all")
    parser.add_argument("--longest", type=int, default=40)
    parser.add_argument(
        "--sets", nargs="*", choices=SETS, default=list(SETS), help="rules: rows of the table"
    )
    parser.add_argument("--test-longest", type=int, help="test only sentences of at most so many words")
    parser.add_argument("--limit", type=int, help="use only the first trees for training")
    parser.add_argument("--choose", action="store_true", help="test on the last tenth of the training trees")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--only", choices=["rules", "spans"], help="f1, all: learn only this")
    parser.add_argument("--horizontal", type=int, default=1, help="-1 for whole rules")
    parser.add_argument("--tagged", action="store_true", help="the tags of words are given")
    parser.add_argument("--vertical", type=int, default=1)
    parser.add_argument("--C", type=float, default=0.1)
    parser.add_argument("--C-spans", type=float, default=0.03)
    parser.add_argument("--loss", default="brackets")
    parser.add_argument("--missing", type=float, default=1.0, help="what a missing bracket costs, 0 to 2")
    parser.add_argument("--prior", action="store_true", help="weights are drawn to relative frequencies")
    parser.add_argument("--spans", action="store_true", help="calls: with span features")
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--cache-sizes", type=int, nargs="*", default=[10])
    parser.add_argument("--lengths", type=int, nargs="*", default=[5, 10, 15, 20])
    parser.add_argument("--repeat", type=int, default=3, help="speed: sentences of about each length")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", type=int, default=0)
    args = parser.parse_args()
    folder = data_folder(args.data)
    if args.part == "rules":
        rules(args, folder)
    else:
        name = args.corpus or ("craft" if args.part == "all" else "ptb")
        RUNS[args.part](args, *parts(args, folder, name, args.longest))


if __name__ == "__main__":
    main()
