"""`oneslack report`: one page for a model of each kind, whole, safe and true."""

import hashlib
import json
import re
import shlex
from collections import namedtuple
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from report_kinds import KINDS, train, write_data

import oneslack
from oneslack.cli import main
from oneslack.viz.report import drawings, html

VOID = {"meta", "link", "br", "img", "rect", "path", "circle"}


class Page(HTMLParser):
    """A page taken apart: texts, ids, links, tables and charts; refuses tags that do not fit."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.charts, self.scripts = [], [], [], [], []
        self.words, self.policy = [], None
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if attributes.get("class") == "chart":
            self.charts.append(json.loads(attributes["data-points"]))
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
        assert not any(name.startswith("on") for name in attributes)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def folder_of_kinds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    write_data(folder)
    return folder


@pytest.fixture
def kinds(folder_of_kinds, monkeypatch):
    """The current folder, with data for each kind of model."""
    monkeypatch.chdir(folder_of_kinds)
    return folder_of_kinds


@pytest.mark.parametrize("name", KINDS)
def test_a_page_for_each_kind(name, kinds, run):
    train(name, kinds)
    _, data, words = KINDS[name]
    given = ["--data", data] if data else []
    done = run("report", f"{name}.model", *given, "-o", "page.html")
    assert (done.code, done.out, done.err) == (0, "", "")
    text = Path("page.html").read_text("utf-8")
    page = Page(text)
    assert page.policy.startswith("default-src 'none'")
    assert not re.search(r"https?://", text)
    assert len(page.ids) == len(set(page.ids))
    assert {link.lstrip("#") for link in page.links} <= set(page.ids)
    expected = {"certainty", "looks", "about", "again"} | ({"quality", "errors"} if data else set())
    assert expected <= set(page.ids)
    for some in words:
        assert some in page.text
    model = oneslack.load(f"{name}.model")
    assert f"{model.objective_:.6g}" in page.text
    assert f"{model.dual_objective_:.6g}" in page.text


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind[0]])
def test_the_command_on_the_page_makes_the_same_model(name, kinds, run):
    train(name, kinds)
    run("report", f"{name}.model", "-o", "page.html")
    page = Page(Path("page.html").read_text("utf-8"))
    command = re.search(r"oneslack (train .*?) The estimator in Python", page.text)[1]
    words = shlex.split(command)
    words[words.index("-o") + 1] = "again.model"
    assert main([*words, "-q"]) == 0
    first, again = oneslack.load(f"{name}.model"), oneslack.load("again.model")
    assert again.get_params() == first.get_params()
    np.testing.assert_array_equal(again.coef_, first.coef_)


def test_errors_are_those_of_the_model(kinds, run):
    train("binary", kinds)
    run("report", "binary.model", "--data", "two.csv", "-o", "page.html")
    text = Path("page.html").read_text("utf-8")
    part = text[text.index('id="errors"') : text.index('id="about"')]
    found = {int(key) - 1 for key in re.findall(r'<tr><td class="number" data-key="(\d+)"', part)}
    table = np.genfromtxt("two.csv", delimiter=",", skip_header=1, usecols=range(4))
    labels = [line.split(",")[4] for line in Path("two.csv").read_text().splitlines()[1:]]
    predicted = oneslack.load("binary.model").predict(table)
    assert found == {i for i, label in enumerate(labels) if label != predicted[i]}
    assert found
    assert "&lt;i&gt;really" in part
    assert "<i>" not in text


def test_points_of_the_chart_are_the_trace(kinds, run):
    train("binary", kinds)
    run("report", "binary.model", "-o", "page.html")
    chart = Page(Path("page.html").read_text("utf-8")).charts[0]
    trace = oneslack.load("binary.model").trace_
    assert len(chart) == len(trace) > 1
    assert chart[-1][2].startswith(f"step {trace[-1].iteration:,}, ")
    assert f"between {trace[-1].dual:.6g} and {trace[-1].primal:.6g}" in chart[-1][2]
    xs = [x for x, _, _ in chart]
    assert xs == sorted(xs)


def test_tagged_text_is_escaped_and_errors_are_shown(kinds, run):
    train("tag", kinds)
    run("report", "tag.model", "-d", "test.txt", "-o", "page.html")
    text = Path("page.html").read_text("utf-8")
    assert "&lt;b&gt;Say&lt;/b&gt;" in text
    assert "<b>Say" not in text
    assert "B-PRT" in text[text.index('id="errors"') :]


def test_a_packed_folder_is_looked_at_as_the_file(two_classes, run):
    run("pack", "two.svm", "-o", "two", "--dtype", "float64", "--shard-size", "1KB", "-q")
    run("train", "classify", "two.svm", "-o", "m", "-q")
    pages = {}
    for data in ("two.svm", "two"):
        done = run("report", "m", "--data", data, "-o", "page.html")
        assert (done.code, done.err) == (0, "")
        text = Path("page.html").read_text("utf-8")
        pages[data] = text[text.index('id="errors"') : text.index('id="about"')]
    assert pages["two"] == pages["two.svm"]
    digest = hashlib.sha256(Path("two/manifest.json").read_bytes()).hexdigest()
    assert digest in text


def test_queries_need_not_be_together(kinds, run):
    train("rank", kinds)
    with np.load("queries.npz") as data:
        X, y, qid = data["X"], data["y"], data["qid"]
    order = np.random.default_rng(0).permutation(60)
    np.savez("mixed.npz", X=X[order], y=y[order], qid=qid[order])
    rows = {}
    for data in ("queries", "mixed"):
        run("report", "rank.model", "--data", f"{data}.npz", "-o", "page.html")
        text = Path("page.html").read_text("utf-8")
        part = text[text.index('id="errors"') : text.index('id="about"')]
        rows[data] = sorted(re.findall(r"<tr><td.*?</tr>", part))
    assert len(rows["mixed"]) == 6
    assert rows["mixed"] == rows["queries"]


def command_of(model, run):
    """The command on the page of a model, that trains it as again.model."""
    assert run("report", model, "-o", "page.html").code == 0
    page = Page(Path("page.html").read_text("utf-8"))
    words = shlex.split(re.search(r"oneslack (train .*?) The estimator in Python", page.text)[1])
    words[words.index("-o") + 1] = "again.model"
    return words


def test_the_command_of_a_model_of_a_folder(queries, run):
    run("pack", "queries.svm", "-o", "folder", "--dtype", "float64", "-q")
    run("pack", "queries.csv", "-o", "named", "--group", "query", "--label", "grade", "-q")
    Path("text.conll").write_text("the B-NP D\ndog I-NP N\n\nhe B-NP P\nran B-VP V\n")
    run("pack", "text.conll", "-o", "text", "--columns", "w,chunk,pos", "-q")
    for words in (["rank", "folder"], ["rank", "named"], ["tag", "text", "--label", "chunk"]):
        done = run("train", *words, "-o", "m", "-q")
        assert done.code == 0, done.err
        assert main([*command_of("m", run), "-q"]) == 0
        np.testing.assert_array_equal(oneslack.load("again.model").coef_, oneslack.load("m").coef_)


@pytest.mark.parametrize("kind", ["classify", "regress"])
def test_the_command_of_a_model_with_a_prior(kind, two_classes, run):
    run("train", kind, "two.svm", "-o", "early", "-C", "5", "-q")
    run("train", kind, "two.svm", "-o", "late", "-C", "0.01", "--prior", "early", "-q")
    command = command_of("late", run)
    assert command[command.index("--prior") + 1] == "early"
    assert main([*command, "-q"]) == 0
    np.testing.assert_array_equal(oneslack.load("again.model").coef_, oneslack.load("late").coef_)


def test_the_command_has_every_option_that_was_given(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{y} 1:{i % 7 + y} 2:{i % 5}\n" for i in range(60) for y in (-1, 1))
    Path("two.svm").write_text(rows)
    run("pack", "two.svm", "-o", "folder", "-q")
    Path("text.conll").write_text("the D\ndog ?\n\nhe P\nran V\n\nthe D\nend N\n")
    trees = "(S (NP (D the) (N dog)) (V ran))\n(S (P he) (V ran))\n(S (P he) (VP (V saw) (P he) (D the)))\n"
    Path("some.trees").write_text(trees)
    for words in (
        ["classify", "folder", "--memory", "50MB", "-C", "0.5"],
        ["classify", "two.svm", "--kernel", "rbf", "--gamma", "0.5", "--method", "exact"],
        ["tag", "text.conll", "--columns", "w,tag", "--unlabelled", "?", "--start", "--tol", "0.05"],
        ["parse", "some.trees", "--max-words", "3", "--tagged"],
    ):
        checkpoint = ["--checkpoint", "kept"] if words[0] == "parse" else []
        done = run("train", *words, "-o", "m", "-q", *checkpoint)
        assert done.code == 0, done.err
        command = command_of("m", run)
        assert command[:5] == ["train", *words[:2], "-o", "again.model"]
        assert sorted(command[5:]) == sorted(words[2:])
        assert main([*command, "-q"]) == 0
        assert oneslack.load("again.model").objective_ == oneslack.load("m").objective_


# What cannot be.


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["absent.model", "-o", "page.html"], 3, "absent.model: there is no such file"),
        (["two.csv", "-o", "page.html"], 3, "two.csv: is not a model file"),
        (["binary.model", "-o", "no/page.html"], 3, "no/page.html: cannot be written"),
        (["binary.model", "-o", "binary.model"], 2, "is read and written by the same command"),
        (["binary.model", "-o", "page.html", "--label", "kind"], 2, "--label says how --data is read"),
        (["binary.model", "-o", "page.html", "-d", "absent.csv"], 3, "absent.csv"),
        (["binary.model", "-o", "page.html", "-d", "grades.npz"], 3, "grades.npz: "),
        (["structural.model", "-o", "page.html", "-d", "two.csv"], 3, "whose inputs no data file holds"),
        (["binary.model"], 2, "Missing option"),
    ],
)
def test_bad_input_gets_a_sentence_and_no_page(arguments, code, words, kinds, run):
    train("binary", kinds)
    Path("page.html").unlink(missing_ok=True)
    done = run("report", *arguments)
    assert done.code == code
    assert words in done.err
    assert done.err.count("\n") == 1
    assert not Path("page.html").exists()


def test_a_model_of_an_older_version_has_no_trace(kinds, run):
    from oneslack.formats import load_model, save_model

    train("binary", kinds)
    header, arrays = load_model("binary.model")
    del header["certificate"]["trace"]
    save_model("old.model", header, arrays)
    assert run("report", "old.model", "-o", "page.html").code == 0
    assert "does not hold the course" in Page(Path("page.html").read_text("utf-8")).text
    assert not hasattr(oneslack.load("old.model"), "trace_")


# Pieces.


def test_ticks_are_round_and_inside():
    assert drawings.ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert drawings.ticks(-3.2, 17) == [0, 5, 10, 15]
    for low, high in ((1e-7, 3e-7), (-1e9, 1e9), (12.1, 12.2)):
        found = drawings.ticks(low, high)
        assert 2 <= len(found) <= 6
        assert low <= found[0]
        assert found[-1] <= high * (1 + 1e-9)


@pytest.mark.parametrize("largest", [0.499, 0.51, 1.0, 2.4, 7.3])
def test_the_axis_of_weights_has_more_than_zero(largest):
    Weight = namedtuple("Weight", "feature output value")
    svg = drawings.bars([Weight("a", None, largest), Weight("b", None, -largest / 2)])
    assert len(re.findall(r'class="tick"', svg)) >= 3


def test_short_names_of_classes_are_not_turned():
    def names(*columns):
        return drawings.heat_map([[1, 0], [0, 1]], columns, columns, "counts", lambda i, j: "")

    assert "rotate" not in names("0", "1")
    assert names("setosa", "virginica").count("rotate(-60)") == 2


def test_a_table_holds_no_more_rows_than_a_page_can():
    made = html.table("many", ("n",), ([html.number(k)] for k in range(1000)))
    assert made.count("<tr>") == html.MOST_ROWS + 1
    assert "the first 200 of 1,000" in made


def test_cells_are_escaped_and_know_their_order():
    assert html.text("<x>").html == "&lt;x&gt;"
    assert html.share(None).html == "–"
    assert html.share(None).key < html.share(0.0).key
    assert html.number(1234567).html == "1,234,567"


@pytest.mark.parametrize("case", ["one example", "an unknown label", "one class"])
def test_data_that_some_measures_have_no_meaning_for(case, kinds, run):
    train("multi", kinds)
    with np.load("grades.npz") as data:
        X, y = data["X"], data["y"]
    X, y = {
        "one example": (X[:1], y[:1]),
        "an unknown label": (X, np.where(y == 1, 7, y)),
        "one class": (X[y == 2], y[y == 2]),
    }[case]
    np.savez("odd.npz", X=X, y=y)
    done = run("report", "multi.model", "--data", "odd.npz", "-o", "page.html")
    assert (done.code, done.err) == (0, "")
    text = Page(Path("page.html").read_text("utf-8")).text
    assert ("a label that the model does not know" in text) == (case == "an unknown label")
    assert "nan" not in text.lower().split()


def test_numbers_of_one_value_only(kinds, run):
    train("regress", kinds)
    with np.load("numbers.npz") as data:
        np.savez("odd.npz", X=data["X"], y=np.full(60, 2.5))
    assert run("report", "regress.model", "-d", "odd.npz", "-o", "page.html").code == 0


def test_features_have_the_numbers_of_the_file(trained, run):
    """svmlight counts from 1, and so does the page."""
    assert run("report", "model", "-o", "page.html").code == 0
    text = Page(Path("page.html").read_text("utf-8")).text
    weights = oneslack.load("model").coef_[0]
    assert f"feature {int(np.argmax(np.abs(weights))) + 1}" in text
    assert "feature 0" not in text
