"""Draws the figures of the pages on pictures and reports: pictures.png, report_*.png.

    python docs/figures/make_figures.py      # needs matplotlib, and Chromium for the reports

Sentences and trees are made up; the tables come with scikit-learn.
"""

import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip
TREES = (
    "(S (NP (PRP I)) (VP (VBP see) (NP (NP (NNS stars)) (PP (OF of) (NP (NN gold))))))\n"
    "(S (NP (PRP we)) (VP (VBP see) (NP (NNS stars)) (PP (IN with) (NP (NNS eyes)))))\n"
    "(S (NP (NNS eyes)) (VP (VBP see) (NP (NNS stars))))\n"
    "(S (NP (PRP we)) (VP (VBP follow) (NP (NP (NNS stars)) (PP (IN with) (NP (NN gold))))))\n"
)
OTHER_TREES = (
    "(S (NP (PRP we)) (VP (VBP see) (NP (NP (NNS stars)) (PP (IN with) (NP (NN gold))))))\n"
    "(S (NP (PRP I)) (VP (VBP follow) (NP (NNS stars)) (PP (IN with) (NP (NNS eyes)))))\n"
)
SENTENCES = (
    "The DT B-NP\nold JJ I-NP\nsailor NN I-NP\nread VBD B-VP\nthe DT B-NP\nmap NN I-NP\n. . O\n\n"
    "She PRP B-NP\nhad VBD B-VP\nleft VBN I-VP\nthe DT B-NP\nharbour NN I-NP\nat IN B-PP\nnoon NN B-NP\n"
    ". . O\n\nA DT B-NP\nlight JJ I-NP\nwind NN I-NP\ncame VBD B-VP\nfrom IN B-PP\nthe DT B-NP\n"
    "west NN I-NP\n. . O\n\n"
    "They PRP B-NP\nsaw VBD B-VP\nno DT B-NP\nother JJ I-NP\nship NN I-NP\n. . O\n"
)
OTHER_SENTENCES = (
    "The DT B-NP\nharbour NN I-NP\nlight NN I-NP\nhad VBD B-VP\ncome VBN I-VP\nup RP B-PRT\n. . O\n\n"
    "She PRP B-NP\nread VBD B-VP\nold JJ B-NP\nmaps NNS I-NP\nat IN B-PP\nhome NN B-NP\n. . O\n\n"
    "At IN B-PP\nnoon NN B-NP\na DT B-NP\nship NN I-NP\nleft VBD B-VP\n. . O\n"
)


