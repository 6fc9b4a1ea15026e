"""Every bad input: one sentence on stderr, its exit code, no traceback, nothing left behind."""

import gzip
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from oneslack.formats import load_model, save_model
from oneslack.formats import model_file as model_format

GOOD = "1 1:1 2:2\n-1 1:-1 2:-2\n"
TRAIN = ["train", "classify"]


def content(data):
    """Make a file of text or bytes."""

    def make(path):
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    return make


def objects(path):
    with open(path, "wb") as file:
        np.savez(file, X=np.array([{}, {}], dtype=object), y=np.array([0, 1]))


def truncated_gzip(path):
    path.write_bytes(gzip.compress(GOOD.encode() * 1000)[:-20])


#: name: (how to make it, more options, exit code, what the sentence must hold besides the name)
BAD_DATA = {
    "absent.svm": (None, [], 3, "no such file"),
    "folder.svm": (Path.mkdir, [], 3, "folder"),
    "empty.svm": (content(""), [], 3, "line 1"),
    "comments.svm": (content("# nothing\n\n"), [], 3, "without any example"),
    "empty.csv": (content(""), [], 3, "empty"),
    "noise.bin": (content(bytes(range(1, 255)) * 9), [], 3, "line"),
    "short.svm.gz": (truncated_gzip, [], 3, "cut short"),
    "word.svm": (content(GOOD + "yes 1:1\n"), [], 3, "line 3: the label 'yes'"),
    "nolabel.svm": (content(GOOD + "1:1 2:2\n"), [], 3, "line 3: no label"),
    "labels.svm": (content(GOOD + "1,2 1:1\n"), [], 3, "line 3: several labels"),
    "index.svm": (content(GOOD + "1 x:1\n"), [], 3, "line 3: the index"),
    "negative.svm": (content(GOOD + "1 -1:1\n"), [], 3, "negative"),
    "twice.svm": (content(GOOD + "1 1:1 1:2\n"), [], 3, "occurs twice"),
    "zero.svm": (content(GOOD + "1 0:1\n"), ["--one-based"], 3, "line 3: index 0"),
    "nan.svm": (content(GOOD + "1 1:nan\n"), [], 3, "line 3: the number 'nan'"),
    "inf.svm": (content(GOOD + "inf 1:1\n"), [], 3, "not finite"),
    "value.svm": (content(GOOD + "1 1:a\n"), [], 3, "line 3: the value"),
    "one_class.svm": (content("1 1:1\n1 1:2\n"), [], 3, "all examples have the label 1"),
    "bare.svm": (content("1\n-1\n"), [], 3, "no features"),
    "real.svm": (content("0.5 1:1\n1.5 1:2\n"), [], 3, "labels such as 0.5 are not classes"),
    "label.svm": (content(GOOD), ["--label", "kind"], 2, "--label has no meaning"),
    "ragged.csv": (content("1,2,a\n1,2\n"), [], 3, "line 2: found 2 cells"),
    "word.csv": (content("1,2,a\n1,x,b\n"), [], 3, "line 2, column 2: 'x'"),
    "hole.csv": (content("1,2,a\n1,,b\n"), [], 3, "line 2, column 2"),
    "column.csv": (content("1,2,a\n2,1,b\n"), ["--label", "kind"], 3, "no label column 'kind'"),
    "header.csv": (content("a,b,c\n"), [], 3, "header is all there is"),
    "latin.csv": (content("1,2,\xe9\n2,1,e\n".encode("latin-1")), [], 3, "UTF-8"),
    "objects.npz": (objects, [], 3, "never loaded"),
    "noise.npy": (content("no numpy"), [], 3, "numpy"),
    "nolabels.npz": (lambda path: np.savez(path, X=np.eye(3)), [], 3, "holds no labels"),
    "nan.npz": (
        lambda path: np.savez(path, X=np.array([[np.nan], [1.0]]), y=np.array([0, 1])), [], 3, "nan"
    ),
}  # fmt: skip


def two_targets_a_query(path):
    np.savez(path, X=np.eye(4), y=np.array([1, 1, 2, 2]), qid=np.array([0, 0, 1, 1]))


