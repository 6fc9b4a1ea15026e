import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import oneslack
from oneslack import metrics


def pairs_of(y, group):
    n = len(y)
    return sum(group[i] == group[j] and y[i] > y[j] for i in range(n) for j in range(n))


def test_the_summary_says_queries_and_pairs(queries, run):
    done = run("train", "rank", "queries.svm", "-o", "m")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("m: at most ")
    pairs = pairs_of(queries.y, queries.group)
    assert f"90 examples, 4 features, 9 queries, {pairs} pairs; read in" in done.out
    facts = json.loads(run("train", "rank", "queries.svm", "-o", "m", "--json").out)
    assert (facts["queries"], facts["pairs"], facts["exit_code"]) == (9, pairs, 0)
    assert facts["dual"] <= facts["primal"]
    assert facts["relative_gap"] <= 1e-3
    assert "classes" not in facts


def test_quiet_says_nothing(queries, run):
    done = run("train", "rank", "queries.svm", "-o", "m", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize("file", ["queries.svm", "queries.npz", "queries.csv --group query"])
def test_the_model_is_the_one_that_python_trains(queries, run, file):
    options = ["-C", "0.5", "--tol", "1e-6", "--jobs", "1"]
    assert run("train", "rank", *file.split(), "-o", "m", *options).code == 0
    here = oneslack.RankSVM(0.5, tol=1e-6).fit(queries.X, queries.y, queries.group)
    np.testing.assert_allclose(oneslack.load("m").coef_, here.coef_, atol=1e-6)
    for scores in ([], ["--scores"]):
        lines = run("predict", "m", file.split()[0], *scores).out.splitlines()
        X = csr_matrix(queries.X) if "svm" in file else queries.X
        assert [float(line) for line in lines] == oneslack.load("m").predict(X).tolist()  # every digit


def test_a_ranking_with_a_kernel(queries, run):
    options = ["--kernel", "rbf", "--gamma", "0.5", "--n-basis", "30"]
    done = run("train", "rank", "queries.npz", "-o", "m", *options)
    assert done.code == 0, done.err
    here = oneslack.RankSVM(kernel="rbf", gamma=0.5, n_basis=30).fit(queries.X, queries.y, queries.group)
    np.testing.assert_allclose(oneslack.load("m").coef_, here.coef_, atol=1e-6)
    lines = run("predict", "m", "queries.npz").out.splitlines()
    np.testing.assert_allclose([float(line) for line in lines], here.predict(queries.X), atol=1e-6)
    assert run("evaluate", "m", "queries.npz").code == 0
    assert run("info", "m").code == 0
    assert run("report", "m", "-o", "page.html").code == 0
    assert "basis functions of the kernel rbf" in (queries.path / "page.html").read_text()
    assert "--gamma is for a kernel" in run("train", "rank", "queries.npz", "-o", "x", "--gamma", "1").err


def test_queries_matter_and_without_them_there_is_one(queries, run):
    text = (queries.path / "queries.svm").read_text()
    bare = "".join(" ".join(line.split(" ")[:1] + line.split(" ")[2:]) + "\n" for line in text.splitlines())
    (queries.path / "bare.svm").write_text(bare)
    done = run("train", "rank", "bare.svm", "-o", "bare.m")
    assert f"1 query, {pairs_of(queries.y, np.zeros(90)):,} pairs" in done.out
    here = oneslack.RankSVM().fit(queries.X, queries.y)
    np.testing.assert_allclose(oneslack.load("bare.m").coef_, here.coef_, atol=1e-9)
    run("train", "rank", "queries.svm", "-o", "m")
    assert np.abs(oneslack.load("m").coef_ - here.coef_).max() > 1e-3


def test_targets_may_be_real_and_labels_any_column(folder, run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    np.save("real.npy", np.column_stack([X[:, :1], X @ [1.0, -2.0], X[:, 1:], np.repeat([1, 2, 3], 10)]))
    done = run("train", "rank", "real.npy", "-o", "m", "--label", "1", "--group", "-1")
    assert done.code == 0
    assert "30 examples, 2 features, 3 queries, 135 pairs" in done.out
    assert json.loads(run("evaluate", "m", "real.npy", "--json").out)["measures"]["ordered_pairs"] == 1.0


def test_queries_without_a_pair_are_said(folder, run):
    (folder / "some.svm").write_text("1 qid:1 1:1\n2 qid:1 1:3\n2 qid:2 1:1\n2 qid:2 1:2\n1 qid:3 1:1\n")
    done = run("train", "rank", "some.svm", "-o", "m")
    assert "3 queries, 1 pairs" in done.out
    assert "2 of the queries have no pair" in done.out


def test_stopping_early_is_said_saved_and_has_its_exit_code(queries, run):
    done = run("train", "rank", "queries.svm", "-o", "m", "--max-iter", "2", "--tol", "1e-9")
    assert done.code == 4
    assert "raise --max-iter" in done.err
    assert done.err.count("\n") == 1
    assert oneslack.load("m").n_iter_ == 2


def test_epsilon_is_the_papers_rule(queries, run):
    done = run("train", "rank", "queries.svm", "-o", "m", "--epsilon", "0.1", "--json")
    assert (done.code, json.loads(done.out)["status"]) == (0, "epsilon")


def test_evaluate_agrees_with_the_metrics(queries, run):
    run("train", "rank", "queries.svm", "-o", "m", "-q")
    facts = json.loads(run("evaluate", "m", "queries.svm", "--json").out)
    f = oneslack.load("m").predict(queries.X)
    y, group = queries.y, queries.group
    expected = {
        "ordered_pairs": metrics.ordered_pairs(y, f, group),
        **{f"ndcg@{k}": metrics.ndcg(y, f, group, k, exponential=True) for k in (1, 5, 10)},
        "map": metrics.mean_average_precision(y, f, group),
    }
    assert list(facts["measures"]) == list(expected)
    assert facts["measures"] == pytest.approx(expected)
    assert (facts["examples"], facts["queries"], facts["pairs"]) == (90, 9, pairs_of(y, group))
    lines = run("evaluate", "m", "queries.svm").out.splitlines()
    share = 100 * expected["ordered_pairs"]
    assert lines[0] == f"pairs in order {share:.2f} %  (of {facts['pairs']} pairs in 9 queries)"
    assert lines[1] == f"NDCG@1 {100 * expected['ndcg@1']:.2f} %  (gain 2^target - 1)"
    assert lines[4].startswith(f"MAP {100 * expected['map']:.2f} %")


@pytest.mark.parametrize(
    ("targets", "missing"),
    [
        ([-1, 2], {"ndcg@1", "map"}),
        ([1, 2], {"map"}),
        ([0, 2000], {"ndcg@1"}),
        ([3, 3], {"ordered_pairs", "map"}),
        ([0, 0], {"ordered_pairs", "ndcg@1", "map"}),
        ([0, 1], set()),
    ],
)
def test_measures_that_do_not_fit_the_targets_are_left_out(queries, run, targets, missing):
    run("train", "rank", "queries.svm", "-o", "m", "-q")
    (queries.path / "new.svm").write_text("".join(f"{y} {k + 1}:1\n" for k, y in enumerate(targets)))
    measures = json.loads(run("evaluate", "m", "new.svm", "--json").out)["measures"]
    assert {name for name in ("ordered_pairs", "ndcg@1", "map") if measures[name] is None} == missing
    text = run("evaluate", "m", "new.svm").out
    assert ("NDCG" in text) == ("ndcg@1" not in missing)
    assert ("MAP" in text) == ("map" not in missing)
    assert "pairs in order" in text


def test_predicting_needs_neither_targets_nor_groups(queries, run):
    run("train", "rank", "queries.csv", "--group", "query", "--label", "grade", "-o", "m", "-q")
    expected = run("predict", "m", "queries.csv").out
    rows = [line.split(",") for line in (queries.path / "queries.csv").read_text().split()]
    for name, columns in (("no_target", slice(0, 5)), ("no_group", slice(1, 6)), ("bare", slice(1, 5))):
        (queries.path / f"{name}.csv").write_text("".join(",".join(row[columns]) + "\n" for row in rows))
        assert run("predict", "m", f"{name}.csv").out == expected
    (queries.path / "headless.csv").write_text("".join(",".join(row[1:5]) + "\n" for row in rows[1:]))
    assert run("predict", "m", "headless.csv").out == expected
    sparse = run("predict", "m", "queries.svm").out.split()
    np.testing.assert_allclose(np.array(sparse, float), np.array(expected.split(), float), rtol=1e-12)


def test_a_missing_column_is_never_guessed(queries, run):
    """By position and without a header, nothing tells whether label or group is left out."""
    rows = [line.split(",") for line in (queries.path / "queries.csv").read_text().split()[1:]]
    for name, columns in (("all", slice(0, 6)), ("no_target", slice(0, 5)), ("no_group", slice(1, 6))):
        text = "".join(",".join([row[0][1:], *row[1:]][columns]) + "\n" for row in rows)
        (queries.path / f"{name}.csv").write_text(text)
    assert run("train", "rank", "all.csv", "--group", "0", "-o", "m", "-q").code == 0
    expected = run("predict", "m", "all.csv").out
    for name, there in (("no_target", ["--group", "0"]), ("no_group", ["--label", "-1"])):
        done = run("predict", "m", f"{name}.csv")
        assert (done.code, done.out) == (3, "")
        assert "name the one that is there with --label or --group" in done.err
        assert run("predict", "m", f"{name}.csv", *there).out == expected


def test_info_of_a_ranking_and_its_data(queries, run):
    run("train", "rank", "queries.svm", "-o", "m", "-q")
    facts = json.loads(run("info", "m", "--json").out)
    assert facts["holds"] == "a RankSVM model"
    assert (facts["queries"], facts["weights"], facts["features"]) == (9, 4, 4)
    assert facts["status"] == "converged"
    assert "scores to rank by" in run("info", "m").out
    for file in ("queries.svm", "queries.npz", "queries.csv --group query"):
        assert json.loads(run("info", *file.split(), "--json").out)["queries"] == 9
    assert "queries" not in run("info", "train.svm").out


def test_a_ranking_from_python(queries, run):
    oneslack.RankSVM().fit(queries.X, queries.y, queries.group).save("m")
    assert run("info", "m").code == 0
    own = json.loads(run("evaluate", "m", "queries.csv", "--group", "query", "--json").out)
    assert own["queries"] == 9
