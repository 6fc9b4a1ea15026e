"""Cases of behaviour.py: every estimator, with every solver and option that it takes."""

from functools import partial
from itertools import chain, product

import behaviour_data as data
import numpy as np
import scipy.sparse as sp
from behaviour_facts import about, each, of_model, word

import oneslack
from oneslack import Chain, KernelSVC, LinearSVC, LinearSVR, MetricSVC, OneSlack, RankSVM, Streaming

FORMS = {
    "csr": sp.csr_matrix, "float32": lambda X: X.astype(np.float32),
    "csr float32": lambda X: sp.csr_matrix(X.astype(np.float32)),
}  # fmt: skip
DUAL = ("dual_cd", "newton", "one_slack")
FOUR = (*DUAL, "streaming")
COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 0.5, 0.0]])
PRIOR, SCALE = np.linspace(-1, 1, 8), np.linspace(0.5, 3, 8)


def cases():
    return chain(
        linear_svc(), again(), linear_svr(), ranking(), metric(), kernel(), taggers(), parsers(),
        structural(), latent(), large(),
    )  # fmt: skip


def axis(**values):
    """Options of one name: axis(C=(1, 2)) is [{"C": 1}, {"C": 2}]."""
    ((name, them),) = values.items()
    return [{name: value} for value in them]


BIAS = axis(fit_intercept=(True, False))


def fits(kind, given, *axes, title="", new=None, but=(), fit=(), **common):
    """A case for each combination of options, one of each axis, fitted to the data `given`.

    The options "form" and "weight" are no parameters: they say how X looks, and that examples have weights.
    `title` stands in the names; `new` is what to answer for, or X; `fit` is what the method gets beside.
    """
    for parts in product(*axes):
        options = {name: value for part in parts for name, value in part.items()}

        def run(options=options):
            X, *targets = given
            own = {"n_jobs": 1, **common, **options}
            if form := own.pop("form", None):
                X = FORMS[form](X)
            beside = {"sample_weight": data.weights(len(targets[0]))} if own.pop("weight", False) else {}
            model = kind(**own).fit(X, *targets, **beside, **dict(fit))
            return of_model(model, X if new is None else new, but)

        words = [kind.__name__, title, *(word(name, options[name]) for name in options)]
        yield "/".join(filter(None, words)) + ("" if title or options else "/plain"), run


def linear_svc():
    fit = partial(fits, LinearSVC)
    two, three, wide = data.points(), data.points(3), data.points(n=60, d=300)
    weighed = [
        {"weight": True}, {"class_weight": {"no": 1.0, "yes": 3.0}},
        {"weight": True, "class_weight": "balanced"}, {"loss": [[0, 1], [4, 0]]}, {"prior": PRIOR},
        {"scale": [(slice(0, 3), 10.0), ([6, 7], 3.0)]},
        {"prior": PRIOR, "scale": SCALE, "fit_intercept": False}, {"nonnegative": True},
        {"nonnegative": [0, 2, 5], "prior": SCALE, "fit_intercept": False}, {"max_iter": 2},
        {"epsilon": 0.05}, {"tol": 1e-13, "max_iter": 300}, {"random_state": 5, "n_jobs": 2},
    ]  # fmt: skip
    other = [
        {"C": "auto"}, {"solver": "n_slack"}, {"solver": "n_slack", "fit_intercept": False}, {"verbose": 2},
        {"solver": "distributed_dual"}, {"engine": "threads", "n_jobs": 2}, {"form": "csr float32"},
        {"solver": OneSlack(line_search=False), "epsilon": 0.05}, {"solver": OneSlack(planes=4)},
    ]  # fmt: skip
    yield from fit(two, axis(solver=FOUR), BIAS, axis(form=("csr",)), axis(C=(0.01, 10.0)))
    yield from fit(two, axis(solver=FOUR))
    yield from fit(two, axis(solver=DUAL), axis(form=("float32", "csr float32")))
    yield from fit(two, axis(solver=DUAL), weighed)
    yield from fit(two, other)
    yield from fit(wide, [{}, {"form": "csr", "fit_intercept": False}], title="wide", C=0.1)
    for name, y in {"numbers": np.where(two[1] == "yes", 7, -2), "booleans": two[1] == "yes"}.items():
        yield from fit((two[0], y), [{}], title=f"labels of {name}")
    uneven = two[0] * 10.0 ** np.arange(-4, 4), two[1]
    yield from fit(uneven, axis(solver=DUAL), title="uneven columns", max_iter=500)
    options = [
        {"multi_class": "ovr"}, {"multi_class": "ovr", "fit_intercept": False, "C": 0.1}, {"loss": COSTS},
        {"prior": np.linspace(-1, 1, 24).reshape(3, 8), "scale": 2.0},
        {"class_weight": "balanced", "C": 10.0}, {"nonnegative": True, "fit_intercept": False},
        {"weight": True, "n_jobs": 2},
    ]  # fmt: skip
    yield from fit(three, axis(solver=FOUR), BIAS, axis(form=("csr",)), title="three classes")
    yield from fit(three, axis(solver=DUAL), options, title="three classes")


