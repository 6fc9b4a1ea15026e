"""Tables as people have them: columns in another order, words, tabs beside commas."""

import pytest

from oneslack.errors import FormatError
from oneslack.formats import read_csv

ROWS = [(k % 5, k % 3, "yes" if k % 5 > 2 else "no") for k in range(30)]


def test_columns_are_matched_by_name(folder, run):
    (folder / "a.csv").write_text("\n".join(["p,q,label", *(f"{p},{q},{y}" for p, q, y in ROWS)]))
    (folder / "b.csv").write_text("\n".join(["q,more,p", *(f"{q},7,{p}" for p, q, y in ROWS)]))
    assert run("train", "classify", "a.csv", "-o", "m", "-q").code == 0
    there = run("predict", "m", "b.csv")
    assert there.out == run("predict", "m", "a.csv").out
    (folder / "c.csv").write_text("q,other\n1,2\n")
    assert "has no column 'p'" in run("predict", "m", "c.csv").err


def test_errors_name_the_column_and_suggest_the_label(tmp_path):
    path = tmp_path / "first.csv"
    path.write_text("kind,p,q\n" + "\n".join(f"{y},{p},{q}" for p, q, y in ROWS))
    with pytest.raises(FormatError, match=r"line 2, column 1 \(kind\): 'no' is not .* say --label kind"):
        read_csv(path)


def test_tabs_cut_a_tsv_whatever_its_commas(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tlabel\n1\ty,e,s\n2\tn,o\n")
    assert read_csv(path).y.tolist() == ["y,e,s", "n,o"]
    path.write_text("a, in m, or so\tlabel\n1\tx\n2\ty\n")
    assert read_csv(path).feature_names == ["a, in m, or so"]
