"""Matcher: points that moved, files, the command line's kind."""

import json

import numpy as np
import pytest

import oneslack
from oneslack import Matcher
from oneslack.cli import main
from oneslack.formats import FormatError, read_matchings, write_matchings


def moved(n=30, points=8, seed=0, lost=0):
    """Points with one feature that stays and one that does not; some of the first set have no partner."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        first = rng.normal(size=(points, 2))
        order = rng.permutation(points)[: points - lost]
        second = first[order] * [1.0, 0.0] + rng.normal(size=(points - lost, 2)) * [0.1, 2.0]
        y = np.full(points, -1)
        y[order] = np.arange(points - lost)
        X.append((first, second))
        Y.append(y)
    return X, Y


def test_it_learns_what_to_trust():
    fit = Matcher().fit(*moved())
    X, Y = moved(seed=1)
    equal = Matcher().fit(*moved())
    equal.coef_ = np.ones(2)
    assert fit.score(X, Y) > 0.75 > equal.score(X, Y) + 0.2
    assert fit.coef_[0] > 10 * abs(fit.coef_[1])
    assert fit.result_.certified


def test_rows_without_a_partner_have_a_price():
    X, Y = moved(40, lost=2)
    fit = Matcher(C=10.0, unmatched=True).fit(X, Y)
    assert 0 < fit.price_ < np.inf
    assert fit.score(*moved(seed=1, lost=2)) > 0.7
    dear = Matcher(unmatched=True, prior={"unmatched": -50.0}, scale={"unmatched": 100.0}).fit(X, Y)
    assert dear.price_ == pytest.approx(50, abs=1)
    assert all((z >= 0).sum() == len(x[1]) for x, z in zip(X, dear.predict(X), strict=True))


def test_pairs_and_members_are_the_same():
    X, Y = moved(10)
    pairs = [-((a[:, None] - b[None]) ** 2) for a, b in X]
    assert np.array_equal(Matcher().fit(X, Y).coef_, Matcher().fit(pairs, Y).coef_)


def test_a_file_keeps_it(tmp_path):
    for unmatched in (False, True):
        X, Y = moved(10, lost=int(unmatched))
        fit = Matcher(unmatched=unmatched).fit(X, Y)
        fit.save(tmp_path / "m")
        again = oneslack.load(tmp_path / "m")
        assert all(map(np.array_equal, again.predict(X), fit.predict(X)))
        assert again.price_ == fit.price_


def test_the_command_line(tmp_path, capsys):
    X, Y = moved(12, lost=1)
    write_matchings(tmp_path / "a.jsonl", X, Y)
    pairs = np.concatenate([(-((a[:, None] - b[None]) ** 2)).reshape(-1, 2) for a, b in X])
    shapes = [(len(a), len(b)) for a, b in X]
    np.savez(tmp_path / "a.npz", pairs=pairs, shapes=shapes, y=np.concatenate(Y))
    for file in ("a.jsonl", "a.npz"):
        assert main(["train", "match", str(tmp_path / file), "-o", str(tmp_path / "m"), "--unmatched"]) == 0
        capsys.readouterr()
        assert main(["evaluate", str(tmp_path / "m"), str(tmp_path / file), "--json"]) == 0
        measures = json.loads(capsys.readouterr().out)["measures"]
        fit = oneslack.load(tmp_path / "m")
        assert measures["partners_right"] == pytest.approx(fit.score(X, Y))
        assert main(["predict", str(tmp_path / "m"), str(tmp_path / file)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [list(map(int, line.split())) for line in lines] == [z.tolist() for z in fit.predict(X)]
    report = [
        "report",
        str(tmp_path / "m"),
        "--data",
        str(tmp_path / "a.npz"),
        "-o",
        str(tmp_path / "r.html"),
    ]
    assert main(report) == 0
    assert "stroke-dasharray" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1: is no JSON"),
        ('{"y": [0]}', "line 1: expected"),
        ('{"pairs": [[[1], [2, 3]]]}', "uneven"),
        ('{"pairs": [[1]], "y": [0]}', "nested 3 deep"),
        ('{"pairs": [[[1]]], "y": [0, 1]}', "2 partners for 1 rows"),
        ("", "holds no example"),
    ],
)
def test_bad_files_are_refused(line, words, tmp_path):
    (tmp_path / "f.jsonl").write_text(line)
    with pytest.raises(FormatError, match=words):
        read_matchings(tmp_path / "f.jsonl")


def test_bad_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "f.npz", pairs=np.ones((3, 1)), shapes=[[2, 2]])
    with pytest.raises(FormatError, match="expected arrays pairs"):
        read_matchings(tmp_path / "f.npz")