def again():
    """Warm starts, and portions of the data."""

    def warm(kind, given, how, **options):
        model = kind(warm_start=True, n_jobs=1, tol=0.05, **options).fit(*given)
        first = model.n_iter_
        model.set_params(**{"C": 3.0} if how == "other C" else {}, tol=1e-4)
        rows = slice(10, None) if how == "other data" else slice(None)
        return of_model(model.fit(*(part[rows] for part in given)), given[0]) | {"first n_iter": first}

    tried = [(LinearSVC, data.points(), {"solver": solver}) for solver in DUAL]
    tried += [(LinearSVR, data.numbers(), {"solver": solver}) for solver in DUAL]
    tried += [(LinearSVC, data.points(3), {"multi_class": "ovr"}), (RankSVM, data.queries()[:2], {})]
    tried += [(oneslack.OrdinalSVC, data.queries()[:2], {}), (MetricSVC, data.points(), {"metric": "f1"})]
    tried += [(oneslack.StructuralSVM, data.flags(), {"solver": OneSlack(), "model": data.Flags()})]
    for kind, given, options in tried:
        words = [word(name, options[name]) for name in options if name != "model"]
        hows = ("smaller tol", "other C", "other data")
        runs = {how: partial(warm, kind, given, how, **options) for how in hows}
        yield "/".join(["warm start", kind.__name__, *words]), each(runs)

    def portions(kind, given, memory, **options):
        model, facts = kind(n_jobs=1, **options), {}
        beside = {} if kind is LinearSVR else {"classes": np.unique(given[1])}
        for k in range(3):
            model.partial_fit(given[0][k::3], given[1][k::3], memory=memory, **beside)
            facts[f"portion {k}"] = of_model(model, given[0])
        return facts

    tried = {
        "LinearSVC": (LinearSVC, data.points(), {}),
        "LinearSVR": (LinearSVR, data.numbers(), {"epsilon": 0.1}),
        "no intercept": (LinearSVC, data.points(), {"fit_intercept": False}),
        "three classes": (LinearSVC, data.points(3), {}),
        "ovr": (LinearSVC, data.points(3), {"multi_class": "ovr"}),
    }  # fmt: skip
    for name, (kind, given, options) in tried.items():
        runs = {memory: partial(portions, kind, given, memory, **options) for memory in ("100MB", "4KB")}
        yield f"partial_fit/{name}", each(runs)


def linear_svr():
    fit = partial(fits, LinearSVR)
    options = [
        {"form": "float32"}, {"C": 0.1}, {"C": 100.0, "epsilon": 0.1},
        {"prior": PRIOR[:6], "scale": [(slice(0, 3), 4.0)]}, {"nonnegative": True}, {"max_iter": 2},
        {"weight": True, "n_jobs": 2},
    ]  # fmt: skip
    yield from fit(data.numbers(), axis(solver=FOUR), BIAS, axis(form=("csr",)), epsilon=0.3)
    yield from fit(data.numbers(), axis(solver=DUAL), options)
    yield from fit(data.numbers(), [{"C": "auto"}, {"random_state": 3}])
    yield from fit(data.numbers(offset=1e6), axis(solver=DUAL), title="far from zero")


