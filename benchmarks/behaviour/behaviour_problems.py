"""Cases of behaviour.py: problems by every solver, checkpoints, workers, shards, paths, files and checks."""

import os
from functools import partial
from itertools import chain, product

import behaviour_data as data
import numpy as np
import scipy.sparse as sp
from behaviour_facts import about, each, of_file, of_folder, of_model, of_result, steady, word

import oneslack
from oneslack import (
    Binary,
    Chain,
    GrammarParser,
    KernelSVC,
    LinearSVC,
    LinearSVR,
    NSlack,
    OneSlack,
    Streaming,
)
from oneslack.formats import ShardWriter, open_shards, pack
from oneslack.metrics import bracket_scores, phrase_scores

CHAIN, CLASSES, RBF = Chain(3, 3), oneslack.Multiclass(8, 3), oneslack.Kernel("rbf", gamma=2.0)
NAMED = ("auto", "one_slack", "n_slack", "dual_cd", "newton", "streaming", "distributed_dual")
SAMPLED = (
    "auto", "dual_cd", oneslack.ExactKernel(), oneslack.SampledCuts(sample_size=30),
    oneslack.SampledCuts("constant", 40), oneslack.BasisFunctions(20),
)  # fmt: skip


def cases():
    return chain(
        solvers(), starts(), checkpoints(), splits(), shards(), constraints(), risks(), paths(), saved(),
        checks(),
    )  # fmt: skip


def packed(X, y, weight=None, dtype="float64"):
    """The rows in several files of a new folder."""
    folder = next(name for k in range(99) if not os.path.exists(name := f"shards{k}"))
    with ShardWriter(folder, dtype=dtype, shard_size="2KB") as writer:
        for k in range(0, X.shape[0], 30):
            rows = slice(k, k + 30)
            writer.append(X[rows], y[rows], sample_weight=None if weight is None else weight[rows])
    return open_shards(folder)


def grammatical(**options):
    """(model, X, Y) of a grammar."""
    grammar = GrammarParser(min_count=1, tol=1.0, n_jobs=1).fit(data.trees()).grammar_
    bank = [oneslack.Tree.parse(text) for text in data.trees()]
    words = [grammar.word_ids(tree.words()) for tree in bank]
    return oneslack.GrammarModel(grammar, **options), words, [grammar.encode(tree) for tree in bank]


def general(**options):
    """Constraints in groups of three."""
    X, y = data.signs()
    return oneslack.ConstraintProblem(X * y[:, None], np.linspace(0.5, 1.5, 120), **options)


def problem(model, given, C=1.0, **options):
    return lambda: oneslack.Problem(model, *given(), C, **options)


def split(model, given, workers=2, **options):
    crews = oneslack.ThreadCrews(workers)
    return lambda: oneslack.SplitProblem(model, *given, 0.3, engine=crews, **options)


GROUPS = np.arange(120) // 3
PROBLEMS = {
    "binary": problem(Binary(8), data.signs, 0.5),
    "intercept": problem(Binary(8, True), data.signs, sample_weight=data.weights()),
    "nonnegative": problem(Binary(8), data.signs, prior=np.full(8, -0.1), nonnegative=True),
    "multiclass": problem(CLASSES, data.codes, n_jobs=2),
    "intercepts": problem(oneslack.Multiclass(8, 3, True, 1.0 - np.eye(3)), data.codes, 0.1),
    "regression": problem(oneslack.Regression(6, 0.2, True), data.numbers, 0.5),
    "ranking": problem(oneslack.Ranking(5), lambda: data.queries()[:2]),
    "chain": problem(Chain(3, 3, end=True), data.chains),
    "slack": problem(Chain(3, 3, order=2), data.chains, rescaling="slack", n_jobs=2),
    "grammar": lambda: oneslack.Problem(*grammatical(missing=1.3)),
    "flags": problem(data.Flags(), data.flags, sample_weight=data.weights(40)),
    "constraints": partial(general, groups=GROUPS),
    "sharded": lambda: oneslack.ShardedProblem(Binary(8), packed(*data.points(), weight=data.weights())),
    "split": split(Binary(8), data.signs()),
    "split chain": split(CHAIN, data.chains(), 3),
    "split shards": lambda: split(Binary(8), (packed(*data.points()), lambda part: 2.0 * part.codes - 1))(),
    "kernel": lambda: oneslack.KernelProblem(Binary(2), RBF, *data.board(), 10.0),
    "kernel intercepts": lambda: oneslack.KernelProblem(CLASSES, RBF, *data.codes(), intercept=True),
    "kernel regression": lambda: oneslack.KernelProblem(oneslack.Regression(6, 0.2), RBF, *data.numbers()),
    "kernel chain": lambda: oneslack.KernelChainProblem(CHAIN, RBF, *data.chains()),
}
#: Solvers with options of their own.
KERNEL = (
    oneslack.ExactKernel(block=16), oneslack.ExactKernel(max_passes=3, seed=5),
    oneslack.BasisFunctions(20, "pivoted"), oneslack.BasisFunctions(20, solver="dual_cd"),
    oneslack.SampledCuts(sample_size=30, line_search=False, touch=False, spread=False),
    oneslack.SampledCuts("constant", 40, checked=50, seed=3),
    oneslack.SampledCuts("constant", 40, line_search=False),
)  # fmt: skip
TUNED = {
    "binary": (OneSlack(line_search=False), OneSlack(planes=4), OneSlack(drop_after=3), oneslack.DualCD(7)),
    "chain": (OneSlack(cache_size=3), OneSlack(cache_size=3, parts=4), NSlack(parts=4), Streaming("20KB")),
    "flags": (OneSlack(cache_size=3), NSlack(batch=7, forget_after=3), Streaming("20KB")),
    "split": (OneSlack(planes=4), oneslack.DistributedDual(passes=3, seed=2)),
    "sharded": (Streaming("17KB"), OneSlack(planes=4)),
    "kernel": KERNEL,
}


