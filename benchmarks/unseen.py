"""The yardstick: ours beside the usual program on every set, one ratio a case, written to unseen.csv.

    one score      LinearSVC and LinearSVR, every loss, to a certified gap of 0.1 %; LIBLINEAR until P is
                   within 0.1 %, the quicker of its solvers where it has two
    many classes   the same by Crammer and Singer; LIBLINEAR -s 4
    tags           SequenceTagger to a certified gap of 1 %; CRFsuite, 100 rounds of L-BFGS
    kernels        KernelSVC, exact, rbf; scikit-learn's SVC
    ranking        RankSVM; scikit-learn's LinearSVC on all pairs

Seconds by the wall, on an idle machine (--clock cpu counts the processor's of all threads; tags and ranking
are always measured so, on one thread).  Reading and converting the data are left out, and so is compilation;
programs take turns, medians count, but for runs of more than 2 s, which are made once.  A peer that never
comes close counts with its longest run, which makes the ratio too large, never too small.  A kind that is
measured again takes the place of what the table had of it; overview.py makes the first page of RESULTS.md.

No constant should be fitted to what is reported.  With --constants each of CONSTANTS is halved and doubled on
the two-class sets, and for every set the value is chosen that is quickest on all *other* sets (the shortest
of the runs, and by 2 % at least): the table says which that is, and what the geometric mean would be if each
set were reported with the value chosen without it.

    python benchmarks/unseen.py --data DIR --kinds hinge "many classes"
    python benchmarks/unseen.py --data DIR --constants --sets a9a spambase mushroom
"""

import argparse
import importlib
import statistics
import sys
import time
import warnings
from types import SimpleNamespace

import losses
import overview
import problems
import sets
from overview import geometric

#: Modules of oneslack and the numbers in them that were chosen by measuring.
CONSTANTS = [
    ("solvers.choose", "FEW_PASSES"),
    ("solvers.dual_newton", "KINKED"),
    ("solvers.dual_newton", "DUAL_PASS"),
    ("solvers.newton_sprint", "LARGEST"),
    ("solvers.newton_sprint", "SHORT"),
    ("solvers.newton_sprint", "FALL"),
    ("solvers.newton_sprint", "LOOSE"),
    ("solvers.newton", "SAMPLE_ROWS"),
    ("solvers.newton", "SAMPLE_GROWTH"),
    ("solvers.newton", "FEW"),
    ("solvers.newton", "FALL"),
    ("solvers.newton", "LOOSE"),
    ("solvers.dual_cd", "LIMIT"),
    ("solvers.dual_cd", "WAIT"),
    ("solvers.dual_cd", "MANY"),
    ("solvers.anchor", "STIFF"),
    ("solvers.anchor", "LOOSE"),
    ("models.linear.scalar", "BLOCK"),
    ("models.linear.scalar", "SHRINK"),
    ("models.linear.scalar", "SHRINK_FIRST"),
]
FACTORS = (0.5, 1.0, 2.0)
NOISE = 0.98


def one_score(loss):
    """The function that measures a loss of LinearSVC or LinearSVR."""
    is_number = loss not in losses.CLASSES
    known = sets.NUMBERS if is_number else sets.TWO_CLASSES

    def measure(args):
        rows = []
        for name in [name for name in args.sets or known if name in known and name not in args.without]:
            X, y = sets.load(name, args, is_number)
            programs = losses.programs_of(loss, X, y, peers=("LIBLINEAR",))
            for C in args.C:
                contest = losses.Contest(loss, C, X, y, programs, args.limit)
                medians = contest.medians(args.repeat)
                rows.append((name, loss, C, medians, contest.vain))
                (best,) = losses.ratios_of(rows[-1:], loss, "LIBLINEAR", "proven")
                note = contest.how if best.is_close else f"{contest.how}, peer never close"
                yield name, f"C={C:g}", medians["proven"], best.theirs, note
        print("\n".join(losses.summary(rows)), flush=True)  # which also tells when ours was close

    return measure