def ranking():
    X, y, groups = data.queries()
    options = [
        {}, {"C": 10.0}, {"epsilon": 0.05}, {"max_iter": 3}, {"solver": "one_slack", "n_jobs": 2},
        {"form": "csr"}, {"form": "float32"}, {"weight": True},
    ]  # fmt: skip
    more = [{"kernel": "rbf", "n_basis": 20}, {"kernel": "poly", "n_basis": 10}, {"solver": "dual_cd"}]
    yield from fits(RankSVM, (X, y), options + more, title="groups", fit={"groups": groups})
    yield from fits(RankSVM, (X, y), [{}, {"C": 0.01}], title="one group")
    yield from fits(RankSVM, data.numbers(), [{}], title="numbers")
    yield from fits(oneslack.OrdinalSVC, (X, y), [*options, {"class_weight": "balanced"}])
    yield from fits(oneslack.OrdinalSVC, (X, y > 1), [{}], title="two classes")

    def ranks():
        model = RankSVM(n_jobs=1).fit(X, y, groups=groups)
        return {"rank": about(model.rank(X, groups)), "score": model.score(X, y, groups)}

    yield "RankSVM/rank and score", ranks


def metric():
    fit = partial(fits, MetricSVC)
    order = [
        *axis(metric=("prbep", "roc_auc", "average_precision")), {"metric": "precision_at_k", "k": 15},
        {"metric": "recall_at_k", "k": 0.2},
    ]  # fmt: skip
    cut = [*axis(metric=("error", "f1", data.costs)), {"metric": "fbeta", "beta": 2.0}]
    cut += [{"metric": data.costs, "concave": True}]
    options = [{"C": 10.0, "form": "csr float32"}, {"epsilon": 0.02, "n_jobs": 2}, {"max_iter": 3}]
    both = axis(metric=("f1", "roc_auc"))
    yield from fit(data.points(), order, C=0.1)
    yield from fit(data.points(), cut, BIAS, C=0.1)
    yield from fit(data.points(), axis(metric=("error",)), axis(solver=DUAL))
    yield from fit(data.points(), both, options)
    yield from fit(data.points(3), both, title="three classes", C=0.1)
    yield from fit(data.flags(), both, title="labels", C=0.1)


def kernel():
    fit = partial(fits, KernelSVC)
    board, three = data.board(), data.points(3, n=80)
    methods = [
        {"method": "exact"}, {"method": "linear", "sample_size": 30}, {"method": "basis", "n_basis": 25},
        {"method": "constant", "sample_size": 40, "epsilon": 0.01},
    ]  # fmt: skip
    options = [
        {"kernel": "poly", "coef0": 1.0, "gamma": 0.3}, {"kernel": "laplacian"}, {"fit_intercept": True},
        {"weight": True, "class_weight": "balanced", "n_jobs": 2}, {"C": 100.0, "max_iter": 3},
    ]  # fmt: skip
    many = [{"multi_class": "crammer_singer"}, {"multi_class": "ovr", "form": "csr"}]
    other = [{"method": "exact", "memory": 20_000}, {"form": "csr float32"}, {"gamma": 0.1}]
    other += axis(kernel=("linear", data.intersection, data.wave))
    yield from fit(board, methods, options, gamma=2.0)
    yield from fit(three, methods, many, title="three classes")
    yield from fit(three, BIAS, title="three classes")
    yield from fit(board, other)
    yield from fit((data.intersection(board[0], board[0]), board[1]), axis(kernel=("precomputed",)))
    smooth = KernelSVC(gamma=0.5, n_jobs=1)
    yield "KernelSVC/reduced", lambda: of_model(smooth.fit(*board).reduce(0.05), board[0])
    features = [{}, {"choice": "pivoted"}, {"kernel": "laplacian", "form": "csr", "random_state": 4}]
    yield from fits(oneslack.KernelFeatures, (board[0], None), features, n_basis=20)