def solved(problem, solver, **options):
    """What a problem, made here, comes to."""
    if isinstance(solver, oneslack.SampledCuts):
        options = {"epsilon": 0.005, **options}
    problem = problem()
    with problem.engine:
        return of_result(oneslack.solve(problem, solver, **{"max_iter": 3000, **options}))


def by_solver(run, solvers):
    """One case: run(solver) for each of them."""
    return each({word("solver", solver): partial(run, solver) for solver in solvers})


def solvers():
    for name, make in PROBLEMS.items():
        tried = (*(SAMPLED if name.startswith("kernel") else NAMED), *TUNED.get(name, ()))
        yield f"solve/{name}", by_solver(partial(solved, make), tried)


def starts():
    """Runs that begin at another one's end; callbacks; Ctrl-C."""

    def begun(first, then, solver):
        start = oneslack.solve(first(), solver, tol=0.1)
        return solved(then, solver, tol=1e-4, start=start)

    tried = {
        "binary": ("one_slack", "dual_cd", "newton", "streaming"),
        "chain": ("one_slack", "dual_cd", "n_slack"),
        "kernel": (oneslack.ExactKernel(block=16), oneslack.BasisFunctions(20)),
    }  # fmt: skip
    other = {
        "binary": problem(Binary(8), data.signs, 2.0),
        "chain": problem(Chain(3, 3, end=True), data.chains, 3.0),
    }
    for name, them in tried.items():
        yield f"start/{name}/same problem", by_solver(partial(begun, PROBLEMS[name], PROBLEMS[name]), them)
        if name in other:
            yield f"start/{name}/other C", by_solver(partial(begun, PROBLEMS[name], other[name]), them)

    def ctrl_c(row):
        if row.iteration == 3:
            raise KeyboardInterrupt

    def interrupted():
        try:
            return solved(PROBLEMS["chain"], "n_slack", callbacks=[ctrl_c])
        except oneslack.Interrupted as stop:
            return of_result(stop.result)

    run = partial(solved, PROBLEMS["binary"], "one_slack")
    yield "start/a point", partial(run, start=np.linspace(-1, 1, 8))
    yield "stop/callback", partial(run, callbacks=[lambda row: row.gap < 0.1])
    yield "stop/Ctrl-C returns", partial(run, callbacks=[ctrl_c], interrupt="return")
    yield "stop/Ctrl-C", interrupted