#: The same for `train rank`.
BAD_RANKINGS = {
    "absent.svm": (None, [], 3, "no such file"),
    "equal.svm": (content("1 1:1\n1 1:2\n"), [], 3, "all targets are equal; ranking needs different ones"),
    "equal_inside.svm": (
        content("1 qid:1 1:1\n1 qid:1 1:2\n2 qid:2 1:1\n"), [], 3, "inside each query all targets are equal"
    ),
    "equal_inside.npz": (two_targets_a_query, [], 3, "inside each query all targets are equal"),
    "one.svm": (content("1 1:1\n"), [], 3, "all targets are equal"),
    "nan.svm": (content("nan 1:1\n1 1:2\n"), [], 3, "line 1: the number 'nan'"),
    "nan.csv": (content("1,2,nan\n2,1,1\n"), [], 3, "targets such as 'nan' are not finite numbers"),
    "nan.npz": (
        lambda path: np.savez(path, X=np.eye(2), y=np.array([np.nan, 1.0])), [], 3, "y holds nan"
    ),
    "inf.csv": (content("1,2,1e999\n2,1,1\n"), [], 3, "targets such as 'inf' are not finite numbers"),
    "words.csv": (content("1,2,low\n2,1,3\n"), [], 3, "targets such as 'low' are not finite numbers"),
    "digits.npz": (
        lambda path: np.savez(path, X=np.eye(2), y=np.array(["1", "2"])), [], 3, "such as '1' are not"
    ),
    "notargets.npz": (lambda path: np.savez(path, X=np.eye(3)), [], 3, "holds no targets"),
    "bare.svm": (content("1\n2\n"), [], 3, "no features"),
    "gap.svm": (content("1 qid:1 1:1\n2 1:2\n"), [], 3, "line 2: no qid:N"),
    "qid.svm": (content("1 qid:a 1:1\n"), [], 3, "'qid:a' is not a query number"),
    "group.svm": (content(GOOD), ["--group", "q"], 2, "--group has no meaning"),
    "group.csv": (content("a,b\n1,2\n2,3\n"), ["--group", "q"], 3, "no group column 'q'"),
    "same.csv": (
        content("a,b\n1,2\n2,3\n"), ["--group", "b", "--label", "b"], 3, "label and group at once"
    ),
    "hole.csv": (content("q,a,b\nx,1,2\n,2,3\n"), ["--group", "q"], 3, "line 3, column 1: the group is"),
    "group.npz": (
        lambda path: np.savez(path, X=np.eye(2), y=[1, 2]), ["--group", "q"], 3, "no array 'q' of groups"
    ),
    "nan_group.npz": (
        lambda path: np.savez(path, X=np.eye(2), y=[1, 2], qid=[np.nan, 1]), [], 3, "qid holds nan"
    ),
}  # fmt: skip

#: Options that are refused on good data, with a word of the sentence.
BAD_OPTIONS = {
    "--address auto": "--address is that of a Ray cluster; add --engine ray",
    "--threads 2": "--threads is for each worker of a Ray cluster; add --engine ray, or give --jobs alone",
    "--solver simplex": "simplex",
    "--multi-class all": "all",
    "-C -1": "-1 is not a positive number",
    "-C 0": "0 is not a positive number",
    "-C nan": "nan is not",
    "-C inf": "inf is not",
    "-C much": "-C",
    "--tol nan": "nan is not",
    "--tol -0.1": "-0.1 is not a number >= 0",
    "--epsilon 0": "0 is not a positive number",
    "--jobs 0": "--jobs",
    "--max-iter 0": "--max-iter",
    "--time-limit -1": "--time-limit",
    "--seed -1": "--seed",
    "--class-weight 7=2": "train.svm has no label '7'; it has -1, 1",
    "--class-weight 1=x": "not a positive number",
    "--class-weight 1=0": "not a positive number",
    "--class-weight 1": "not LABEL=WEIGHT",
    "--class-weight 1=2,1=3": "twice",
    "--nonsense": "--nonsense",
    "surplus": "surplus",
}

#: Options of `train classify --metric` that have no meaning together.
BAD_METRICS = {
    "--metric accuracy": "accuracy",
    "--metric f1 --multi-class ovr": "--multi-class and --metric do not go together",
    "--metric f1 --multi-class crammer_singer": "--multi-class and --metric do not go together",
    "--metric f1 --class-weight balanced": "--class-weight and --metric do not go together",
    "--metric f1 --k 3": "--k has a meaning only with",
    "--k 3": "--k has a meaning only with",
    "--beta 2": "--beta has a meaning only with",
    "--metric f1 --beta 2": "--beta has a meaning only with",
    "--metric fbeta": "--metric fbeta needs --beta",
    "--metric fbeta --beta 0": "0 is not a positive number",
    "--metric precision_at_k": "--metric precision_at_k needs --k",
    "--metric recall_at_k": "--metric recall_at_k needs --k",
    "--metric recall_at_k --k 0": "'0' is neither",
    "--metric recall_at_k --k 2.5": "'2.5' is neither",
    "--metric recall_at_k --k nan": "'nan' is neither",
    "--metric recall_at_k --k half": "'half' is neither",
    "--metric recall_at_k --k 21": "train.svm has 20 examples only",
    "--metric f1 --solver newton": "--solver newton cannot train for f1; use auto or one_slack",
    "--metric roc_auc --solver dual_cd": "--solver dual_cd cannot train for roc_auc",
    "--metric roc_auc --no-intercept": "--no-intercept has no meaning with --metric roc_auc",
}

