"""CSV as people have it: words, gaps, an index, the label first, text, columns in another order."""

import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def people(folder):
    rng = np.random.default_rng(0)
    lines = ["churn,id,age,city,comment"]
    for i in range(60):
        old, city = rng.random() < 0.5, ("Rome", "Paris", "Oslo")[i % 3]
        age = "" if i % 10 == 3 else (60 if old else 20) + i % 7
        word = "good" if old else "bad"
        cell = "NA" if i % 11 == 0 else city
        lines.append(f'{"yes" if old else "no"},{i},{age},{cell},"a {word} thing, number {i % 5}"')
    Path("people.csv").write_text("\n".join(lines) + "\n")
    return "people.csv"


WAYS = [
    "--label",
    "churn",
    "--categorical",
    "city",
    "--missing",
    "indicator",
    "--text",
    "comment",
    "--drop",
    "id",
]


def test_from_training_to_report(people, run):
    told = run("train", "classify", people, "-o", "m", *WAYS, "--proof")
    assert told.code == 0, told.err
    assert "labels from the column churn" in told.out
    assert run("evaluate", "m", people).out.startswith("accuracy 100.00 %")
    assert "proven" in run("verify", "m", people).out
    assert run("report", "m", "--data", people, "-o", "page.html").code == 0
    page = Path("page.html").read_text()
    assert "comment: good" in page
    assert "--categorical city --text comment --missing indicator --drop id" in page
    lines = Path(people).read_text().splitlines()
    Path("other.csv").write_text("city,comment,more,age\nRome,so good,7,\n")
    assert run("predict", "m", "other.csv").out == "yes\n"
    Path("less.csv").write_text("city,comment\nRome,so good\n")
    assert "has no column 'age', which m was trained with" in run("predict", "m", "less.csv").err
    whole = run("predict", "m", people).out
    Path("plain.csv").write_text("\n".join(line.split(",", 1)[1] for line in lines))  # without the label
    assert run("predict", "m", "plain.csv").out == whole
    assert "holds no column 'churn' to compare with" in run("evaluate", "m", "plain.csv").err


def test_tune_takes_them_too(people, run):
    told = run("tune", people, *WAYS, "-C", "1,10", "--folds", "3", "-o", "tuned", "--json")
    assert told.code == 0, told.err
    assert run("evaluate", "tuned", people).code == 0


def test_a_file_without_a_header(folder, run):
    rows = [f"{'red' if i % 2 else 'blue'},{i % 5},{'a' if i % 2 else 'b'}" for i in range(40)]
    Path("bare.csv").write_text("\n".join(rows))
    assert run("train", "classify", "bare.csv", "-o", "m", "--categorical", "0").code == 0
    Path("unknown.csv").write_text("red,3\nblue,4\n")
    assert run("predict", "m", "unknown.csv").out == "a\nb\n"
    Path("wide.csv").write_text("red,3,4,5\n")
    assert "has 4 columns, but m was trained with 3" in run("predict", "m", "wide.csv").err


def test_errors_name_the_column_and_what_to_do(people, run):
    told = run("train", "classify", people, "-o", "m").err
    assert "column 1 (churn): 'no'" in told
    assert "--label churn" in told
    told = run("train", "classify", people, "-o", "m", "--label", "chrun").err
    assert "did you mean 'churn'?" in told
    told = run("train", "classify", people, "-o", "m", "--label", "churn").err
    assert "line 2, column 4 (city): 'NA' is not" in told
    told = run("train", "classify", people, "-o", "m", "--label", "churn", "--categorical", "town").err
    assert told.startswith("oneslack: --categorical: people.csv, line 1: there is no column 'town'")
    told = run("train", "classify", people, "-o", "m", *WAYS, "--group", "x")
    assert told.code == 2
    told = run("train", "classify", people, "-o", "m", *WAYS[:-2])
    assert "its column 'id' counts the rows" in told.err
    assert "--drop id" in told.err


def test_labels_that_are_no_classes_name_their_column(folder, run):
    Path("first.csv").write_text("class,x\n" + "".join(f"{i % 2},{i / 7:.3f}\n" for i in range(9)))
    told = run("train", "classify", "first.csv", "-o", "m").err
    assert "are not classes (column x)" in told
    assert "--label class" in told


@pytest.mark.parametrize(("first", "step", "is_index"), [(0, 1, True), (1017, 1, True), (1017, 2, False)])
def test_an_index_may_begin_anywhere(folder, run, first, step, is_index):
    rows = [f"{first + step * i},{i / 7:.3f},{'ab'[i % 2]}" for i in range(25)]
    Path("numbered.csv").write_text("\n".join(["key,x,label", *rows]) + "\n")
    assert ("--drop key" in run("train", "classify", "numbered.csv", "-o", "m").err) == is_index
    with_words = [f"{row.replace(',', ',red,', 1)}" for row in rows]
    Path("words.csv").write_text("\n".join(["key,colour,x,label", *with_words]) + "\n")
    assert ("--drop key" in run("info", "words.csv").out) == is_index


def test_options_are_for_csv_alone(two_classes, run):
    told = run("train", "classify", "train.svm", "-o", "m", "--drop", "id")
    assert told.code == 2
    assert "--drop is about the columns of a CSV" in told.err


def test_info_describes_and_suggests_what_works(people, run):
    told = run("info", people).out
    assert "age: numbers from" in told
    assert "6 missing" in told
    facts = json.loads(run("info", people, "--json").out)
    command = facts["to_learn_from_it"].split()
    assert command[:4] == ["oneslack", "train", "classify", people]
    assert "counts the rows" in facts["columns"]["id"]
    assert run(*command[1:], "-q").code == 0
    assert "to learn from them:\n  oneslack train classify" in run("train", people).out


def test_a_damaged_encoder_is_refused(people, run):
    from oneslack.formats import load_model, save_model

    assert run("train", "classify", people, "-o", "m", *WAYS, "-q").code == 0
    header, arrays = load_model("m")
    header["source"]["encoder"]["columns"][1]["values"] = ["Rome"]
    save_model("forged", header, arrays)
    told = run("predict", "forged", people)
    assert told.code == 3
    assert "damaged (source.encoder" in told.err