def checkpoints():
    """Runs that are cut short and resumed.  Their files have a case of their own: what solvers remember of a
    run is an inner matter."""
    linear, structured = ("one_slack", "dual_cd", "newton", "streaming"), ("one_slack", "dual_cd", "n_slack")
    structured += (OneSlack(cache_size=3, parts=4), NSlack(parts=4), "streaming", Streaming("20KB"))
    tried = {
        "binary": linear, "intercept": linear, "chain": structured, "flags": structured,
        "ranking": ("one_slack",), "constraints": ("dual_cd",),
        "sharded": ("streaming", Streaming("17KB"), "one_slack"), "split": ("distributed_dual", "one_slack"),
        "kernel": SAMPLED[2:], "kernel chain": SAMPLED[3:4],
        "split chain": ("distributed_dual", "one_slack", OneSlack(cache_size=3)),
    }  # fmt: skip

    def resumed(make, solver):
        run = partial(solved, make, solver, checkpoint="run")
        return {"short": run(max_iter=2), "resumed": run(resume=True), "removed": not os.path.exists("run")}

    def written(make, solver):
        solved(make, solver, checkpoint="run", max_iter=2)
        facts = of_file("run")
        os.remove("run")
        return facts

    for name, them in tried.items():
        yield f"checkpoint/{name}", by_solver(partial(resumed, PROBLEMS[name]), them)
    files = {name: by_solver(partial(written, PROBLEMS[name]), them) for name, them in tried.items()}
    yield "checkpoint files", each(files)

    def refused(name, solver, resume=True):
        if not os.path.exists("run"):
            solved(PROBLEMS["binary"], "dual_cd", checkpoint="run", max_iter=2)
        return solved(PROBLEMS[name], solver, checkpoint="run", resume=resume)

    other = {
        "there": ("binary", "dual_cd", False),
        "solver": ("binary", "newton"),
        "data": ("nonnegative", "dual_cd"),
    }
    yield "checkpoint/refused", each({name: partial(refused, *them) for name, them in other.items()})


def splits():
    """Workers in threads, each with examples of its own.  Whether the cache of a model in Python pays is
    measured by the clock, so that its solver is never left to "auto"."""
    more = {"sample_weight": data.weights(), "prior": np.ones(24), "scale": 2.0}
    table = {
        "multiclass": split(CLASSES, data.codes()),
        "regression": split(oneslack.Regression(6, 0.2), data.numbers()),
        "intercept": split(Binary(8, True), data.signs()), "chain": split(CHAIN, data.chains()),
        "flags": split(data.Flags(), data.flags()), "sparse flags": split(data.SparseFlags(), data.flags()),
        "three workers": split(CHAIN, data.chains(), 3), "one worker": split(CHAIN, data.chains(), 1),
        "slack": split(CHAIN, data.chains(), rescaling="slack"),
        "prior": split(CLASSES, data.codes(), **more),
        "ranking": split(oneslack.Ranking(5), data.queries()[:2]),
    }  # fmt: skip
    tried = (
        OneSlack(), OneSlack(cache_size=3), OneSlack(planes=3), NSlack(), oneslack.DistributedDual(),
    )  # fmt: skip
    for name, make in table.items():
        yield f"split/{name}", by_solver(partial(solved, make), tried)


def shards():
    """Examples on disk."""
    X, y = data.points()
    table = {"two classes": (LinearSVC, X, y), "csr": (LinearSVC, sp.csr_matrix(X), y)}
    table |= {"three classes": (LinearSVC, *data.points(3)), "numbers": (LinearSVR, *data.numbers())}

    def run(kind, X, y, memory, dtype="float64", weight=None, **options):
        folder = packed(X, y, weight, dtype)
        model = kind(**{"solver": Streaming(memory), "n_jobs": 1, **options}).fit(folder)
        return of_model(model, folder, but=("decision_function",)) | {"files": of_folder(folder.path)}

    for (name, given), bias in product(table.items(), (True, False)):
        little = {"three classes": "60KB", "numbers": "14KB"}.get(name, "18KB")  # rows stay on disk
        runs = {memory: partial(run, *given, memory, fit_intercept=bias) for memory in ("1MB", little, "5KB")}
        yield f"shards/{name}/{word('fit_intercept', bias)}", each(runs)
    more = [
        {"dtype": "float32"}, {"weight": data.weights()}, {"multi_class": "ovr"},
        {"prior": np.ones(8), "scale": 2.0}, {"class_weight": "balanced"}, {"nonnegative": True},
        {"n_jobs": 2}, {"random_state": 3},
    ]  # fmt: skip
    given = (*table["three classes"], "60KB")
    runs = {"/".join(word(*item) for item in one.items()): partial(run, *given, **one) for one in more}
    yield "shards/three classes/options", each(runs)

    def tagger(solver):
        write("text.conll", data.conll())
        pack(["text.conll"], "text", columns=["w", "pos", "chunk"], shard_size="1KB")
        model = oneslack.SequenceTagger(templates="w[-1..1]", n_jobs=1, solver=solver)
        return of_model(model.fit(open_shards("text"), "chunk"), open_shards("text")) | of_folder("text")

    for solver in (Streaming("1MB"), Streaming("60KB"), "dual_cd", "one_slack"):
        yield f"shards/sentences/{word('solver', solver)}", partial(tagger, solver)


def write(path, text):
    """A file of a time that is always the same, as packed folders remember it."""
    with open(path, "w") as file:
        file.write(text)
    os.utime(path, (0, 0))