def taggers():
    fit = partial(fits, oneslack.SequenceTagger)
    (words, tags, chunks), (X, Y), dicts = data.tagged(), data.chains(), data.dicts()
    solvers = axis(solver=("dual_cd", "n_slack", "one_slack", Streaming("1MB")))
    options = [
        {}, {"order": 2}, {"start": True, "end": True}, {"order": 2, "rescaling": "slack", "start": True},
        {"min_count": 3}, {"hash_bits": 6}, {"prior": {("w=cat", "N"): 1.0}, "scale": {"pairs": 2.0}},
        {"nonnegative": ["pairs"]}, {"nonnegative": True}, {"n_jobs": 2},
        {"solver": "one_slack", "epsilon": 0.1}, {"max_iter": 2}, {"C": 100.0}, {"weight": True},
    ]  # fmt: skip
    templates = [
        *axis(templates=("chunking", "tagging", "ner", "w[-1..1]\nsuffix(w[0], 1..2)")),
        {"templates": "chunking", "constraints": "iob"}, {"templates": "ner", "hash_bits": 6},
    ]  # fmt: skip
    partly = [[None if (i + t) % 4 == 0 else tag for t, tag in enumerate(s)] for i, s in enumerate(tags)]
    backwards = [labels[::-1] for labels in chunks]
    yield from fit((dicts, tags), solvers, axis(rescaling=("margin", "slack")), C=1.0, tol=1e-3)
    yield from fit((dicts, tags), options, tol=1e-3)
    yield from fit((data.sentences(), "chunk"), templates)
    yield from fit(([[[text] for text in s] for s in words], tags), [{}], title="lists of texts")
    yield from fit((X, Y), [{}, {"kernel": "rbf", "n_basis": 15, "C": 1.0}], title="matrices")
    yield from fit(([sp.csr_matrix(x) for x in X], Y), [{}], title="sparse matrices")
    yield from fit((dicts, partly), axis(solver=("auto", "one_slack")), title="partial labels")
    yield from fit((dicts, backwards), axis(constraints=("iob",)), title="broken phrases")
    yield "SequenceTagger/best", partial(best, oneslack.SequenceTagger(n_jobs=1), dicts, tags)


def best(model, X, Y):
    """The k best outputs, and the score."""
    model.fit(X, Y)
    return {"topk": about(model.predict_topk(X, 3)), "score": model.score(X, Y)}


def parsers():
    fit = partial(fits, oneslack.GrammarParser)
    bank, (sentences, tags, _) = data.trees(), data.tagged()
    new = [s[::-1] if k % 5 == 0 else s for k, s in enumerate(sentences)]  # of some there is no tree
    options = [
        {"loss": "zero_one", "rescaling": "slack"}, {"binarise": "left"}, {"horizontal": None},
        {"min_count": 3}, {"vertical": 2, "horizontal": 0}, {"missing": 1.6}, {"span_features": True},
        {"frequencies": False}, {"frequencies": "prior", "C": 1e-3}, {"chain_length": 2}, {"epsilon": 0.2},
        {"max_iter": 2}, {"n_jobs": 2}, {"solver": oneslack.NSlack(parts=4)},
        {"solver": OneSlack(cache_size=5, parts=4)}, {"weight": True},
    ]  # fmt: skip
    losses, solvers = axis(loss=("brackets", "zero_one")), ("auto", "dual_cd", "n_slack", "one_slack")
    common, given = {"C": 1.0, "min_count": 1}, (sentences[:16], bank)
    yield from fit(given, axis(solver=solvers), losses, new=new, **common)
    yield from fit(given, options, new=new, **common)
    pairs = [list(zip(*both)) for both in zip(sentences, tags)]
    wrong = [[(text, "N" if k == 2 else tag) for text, tag in s] for k, s in enumerate(pairs)]
    for name, them in {"tags": pairs, "another tag": wrong, "other words": pairs[1:]}.items():
        yield from fit((them[:16], bank), [{}], title=name, new=pairs, **common)

    def parses():
        model = oneslack.GrammarParser(min_count=1, n_jobs=1)
        facts, found = best(model, *given), model.parse(new)
        return facts | {"flat": about(found.flat), "drawn": about([tree.draw() for tree in found.trees])}

    yield "GrammarParser/best", parses