#: Options that `train rank` and `train ordinal` do not have, or not so.
BAD_PAIR_OPTIONS = {
    "--solver newton": "newton",
    "--metric f1": "--metric",
    "-C -1": "-1 is not a positive number",
    "--tol nan": "nan is not",
    "--epsilon 0": "0 is not a positive number",
    "--jobs 0": "--jobs",
    "--max-iter 0": "--max-iter",
    "--time-limit 0": "--time-limit",
}

BAD_OUTPUTS = {
    "absent/model": (3, "cannot be written"),
    "kinds.csv/model": (3, "cannot be written"),
    ".": (3, "folder"),
    "train.svm": (2, "read and written"),
    "/dev/null": (3, "not a regular file"),
}


def newer(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_format, "FORMAT_VERSION", 99)
        save_model(path, *load_model("model"))


def foreign_safetensors(path):
    from safetensors.numpy import save_file

    save_file({"w": np.ones(3)}, path)


def other_kind(path):
    header, arrays = load_model("model")
    save_model(path, {**header, "kind": "Oracle"}, arrays)


def incomplete(path):
    header, _ = load_model("model")
    save_model(path, header, {})


def flipped(path):
    data = bytearray(Path("model").read_bytes())
    data[-3] ^= 255
    path.write_bytes(data)


#: Model files that are refused, with a word of the sentence.
BAD_MODELS = {
    "absent": (None, "no such file"),
    "folder": (Path.mkdir, "folder"),
    "empty": (content(""), "empty"),
    "text": (content(GOOD), "not a model file"),
    "pickle": (content(pickle.dumps({"coef": 1})), "pickle"),
    "short": (lambda path: path.write_bytes(Path("model").read_bytes()[:-9]), "cut short"),
    "stub": (lambda path: path.write_bytes(Path("model").read_bytes()[:40]), "cut short"),
    "flipped": (flipped, "checksum"),
    "newer": (newer, "newer oneslack"),
    "foreign": (foreign_safetensors, "no oneslack model"),
    "other_kind": (other_kind, "Oracle"),
    "incomplete": (incomplete, "incomplete"),
}


def refuse(run, arguments, code, *words):
    """The command fails as it should, and leaves the folder as it was."""
    before = sorted(os.listdir())
    done = run(*arguments)
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("oneslack: ")
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("name", BAD_DATA)
def test_data_to_train_on(folder, run, name):
    make, options, code, words = BAD_DATA[name]
    if make:
        make(folder / name)
    refuse(run, [*TRAIN, name, "-o", "model", *options], code, name, words)


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_options(folder, run, options):
    refuse(run, [*TRAIN, "train.svm", "-o", "model", *options.split()], 2, BAD_OPTIONS[options])


@pytest.mark.parametrize("name", BAD_RANKINGS)
def test_data_to_rank(folder, run, name):
    make, options, code, words = BAD_RANKINGS[name]
    if make:
        make(folder / name)
    refuse(run, ["train", "rank", name, "-o", "model", *options], code, name, words)


@pytest.mark.parametrize("options", BAD_METRICS)
def test_options_of_a_metric(folder, run, options):
    refuse(run, [*TRAIN, "train.svm", "-o", "model", *options.split()], 2, BAD_METRICS[options])


@pytest.mark.parametrize("command", ["rank", "ordinal"])
@pytest.mark.parametrize("options", BAD_PAIR_OPTIONS)
def test_options_of_rankings(folder, run, command, options):
    arguments = ["train", command, "train.svm", "-o", "model", *options.split()]
    refuse(run, arguments, 2, BAD_PAIR_OPTIONS[options])


@pytest.mark.parametrize("name", ["one_class.svm", "real.svm", "bare.svm", "nolabels.npz", "nan.svm"])
def test_data_with_an_order(folder, run, name):
    make, options, code, words = BAD_DATA[name]
    make(folder / name)
    refuse(run, ["train", "ordinal", name, "-o", "model", *options], code, name, words)


@pytest.mark.parametrize("options", ["--class-weight 7=2", "--group a"])
def test_options_of_an_order(folder, run, options):
    refuse(run, ["train", "ordinal", "train.svm", "-o", "model", *options.split()], 2, options.split()[0])


