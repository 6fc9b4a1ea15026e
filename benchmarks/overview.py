"""The first page of RESULTS.md: a table and a picture of all cases of unseen.csv.

python benchmarks/overview.py      # writes docs/figures/ratios.svg, and the table where pages have one
"""

import csv
import math
import re
import statistics
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
TABLE = HERE / "unseen.csv"
PICTURE = HERE.parent / "docs" / "figures" / "ratios.svg"
#: Pages that have the table.
PAGES = (HERE / "RESULTS.md", HERE.parent / "README.md", HERE.parent / "docs" / "index.md")
#: Seconds of a peer from which on calls in Python matter little.
LONG = 5e-3
HEADER = "| training | beside | cases | share of its time | from 5 ms on | slower | worst |"
INK = "#7f7f7f"
#: Colours after Okabe and Ito that show on white and on black, and markers for those who see no colours.
STYLES = {
    "hinge": ("#2a87c8", "o"),
    "squared hinge": ("#56B4E9", "v"),
    "logistic": ("#0072B2", "^"),
    "L1, squared hinge": ("#D55E00", "<"),
    "L1, logistic": ("#E69F00", ">"),
    "tube": ("#CC79A7", "d"),
    "squared tube": ("#a05195", "D"),
    "many classes": ("#009E73", "s"),
    "tags": ("#7f7f7f", "P"),
    "kernels": ("#b5a300", "X"),
    "ranking": ("#8c564b", "*"),
}


class Case(NamedTuple):
    """Seconds of ours and of the peer on one set with one setting."""

    kind: str
    beside: str
    name: str
    setting: str
    ours: float
    theirs: float
    note: str

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    def __str__(self):
        times = f"ours {1e3 * self.ours:9.2f} ms  peer {1e3 * self.theirs:9.2f} ms  ratio {self.ratio:5.2f}"
        return f"{self.kind:17s} {self.name:14s} {self.setting:9s} {times}  {self.note}"


def read(path=TABLE):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Case(**row | {key: float(row[key]) for key in ("ours", "theirs")}) for row in rows]


def write(cases, path=TABLE):
    kinds = list(STYLES)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Case._fields)
        for case in sorted(cases, key=lambda case: kinds.index(case.kind)):
            writer.writerow(case._replace(ours=f"{case.ours:.6g}", theirs=f"{case.theirs:.6g}"))


def geometric(values) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def table(cases):
    """Lines of Markdown, one a kind: geometric means, and what is worst."""
    yield HEADER
    yield "|---|---|--:|--:|--:|--:|---|"
    for kind, beside in dict.fromkeys((case.kind, case.beside) for case in cases):
        some = [case for case in cases if case.kind == kind]
        long = [case.ratio for case in some if case.theirs >= LONG]
        share = f"{geometric([case.ratio for case in some]):.2f}"
        worst = max(some, key=lambda case: case.ratio)
        slower = sum(case.ratio > 1.0 for case in some)
        yield (
            f"| {kind} | {beside} | {len(some)} | {share} | {f'{geometric(long):.2f}' if long else '–'} "
            f"| {slower} | {worst.ratio:.2f} ({worst.name}, {worst.setting}) |"
        )


def worst(cases, count=10):
    """The cases with the largest ratios among those in which calls in Python matter little."""
    long = [case for case in cases if case.theirs >= LONG]
    return sorted(long, key=lambda case: -case.ratio)[:count]


def draw(cases, path=PICTURE):
    """One dot a case: the peer's seconds across, our share of them upwards."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "oneslack", "font.size": 9, "text.color": INK}
        | dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    )
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 4.0), layout="constrained")
    for kind, (colour, marker) in STYLES.items():
        points = [(case.theirs, case.ratio) for case in cases if case.kind == kind]
        if points:
            look = {"color": colour, "marker": marker, "s": 16, "alpha": 0.8, "linewidths": 0}
            axes.scatter(*zip(*points, strict=True), label=kind, **look)
    axes.axhline(1.0, color=INK, lw=1.0)
    axes.annotate("as fast as the other", (1.0, 1.0), xycoords=("axes fraction", "data"),
                  xytext=(-4, 3), textcoords="offset points", ha="right")  # fmt: skip
    axes.set(
        xscale="log", yscale="log", xlabel="seconds of the other program", ylabel="our share of its time"
    )
    axes.grid(color=INK, alpha=0.25, lw=0.5)
    axes.set_facecolor("none")
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(path, transparent=True, metadata={"Date": None})


def put(lines, page):
    """The table in place of the one that a page has."""
    text = page.read_text(encoding="utf-8")
    old = re.search(rf"^{re.escape(HEADER)}\n(\|.*\n)*", text, re.MULTILINE)
    if old:
        page.write_text(text[: old.start()] + "\n".join(lines) + "\n" + text[old.end() :], encoding="utf-8")


def main():
    cases = read()
    lines = list(table(cases))
    for page in PAGES:
        put(lines, page)
    draw(cases)
    print("\n".join([*lines, "", "The worst where the other takes 5 ms or more:", *map(str, worst(cases))]))


if __name__ == "__main__":
    main()