def structural():
    fit = partial(fits, oneslack.StructuralSVM)
    flags, (X, Y), chained = data.flags(), data.chains(), Chain(3, 3, start=True)
    solvers = axis(solver=(OneSlack(), OneSlack(cache_size=5), "n_slack", "dual_cd", Streaming("1MB")))
    named = axis(solver=("auto", "one_slack", "dual_cd", "n_slack"))
    rescaling = axis(rescaling=("margin", "slack"))
    options = [
        {"prior": {"first": 1.0}, "scale": {"others": 3.0}}, {"nonnegative": ["first"]}, {"epsilon": 0.1},
        {"max_iter": 3}, {"C": 30.0}, {"weight": True}, {"n_jobs": 2},
    ]  # fmt: skip
    yield from fit(flags, solvers, rescaling, title="Flags", model=data.Flags())
    yield from fit(flags, options, title="Flags", model=data.Flags(), solver=OneSlack())
    for model in (data.SparseFlags(), data.FreeFlags(), data.RoughFlags()):
        yield from fit(flags, [{}], title=type(model).__name__, model=model, solver=OneSlack())
    slow = {"model": data.SlowFlags(), "tol": 0.05, "n_jobs": 2, "but": ("predict",)}
    yield from fit(flags, axis(solver=(OneSlack(), oneslack.NSlack(batch=40))), title="processes", **slow)
    classes = {"title": "Multiclass", "model": oneslack.Multiclass(8, 3)}
    yield from fit(data.codes(), [*named, {"kernel": "rbf", "n_basis": 15}], **classes)
    yield from fit(data.board(), [{}], title="Binary", model=oneslack.Binary(2, True))
    yield from fit((X, Y), named, rescaling, title="Chain", model=chained)
    losses = Chain(3, 3, label_losses=COSTS, order=2)
    yield from fit((X, Y), [{}], title="Chain with losses", model=losses)
    partly = [np.where(np.arange(len(y)) % 3 == i % 3, -1, y) for i, y in enumerate(Y)]
    yield from fit((X, partly), [{}], title="Chain, partial labels", model=chained)
    yield "StructuralSVM/Chain/best", partial(best, oneslack.StructuralSVM(chained, n_jobs=1), X, Y)


def latent():
    X, y, places = data.signals()
    shared = [{}, {"solver": "n_slack"}, {"solver": OneSlack()}, {"n_starts": 3}, {"C": 10.0}]
    shared += [{"annealing": 2, "random_state": 1}]
    own = [{"prior": np.ones(4), "scale": 2.0}, {"max_rounds": 1}, {"nonnegative": [0, 2]}, {"verbose": 1}]
    fit = partial(fits, oneslack.LatentSVM, (X, y), model=data.Bump())
    yield from fit([*shared, *own, {"weight": True}])
    yield from fit([{}], title="given values", fit={"H": places})
    yield from fits(oneslack.LatentStructuralSVM, data.halves(), shared, model=data.Halves())


def large():
    """So many numbers that they are worked on in several parts, by threads; so many rows, or columns, that
    another way is taken."""
    X, y = data.points(n=180, d=3500)
    t, jobs = X @ np.random.default_rng(0).normal(size=3500) / 50, axis(n_jobs=(1, 2))
    tried = [(LinearSVC, y, {"solver": solver}) for solver in ("dual_cd", "one_slack", Streaming("3MB"))]
    tried += [(LinearSVR, t, {"solver": "one_slack"}), (RankSVM, t, {}), (MetricSVC, y, {"metric": "f1"})]
    for kind, targets, options in tried:
        yield from fits(kind, (X, targets), [options], jobs, title="large", C=1e-3)
    yield from fits(LinearSVC, data.tall(), axis(solver=("newton", "dual_cd")), jobs, title="tall", C=1e-4)
    yield from fits(RankSVM, data.tall(), jobs, title="tall", C=1e-4)
    solvers = axis(solver=("dual_cd", "one_slack"))
    yield from fits(LinearSVC, data.sparse(), solvers, title="sparse", C=0.1)
    yield from fits(oneslack.StructuralSVM, data.chains(150), solvers, jobs, title="large", model=Chain(3, 3))