def pictures():
    """The sheet of nine pictures."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.preprocessing import scale

    import oneslack
    from oneslack import viz
    from oneslack.datasets import make_checkers

    figure, axes = plt.subplots(3, 3, figsize=(16, 12.5), layout="constrained")
    data, digits = load_breast_cancer(), load_digits()
    X, y = scale(data.data), data.target
    for _ in range(2):  # the first one compiles
        models = [
            oneslack.LinearSVC(solver=s, tol=1e-6).fit(X, y) for s in ("newton", "dual_cd", "one_slack")
        ]
    viz.plot_bounds(oneslack.LinearSVC(solver="one_slack").fit(X, y), ax=axes[0, 0])
    viz.plot_bounds(*models, labels=["newton", "dual_cd", "one_slack"], ax=axes[0, 1])
    viz.plot_weights(models[0], 12, feature_names=data.feature_names, ax=axes[0, 2])
    many = oneslack.LinearSVC(C=0.01).fit(digits.data[:900], digits.target[:900])
    viz.plot_confusion(digits.target[900:], many.predict(digits.data[900:]), ax=axes[1, 0])
    f1 = oneslack.MetricSVC("f1", C=0.1).fit(X[:100], 1 - y[:100])
    viz.plot_roc(f1, X[100:], 1 - y[100:], ax=axes[1, 1])
    viz.plot_precision_recall(f1, X[100:], 1 - y[100:], ax=axes[1, 2])
    guess, truth = (
        TREES.splitlines()[0],
        TREES.splitlines()[0].replace("(NP (NP (NNS stars)) ", "(NP (NNS stars)) "),
    )
    viz.plot_tree(guess, truth[:-1], ax=axes[2, 0])
    points, colour = make_checkers(500, random_state=0)
    viz.plot_regions(oneslack.KernelSVC(C=10, gamma=10).fit(points, colour), points, colour, ax=axes[2, 1])
    labels = ["B-NP", "B-VP", "B-PP", "B-NP", "B-NP", "O"]
    viz.plot_tags(["She", "sat", "on", "the", "mat", "."], labels, [*labels[:4], "I-NP", "O"], ax=axes[2, 2])
    axes[2, 2].set_aspect(4)
    figure.savefig(HERE / "pictures.png", dpi=70)


def reports():
    """Screenshots of reports, made in an empty folder."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale

    data = load_breast_cancer()
    rows = zip(scale(data.data).round(4).tolist(), data.target_names[data.target])
    lines = [",".join([*map(str, row), name]) for row, name in rows]
    head = ",".join([*data.feature_names, "kind"])
    Path("cancer.csv").write_text("\n".join([head, *lines[:400]]) + "\n")
    Path("held_out.csv").write_text("\n".join([head, *lines[400:]]) + "\n")
    Path("sentences.txt").write_text(SENTENCES)
    Path("new.txt").write_text(OTHER_SENTENCES)
    Path("bank.trees").write_text(TREES)
    Path("new.trees").write_text(OTHER_TREES)
    oneslack("train", "classify", "cancer.csv", "-o", "cancer.model", "-C", "0.1", "--solver", "one_slack")
    oneslack("train", "tag", "sentences.txt", "-o", "chunks.model", "-C", "1")
    oneslack("train", "parse", "bank.trees", "-o", "parser.model", "-C", "1")
    screenshot("cancer.model", "held_out.csv", "report_classify.png", "1000,1750")
    screenshot("chunks.model", "new.txt", "report_tag.png", "1000,520", part="errors")
    screenshot("parser.model", "new.trees", "report_parse.png", "1000,700", part="errors", dark=True)


def oneslack(*arguments):
    subprocess.run(["oneslack", *arguments], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def kinds():
    """One picture of the reports of all kinds that have none of their own: the models of the tests."""
    import sys

    from PIL import Image

    sys.path.insert(0, str(HERE.parents[1] / "tests"))
    from report_kinds import KINDS, train, write_data

    folder = Path.cwd()
    write_data(folder)
    names = [name for name in KINDS if name not in ("binary", "tag", "parse")]
    width, height, columns = 450, 540, 4
    sheet = Image.new("RGB", (columns * width, -(-len(names) // columns) * height), "white")
    for k, name in enumerate(names):
        train(name, folder)
        screenshot(f"{name}.model", KINDS[name][1], folder / f"{name}.png", "1000,1200")
        with Image.open(f"{name}.png") as page:
            small = page.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
        sheet.paste(small, (k % columns * width, k // columns * height))
    sheet.quantize(64).save(HERE / "report_kinds.png", optimize=True)


def screenshot(model, data, name, size, part=None, dark=False):
    """The page of a model; with `part`, the other sections are taken out."""
    oneslack("report", model, *(["--data", data] if data else []), "-o", "page.html")
    page = Path("page.html").read_text("utf-8")
    if part:
        page = page.replace("</style>", f"section:not(#{part}) {{ display: none }}\n</style>")
    Path("page.html").write_text(page, "utf-8")
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    with tempfile.TemporaryDirectory() as profile:
        flags = [
            f"--window-size={size}",
            f"--user-data-dir={profile}",
            f"--screenshot={HERE / name}",
            *scheme,
        ]
        subprocess.run(
            [*CHROMIUM, *flags, Path("page.html").resolve().as_uri()], check=True, capture_output=True
        )


def main():
    pictures()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        reports()
        kinds()


if __name__ == "__main__":
    main()