def constraints():
    table = {
        "a slack a row": {}, "groups": {"groups": GROUPS[::-1]},
        "weights": {"groups": GROUPS, "weights": data.weights(40)},
        "prior": {"groups": GROUPS, "prior": np.ones(8), "scale": 2.0},
        "nonnegative": {"nonnegative": True, "C": 10.0},
    }  # fmt: skip

    def run(options, solver):
        problem = general(**options)
        result = oneslack.solve(problem, solver)
        facts = of_result(result)
        if solver == "dual_cd":
            (part, kept), alpha = problem.pruned(result), problem.duals(result)
            facts |= {"duals": about(alpha), "kept": about(kept), "dual of kept": part.dual(alpha[kept])}
        return facts

    for name, options in table.items():
        yield f"ConstraintProblem/{name}", by_solver(partial(run, options), ("dual_cd", "one_slack"))


def risks():
    X, y = data.signs()

    def hinge(w):
        margins = y * (X @ w)
        return float(np.maximum(1 - margins, 0).sum()), -(X * y[:, None])[margins < 1].sum(axis=0)

    table = {
        "plain": {}, "floor": {"floor": 0.0, "C": 0.1},
        "prior": {"w0": np.ones(8), "scale": np.linspace(1, 3, 8)},
        "nonnegative": {"nonnegative": [0, 1], "floor": 0.0}, "max_iter": {"max_iter": 3},
        "start": {"start": np.ones(8)}, "w0 refused": {"w0": np.ones(3)},
    }  # fmt: skip
    runs = {
        name: lambda one=one: of_result(oneslack.minimize(hinge, 8, **one)) for name, one in table.items()
    }
    yield "minimize", each(runs)


def paths():
    (X, y), grid = data.points(), [0.01, 1.0, 30.0]
    table = {solver: (LinearSVC(solver=solver), X, y) for solver in ("auto", "dual_cd", "one_slack")}
    table |= {
        "ovr": (LinearSVC(multi_class="ovr"), *data.points(3)), "LinearSVR": (LinearSVR(), *data.numbers()),
        "three classes": (LinearSVC(fit_intercept=False), *data.points(3)),
        "MetricSVC": (oneslack.MetricSVC(), X, y), "RankSVM": (oneslack.RankSVM(), *data.queries()[:2]),
        "KernelSVC": (KernelSVC(gamma=2.0), *data.board()),
    }  # fmt: skip
    tuned = {
        "n_jobs=2": (LinearSVC(), X, y, {"n_jobs": 2}),
        "all C": (LinearSVC(), X, y, {"stop_early": False, "refit": False}),
        "scoring": (LinearSVC(), X, y, {"scoring": "balanced_accuracy"}),
        "gamma": (KernelSVC(), *data.board(), {"grid": {"gamma": [0.3, 3.0]}}),
    }  # fmt: skip

    def path(model, X, y):
        found = oneslack.path(model.set_params(n_jobs=1), X, y, C=grid)
        return {f"C={one.C:g}": of_model(one, X) for one in found} | {"coef": about(found.coef)}

    def tune(model, X, y, options=None):
        found = oneslack.tune(
            model.set_params(n_jobs=1), X, y, C=grid, cv=3, **{"n_jobs": 1, **(options or {})}
        )
        facts = {"best": found.best_params, "scores": about(found.scores), "rows": about(found.rows())}
        return facts | ({} if found.model is None else of_model(found.model, X))

    for name, arguments in table.items():
        yield f"path/{name}", partial(path, *arguments)
    for name, arguments in (table | tuned).items():
        yield f"tune/{name}", partial(tune, *arguments)


