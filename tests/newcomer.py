"""A newcomer's walk with the installed library, from a file with words to a tagger: a plain program.

    python tests/newcomer.py              with the oneslack that this Python has, in the current folder
    python tests/newcomer.py WHEEL        in a fresh environment with that wheel, in an empty folder

It stops at the first step that does not hold; tests/release/test_newcomer.py runs it in the quick tests.
"""

import random
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

#: What makes the categories, numbers, gaps and text of the payments usable.
COLUMNS = ["--label", "kind", "--categorical", "country,card", "--text", "comment"]
COLUMNS += ["--missing", "indicator", "--drop", "id"]


def install_and_walk(wheel):
    """A fresh environment with the wheel, and the walk in it; the checkout is out of sight."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True)
        python = home / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", Path(wheel).resolve())
        (home / "here").mkdir()
        run(python, "-P", Path(__file__).resolve(), folder=home / "here")


def run(*command, folder=None):
    subprocess.run([str(word) for word in command], check=True, cwd=folder)


def oneslack(*words, code=0):
    """Run the command line as the installed script does; returns what it printed."""
    command = [sys.executable, "-m", "oneslack", *words]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    said = done.stdout + done.stderr
    assert done.returncode == code, f"oneslack {' '.join(words)}: exit code {done.returncode}\n{said}"
    return said


def payments(path, n=400, seed=3, columns=("id", "country", "amount", "card", "comment", "kind")):
    """Payments, one in eight of them a fraud: words, numbers with gaps, text, an index."""
    rng, lines = random.Random(seed), [",".join(columns)]
    for i in range(n):
        fraud = rng.random() < 0.12
        hasty = fraud and rng.random() < 0.7
        comments = ["urgent transfer", "send money now"] if hasty else ["rent", "gift", "lunch"]
        row = {
            "id": str(1000 + i),
            "country": rng.choice(["NG", "RU", "US"] if fraud else ["DE", "FR", "US"]),
            "amount": "" if rng.random() < 0.05 else f"{rng.expovariate(1 / (400 if fraud else 60)):.2f}",
            "card": rng.choice(["amex", "master", "visa"]),
            "comment": rng.choice(comments),
            "kind": "fraud" if fraud else "ok",
        }
        lines.append(",".join(row[name] for name in columns))
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def a_file_with_words(say=print):
    """CSV with words, gaps and text; a measure of the rare class; columns in another order at prediction."""
    payments("payments.csv")
    payments("new.csv", n=200, seed=4, columns=("kind", "comment", "amount", "card", "country", "id"))
    assert "--categorical" in oneslack("info", "payments.csv")
    said = oneslack("train", "classify", "payments.csv", "-o", "all.model", code=3)
    assert "--categorical country" in said, said
    oneslack("train", "classify", "payments.csv", *COLUMNS, "--metric", "f1", "-o", "fraud.model")
    said = oneslack("evaluate", "fraud.model", "new.csv", "--json")
    say("fraud, F1 of new payments:", said.strip()[:200])
    oneslack("predict", "fraud.model", "new.csv", "-o", "predicted.txt")
    predicted = Path("predicted.txt").read_text(encoding="utf-8").split()
    truth = [line.split(",")[0] for line in Path("new.csv").read_text(encoding="utf-8").splitlines()[1:]]
    found = sum(p == t == "fraud" for p, t in zip(predicted, truth, strict=True))
    assert 2 * found / (predicted.count("fraud") + truth.count("fraud")) > 0.7


def tune_and_report(say=print):
    said = oneslack("tune", "payments.csv", *COLUMNS, "-C", "0.01,0.1,1", "--folds", "3", "-o", "tuned.model")
    assert "C" in said
    oneslack("report", "tuned.model", "--data", "new.csv", "-o", "report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "fraud" in page
    say("tuned, and a report of", len(page), "characters")


@dataclass(frozen=True)
class OddOneOut:
    """A model of one's own: which of the rows of x (k, d) is the one; its score is linear in its features."""

    n_params: int

    def joint_feature(self, x, y):
        return x[y]

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        scores = x @ w
        if y is not None:
            scores = scores + [float(k != y) for k in range(len(x))]
        return int(scores.argmax())


def a_model_of_ones_own(say=print):
    """Trained, certified, saved, loaded, reported."""
    import numpy as np

    from oneslack import StructuralSVM, check_model, load, report

    rng = np.random.default_rng(0)
    X = [rng.normal(size=(5, 3)) for _ in range(60)]
    Y = [int((x @ [1.0, -2.0, 0.5]).argmax()) for x in X]
    model = OddOneOut(3)
    check_model(model, X[:5], Y[:5], outputs=lambda x: range(len(x)))
    svm = StructuralSVM(model, C=1.0).fit(X, Y)
    assert svm.result_.certified
    assert svm.duality_gap_ <= 1e-3
    svm.save("odd.model")
    again = load("odd.model", model=model)
    assert again.predict(X) == svm.predict(X)
    report(again, X, Y, "odd.html")
    assert Path("odd.html").stat().st_size > 1000
    say("a model of one's own:", svm.result_)


def tagging(say=print):
    """From a CoNLL file, and from plain words in Python."""
    from oneslack import SequenceTagger, load
    from oneslack.formats import read_conll

    sentences = [
        [("Ada", "NNP", "B-PER"), ("met", "VBD", "O"), ("Charles", "NNP", "B-PER")],
        [("He", "PRP", "O"), ("saw", "VBD", "O"), ("Rome", "NNP", "B-LOC")],
        [("Grace", "NNP", "B-PER"), ("Hopper", "NNP", "I-PER"), ("left", "VBD", "O")],
        [("Paris", "NNP", "B-LOC"), ("saw", "VBD", "O"), ("Grace", "NNP", "B-PER")],
    ] * 8
    text = "\n\n".join("\n".join(" ".join(token) for token in sentence) for sentence in sentences)
    Path("names.conll").write_text(text + "\n", encoding="utf-8")
    oneslack("train", "tag", "names.conll", "--templates", "ner", "-o", "names.model", "-q")
    assert "accuracy" in oneslack("evaluate", "names.model", "names.conll").lower()
    words = [[word for word, *_ in sentence] for sentence in sentences]
    tags = [[tag for *_, tag in sentence] for sentence in sentences]
    tagger = SequenceTagger(templates="ner").fit(words, tags)
    assert tagger.predict_single(["Ada", "saw", "Paris"]) == ["B-PER", "O", "B-LOC"]
    read = read_conll("names.conll", columns=["w", "pos", "y"])
    assert load("names.model").score(read, "y") == 1.0
    say("a tagger:", tagger.result_)


STEPS = [a_file_with_words, tune_and_report, a_model_of_ones_own, tagging]

if __name__ == "__main__":
    if len(sys.argv) > 1:
        install_and_walk(sys.argv[1])
    else:
        import oneslack as library

        print(f"oneslack {library.__version__} of {Path(library.__file__).parent}")
        for step in STEPS:
            step()
        print("the walk is done")