def many_classes(args):
    import many_classes as contests

    found = contests.Found(args.cache / "many_classes.json")
    for name in [name for name in args.sets or sets.MANY_CLASSES if name in sets.MANY_CLASSES]:
        X, y = sets.load(name, args, known=sets.MANY_CLASSES)
        programs = {"liblinear": contests.Liblinear(X, y), "ours": contests.Ours(X, y)}
        for C in args.C:
            given = SimpleNamespace(limit=args.limit, repeat=args.repeat, skip_peer=False)
            ours, theirs, note = contests.contest(name, C, X, y, programs, found, given)
            yield name, f"C={C:g}", ours, theirs, note.replace("e never close", "peer never close")


def tags(args):
    import tagging

    for name, read in tagging.CORPORA.items():
        if args.sets and name not in args.sets:
            continue
        given = argparse.Namespace(C=0.1, c2=1.0, repeat=min(args.repeat, 3), details=False)
        seconds, _, note = tagging.compare(name, read(problems.data_folder(args.data)), given)
        yield name, "gap 1 %", seconds["oneslack"], seconds["CRFsuite"], note.split("; ")[1]


def kernels(args):
    import kernel_sets

    from oneslack import KernelSVC

    args.shrink = 1
    for name in [name for name in args.sets or kernel_sets.LOADERS if name in kernel_sets.LOADERS]:
        split = kernel_sets.Split(name, args, n=KERNEL_ROWS.get(name))
        setting = kernel_sets.SETTINGS[name]
        models = [KernelSVC(kernel="rbf", method="exact", **setting), kernel_sets.svc(name)]
        kernel_sets.timed(models[0], kernel_sets.Split(name, args, n=300))  # compiles
        fits = [kernel_sets.timed(model, split) for model in models]
        by_wall = losses.CLOCK[0] is time.perf_counter
        seconds = [taken if by_wall else model.cpu for model, taken, _ in fits]
        note = f"test error {fits[0][2]:.2f} %, SVC {fits[1][2]:.2f} %"
        yield name, f"n={len(split.y)}", *seconds, note


#: Rows of the kernel sets that SVC can train on within minutes.
KERNEL_ROWS = {"checkers": 20_000, "covertype": 20_000, "mnist": 20_000}


def ranking(args):
    import rank

    for name, read in (("mq2008", rank.mq2008), ("mq2007_agg", rank.mq2007_agg)):
        if args.sets and name not in args.sets:
            continue
        train = rank.fold([read(problems.data_folder(args.data), i) for i in range(1, 6)], 0)[0]
        for C in args.C:
            fits = [rank.METHODS[who][1] for who in ("ours", "sklearn")]
            times = [[rank.timed(fit, train, C)[1] for fit in fits] for _ in range(min(args.repeat, 3))]
            medians = [statistics.median(each) for each in zip(*times, strict=True)]
            yield name, f"C={C:g}", *medians, ""


#: Of every kind: the program beside ours, and what measures it.
KINDS = {
    "hinge": ("LIBLINEAR", one_score("hinge")),
    "squared hinge": ("LIBLINEAR", one_score("squared_hinge")),
    "logistic": ("LIBLINEAR", one_score("logistic")),
    "L1, squared hinge": ("LIBLINEAR", one_score("l1_squared_hinge")),
    "L1, logistic": ("LIBLINEAR", one_score("l1_logistic")),
    "tube": ("LIBLINEAR", one_score("epsilon_insensitive")),
    "squared tube": ("LIBLINEAR", one_score("squared_epsilon_insensitive")),
    "many classes": ("LIBLINEAR", many_classes),
    "tags": ("CRFsuite", tags),
    "kernels": ("SVC", kernels),
    "ranking": ("LinearSVC, pairs", ranking),
}


# What each constant would be without each set.