def saved():
    """Model files, and what is read from them."""
    (X, y), (Q, grades, _), (words, tags, _) = data.points(), data.queries(), data.tagged()
    sparse = sp.csr_matrix(data.points(3)[0]), data.points(3)[1]
    tagger, structural = oneslack.SequenceTagger, oneslack.StructuralSVM
    table = {
        "LinearSVC": (LinearSVC(C=0.3, class_weight={"no": 1.0, "yes": 2.0}), X, y),
        "LinearSVC, numbers": (LinearSVC(), X, y == "yes"),
        "LinearSVC, three classes": (LinearSVC(loss=1 - np.eye(3)), *data.points(3)),
        "LinearSVC, ovr": (LinearSVC(multi_class="ovr", prior=np.ones(8)), *data.points(3)),
        "LinearSVR": (LinearSVR(epsilon=0.1, nonnegative=[0, 1]), *data.numbers()),
        "RankSVM": (oneslack.RankSVM(), Q, grades), "OrdinalSVC": (oneslack.OrdinalSVC(), Q, grades),
        "RankSVM, kernel": (oneslack.RankSVM(kernel="rbf", n_basis=10), Q, grades),
        "MetricSVC": (oneslack.MetricSVC("fbeta", beta=2.0), X, y),
        "MetricSVC, function": (oneslack.MetricSVC(data.costs, C=0.1), X, y),
        "MetricSVC, labels": (oneslack.MetricSVC("roc_auc"), *data.flags()),
        "KernelSVC": (KernelSVC(gamma=2.0), *data.board()),
        "KernelSVC, three classes": (KernelSVC(kernel="poly", method="basis", n_basis=10), *sparse),
        "SequenceTagger": (tagger(order=2, start=True), data.dicts(), tags),
        "SequenceTagger, templates": (tagger(templates="chunking"), data.sentences(), "chunk"),
        "SequenceTagger, hashed": (tagger(hash_bits=6), data.dicts(), tags),
        "SequenceTagger, kernel": (tagger(kernel="rbf", n_basis=10), *data.chains()),
        "GrammarParser": (GrammarParser(min_count=1, span_features=True), words[:16], data.trees()),
        "StructuralSVM, Chain": (structural(Chain(3, 3, end=True)), *data.chains()),
        "StructuralSVM, Multiclass": (structural(CLASSES), *data.codes()),
        "StructuralSVM, own model": (structural(data.Flags(), solver=OneSlack()), *data.flags()),
        "LatentSVM": (oneslack.LatentSVM(data.Bump()), *data.signals()[:2]),
        "LatentStructuralSVM": (oneslack.LatentStructuralSVM(data.Halves(), n_starts=2), *data.halves()),
    }  # fmt: skip

    def kept(model, X):
        model.save("model")
        again = oneslack.load("model", **{"model": model.model} if "Latent" in type(model).__name__ else {})
        again.save("again")
        facts = of_file("model")
        return facts | {"loaded": of_model(again, X), "same again": facts == of_file("again")}

    def run(model, X, y):
        model.set_params(n_jobs=1).fit(X, y)
        checked = partial(told, oneslack.check_certificate, model, X, y)
        return each({"file": partial(kept, model, X), "certificate": checked})()

    for name, arguments in table.items():
        yield f"save/{name}", partial(run, *arguments)


def told(check, *arguments):
    return {"told": str(check(*arguments))}


def checks():
    """Models of three methods, looked at before they are trained."""
    (F, flag), w = data.flags(), np.linspace(-1, 1, 12)
    tried = {
        "Binary": (Binary(8), *data.signs()), "Multiclass": (CLASSES, *data.codes()),
        "Chain": (CHAIN, *data.chains(8)), "Regression": (oneslack.Regression(6), *data.numbers()),
        "Flags": (data.Flags(), F[:8], flag[:8]), "ForgetfulFlags": (data.ForgetfulFlags(), F[:8], flag[:8]),
    }  # fmt: skip
    runs = {name: partial(told, oneslack.check_model, *arguments) for name, arguments in tried.items()}
    yield "check_model", each(runs | {"GrammarModel": lambda: told(oneslack.check_model, *grammatical())})
    latent = {"Bump": (data.Bump(), *data.signals()[:2]), "Halves": (data.Halves(), *data.halves())}
    runs = {name: partial(told, oneslack.check_latent_model, *latent[name]) for name in latent}
    yield "check_latent_model", each(runs)
    yield "brute_force", partial(told, oneslack.brute_force, data.Flags(), w, F[0], flag[0])

    def forged():
        model = LinearSVC(n_jobs=1).fit(*data.points())
        model.coef_ = 3.0 * model.coef_
        return told(oneslack.check_certificate, model, *data.points())

    yield "check_certificate/forged", forged

    def words():
        result = oneslack.solve(PROBLEMS["chain"](), "one_slack")
        problem = PROBLEMS["kernel chain"]()
        expansion = oneslack.solve(problem, SAMPLED[3], epsilon=0.005).w
        decoded = problem.decode(expansion, data.chains()[0])
        facts = {
            "text": steady(str(result)),
            "html": steady(result._repr_html_()),
            "decoded": about(decoded.values),
        }
        bank = [oneslack.Tree.parse(text) for text in data.trees()]
        chunks = data.tagged()[2]
        scores = [phrase_scores(chunks, [labels[::-1] for labels in chunks]), bracket_scores(bank, bank)]
        return facts | {"trees": about([tree.pretty() for tree in bank]), "scores": about(scores)}

    yield "words", words