@pytest.mark.parametrize("command", ["classify", "rank", "ordinal"])
@pytest.mark.parametrize("output", BAD_OUTPUTS)
def test_outputs_are_refused_before_any_work(folder, run, monkeypatch, output, command):
    monkeypatch.setattr("oneslack.cli.data.read_any", lambda *args: pytest.fail("the data were read"))
    code, words = BAD_OUTPUTS[output]
    refuse(run, ["train", command, "train.svm", "-o", output], code, output, words)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize("name", BAD_MODELS)
def test_models(trained, run, name, command):
    make, words = BAD_MODELS[name]
    if make:
        make(trained / name)
    refuse(run, [command, name, "train.svm"], 3, name, words)


@pytest.mark.parametrize("name", ["short", "flipped", "newer", "foreign", "other_kind", "absent"])
def test_info_of_bad_models(trained, run, name):
    make, words = BAD_MODELS[name]
    if make:
        make(trained / name)
    refuse(run, ["info", name], 3, name, words)


def test_more_features_than_the_model_knows(trained, run):
    Path("wide.svm").write_text("1 1:1 9:1\n")
    for command in ("predict", "evaluate"):
        refuse(run, [command, "model", "wide.svm"], 3, "wide.svm", "model", "has 9 features", "with 3")


def test_another_number_of_columns(trained_on_csv, run):
    Path("wide.csv").write_text("a,b,c,d,kind\n1,2,3,4,low\n")
    Path("narrow.csv").write_text("1\n2\n")
    refuse(run, ["predict", "kinds.model", "wide.csv"], 3, "wide.csv", "has no column 'width'")
    refuse(run, ["predict", "kinds.model", "narrow.csv"], 3, "narrow.csv")


def test_columns_in_another_order_are_matched_by_name(trained_on_csv, run):
    Path("same.csv").write_text("width,height,kind\n9,1,low\n1,9,low\n")
    Path("other.csv").write_text("height,width,kind\n1,9,low\n9,1,low\n")
    same, other = (run("predict", "kinds.model", f"{name}.csv", "--scores") for name in ("same", "other"))
    assert same.code == other.code == 0
    assert same.out == other.out
    assert len(set(same.out.splitlines())) == 2


def test_evaluating_without_labels_or_with_other_ones(trained_on_csv, run):
    np.savez("bare.npz", X=np.ones((2, 2)))
    refuse(run, ["evaluate", "kinds.model", "bare.npz"], 3, "bare.npz", "no labels")
    Path("others.csv").write_text("width,height,kind\n1,2,square\n")
    refuse(run, ["evaluate", "kinds.model", "others.csv"], 3, "others.csv", "'square'", "kinds.model")


def test_evaluating_a_ranking_on_words_or_without_its_groups(queries, run):
    assert run("train", "rank", "queries.csv", "--group", "query", "-o", "m", "-q").code == 0
    Path("words.csv").write_text("query,a,b,c,d,grade\nq,1,2,3,4,good\n")
    refuse(run, ["evaluate", "m", "words.csv"], 3, "words.csv", "'good' are not finite numbers")
    Path("plain.csv").write_text("a,b,c,d,grade\n1,2,3,4,1\n")
    refuse(run, ["evaluate", "m", "plain.csv"], 3, "plain.csv", "no group column 'query'")
    refuse(run, ["evaluate", "m", "queries.svm", "--group", "query"], 2, "--group has no meaning")


def test_evaluating_a_model_of_several_labels(folder, run):
    import oneslack

    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 4)
    oneslack.MetricSVC("f1").fit(X, X.astype(int)).save("several")
    np.savez("one.npz", X=X, y=X[:, 0].astype(int))
    refuse(run, ["evaluate", "several", "one.npz"], 3, "several", "several labels an example")


@pytest.mark.parametrize("output", ["absent/out", "model", "train.svm"])
def test_outputs_of_predict(trained, run, output):
    code = 3 if "/" in output else 2
    before = Path("model").read_bytes()
    refuse(run, ["predict", "model", "train.svm", "-o", output], code, output)
    assert Path("model").read_bytes() == before


def test_a_failed_prediction_leaves_the_old_output(trained, run):
    Path("out").write_text("old\n")
    Path("bad.svm").write_text("1 1:a\n")
    refuse(run, ["predict", "model", "bad.svm", "-o", "out"], 3, "bad.svm")
    assert Path("out").read_text() == "old\n"


@pytest.mark.parametrize(
    "command", ["fly", "train fly", "train classify", "train rank", "train ordinal", "predict model", "info"]
)
def test_commands(trained, run, command):
    refuse(run, command.split(), 2, "--help")


def test_demo_into_a_file(folder, run):
    refuse(run, ["demo", "--output", "train.svm"], 3, "train.svm")