def held_out(args):
    """Lines: of every constant the value that all other sets choose, and what that costs."""
    names = [name for name in args.sets or sets.TWO_CLASSES if name in sets.TWO_CLASSES]
    seconds = times_of(names, args)
    total = [1.0] * len(names)
    yield "| constant | value | all sets choose | without one set | the mean, each set held out |"
    yield "|---|---|---|---|---|"
    for constant in CONSTANTS:
        chosen = [choice(seconds, constant, [other for other in names if other != name]) for name in names]
        everybody = choice(seconds, constant, names)
        factors = [
            seconds[constant, factor][name] / seconds[constant, 1.0][name]
            for name, factor in zip(names, chosen, strict=True)
        ]
        total = [one * factor for one, factor in zip(total, factors, strict=True)]
        others = {
            factor: [name for name, of in zip(names, chosen, strict=True) if of == factor]
            for factor in sorted(set(chosen) - {everybody})
        }
        without = "; ".join(f"x {factor:g} without {', '.join(some)}" for factor, some in others.items())
        yield (
            f"| {'.'.join(constant)} | {value_of(constant)} | x {everybody:g} | {without or 'the same'} "
            f"| {geometric(factors):.3f} |"
        )
    yield f"\nAll together, were the constants independent: {geometric(total):.3f} of the mean as it is."


def choice(seconds, constant, names) -> float:
    """The factor that is quickest on these sets; 1 unless another one is quicker beyond noise."""
    mean = {factor: geometric([seconds[constant, factor][name] for name in names]) for factor in FACTORS}
    best = min(FACTORS, key=mean.get)
    return best if mean[best] < NOISE * mean[1.0] else 1.0


def times_of(names, args):
    """{(constant, factor): {set: geometric mean of the seconds over C}}."""
    found = {(constant, factor): {} for constant in CONSTANTS for factor in FACTORS}
    for name in names:
        X, y = sets.load(name, args)
        ours = losses.Ours("hinge", X, y)
        for constant in CONSTANTS:
            runs = {factor: [] for factor in FACTORS}
            for C in args.C:
                turns = {factor: [] for factor in FACTORS}
                for _ in range(args.repeat):
                    for factor in FACTORS:
                        turns[factor].append(scaled(constant, factor, ours.train, C, losses.CLOSE)[0])
                for factor in FACTORS:
                    runs[factor].append(min(turns[factor]))
            for factor in FACTORS:
                found[constant, factor][name] = geometric(runs[factor])
        print(f"{name}: {time.strftime('%H:%M:%S')}", file=sys.stderr, flush=True)
    return found


def value_of(constant):
    module, name = constant
    return getattr(importlib.import_module(f"oneslack.{module}"), name)


def scaled(constant, factor, run, *arguments):
    """What a run gives with a constant that is `factor` times as large."""
    module, name = importlib.import_module(f"oneslack.{constant[0]}"), constant[1]
    before = getattr(module, name)
    larger = tuple(factor * part for part in before) if isinstance(before, tuple) else factor * before
    setattr(module, name, type(before)(larger))
    try:
        return run(*arguments)
    finally:
        setattr(module, name, before)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    problems.add_options(parser)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--without", nargs="+", default=[], help="sets to leave out")
    parser.add_argument("--C", nargs="+", type=float, default=[0.01, 1, 100])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=3.0, help="seconds after which a peer is given up")
    parser.add_argument("--constants", action="store_true", help="leave each set out of choosing constants")
    parser.add_argument("--clock", choices=losses.CLOCKS, default="wall")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    losses.CLOCK[0] = losses.CLOCKS[args.clock]
    if args.constants:
        print("\n".join(held_out(args)))
        return
    for kind in args.kinds:
        beside, measure = KINDS[kind]
        cases = []
        for found in measure(args):
            cases.append(overview.Case(kind, beside, *found))
            print(cases[-1], flush=True)
        overview.write([case for case in overview.read() if case.kind != kind] + cases)


if __name__ == "__main__":
    sys.exit(main())
