"""The launchers, their options, and what they are told to do wrong."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oneslack.adapters.programs import MODULES, main, program
from oneslack.adapters.programs.light_text import read_model
from oneslack.cli import main as oneslack

DOCS = Path(__file__).parents[3] / "docs" / "compat.md"

#: The options of each program's own help.
STRUCT = "-v -y -c -p -o -l -w -e -k -f -b -n -m -h -# -t -d -g -s -r -u -a"
HELP = {
    "svm_learn": "-v -z -c -w -j -b -i -x -o -k -p -t -d -g -s -r -u -q -n -m -e -y -h -f -# -l -a",
    "svm_classify": "-v -f",
    "svm_perf_learn": f"{STRUCT} --b --p --t --i --k --r --s --f",
    "svm_perf_classify": "-v --d",
    "svm_rank_learn": STRUCT,
    "svm_rank_classify": "-v",
    "svm_multiclass_learn": STRUCT,
    "svm_multiclass_classify": "-v",
    "svm_hmm_learn": f"{STRUCT} --t --e --b",
    "svm_hmm_classify": "-v --b",
    "train": "-s -c -p -n -e -B -R -w* -v -C -q",
    "predict": "-b -q",
}


@pytest.mark.parametrize("name", MODULES)
def test_every_option_of_the_help_is_honoured_or_named(name, capsys):
    options = {option.flag: option for option in program(name).options}
    assert set(HELP[name].split()) <= set(options)
    page = DOCS.read_text()
    for flag, option in options.items():
        if option.unused or option.only:
            row = next((line for line in page.splitlines() if line.startswith(f"| `{name}` | `{flag}`")), "")
            assert (option.unused or option.refusal.rstrip(".")) in row, (
                f"{name} {option.flag} is not in docs/compat.md"
            )
    assert main(name, ["-?"]) == 0
    assert f"usage: {name} [options]" in capsys.readouterr().out


def test_launchers_run_old_scripts(two_classes, folder, capfd):
    assert oneslack(["compat", "bin"]) == 0
    assert oneslack(["compat", "bin"]) == 0  # again, over its own
    assert sorted(path.name for path in (folder / "bin").iterdir()) == sorted(MODULES)
    (folder / "run.sh").write_text(
        "set -e\nPATH=$PWD/bin:$PATH\n"
        "svm_perf_learn -c 1 -w 3 train model\nsvm_perf_classify test model out\n"
    )
    subprocess.run(["sh", "run.sh"], check=True)
    model, X = read_model("model"), two_classes[0][40:]
    assert np.loadtxt("out") == pytest.approx(X @ model.weights - model.b, abs=1e-7)


def test_another_program_is_not_replaced(folder, capsys):
    (folder / "bin").mkdir()
    (folder / "bin" / "train").write_text("mine\n")
    assert oneslack(["compat", "bin"]) == 3
    assert "train: is another program; name another folder" in capsys.readouterr().err
    assert (folder / "bin" / "train").read_text() == "mine\n"
    assert oneslack(["compat", "--force", "bin"]) == 0
    assert "oneslack.adapters.programs" in (folder / "bin" / "train").read_text()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("svm_perf_learn train model", "-c is missing"),
        ("svm_perf_learn -c 1 -l 11 train model", "-l 11: this loss is not known"),
        ("svm_perf_learn -c 1 -p 2 train model", "slacks are not squared here"),
        ("svm_perf_learn -c 1 -t 2 train model", "there is no bias with a kernel"),
        ("svm_perf_learn -c 1 -t 2 --b 0 --k 0 train model", "--k 0: it must be above 0"),
        ("svm_multiclass_learn -c 1 -t 2 tags model", "svm_learn has kernels"),
        ("svm_perf_learn -c 1 -l 4 --p 2 train model", "--p 2: it is at most 1 with -l 4"),
        ("svm_perf_learn -Z 1 train model", "-Z: this option is not known"),
        ("svm_perf_learn -c", "-c: a value was expected after it"),
        ("svm_learn -t 3 train model", "the sigmoid is no positive kernel"),
        ("svm_learn -c0.1 train model", "a value stands apart from its option; write -c 0.1"),
        ("svm_learn -c nan train model", "-c nan: a number was expected"),
        ("svm_learn -t 0.5 train model", "-t 0.5: a whole number was expected"),
        ("svm_learn -v inf train model", "-v inf: a whole number was expected"),
        ("svm_learn -z r -w -1 train model", "-w -1: it must be 0 or above"),
        ("svm_learn train nowhere/model", "nowhere/model: cannot be written"),
        ("svm_classify train linear .", ".: cannot be written"),
        ("svm_learn nothing model", "nothing: there is no such file"),
        ("svm_learn unlabelled model", "unlabelled: example 2 has the label 0"),
        ("svm_rank_learn -c 1 half model", "no qid:N after the label"),
        ("svm_multiclass_learn -c 1 train model", "has the class -1; classes are 1, 2, 3"),
        ("svm_hmm_learn -c 1 --t 3 sentences model", "transitions of order 1 and 2 are trained here"),
        ("svm_hmm_learn -c 1 negative model", "token 1 has a tag below 1"),
        ("svm_classify train train out", "train, line 1: a model of SVM-light"),
        ("svm_classify train short out", "short: ends after line 2"),
        ("svm_multiclass_classify train linear out", "a linear model of SVM-multiclass was expected"),
    ],
)
def test_sentences(two_classes, folder, run, refused, line, sentence):
    (folder / "unlabelled").write_text("1 1:1\n0 1:2\n-1 1:-1\n")
    (folder / "sentences").write_text("1 qid:1 1:1\n2 qid:1 1:2\n")
    (folder / "negative").write_text("-1 qid:1 1:1\n2 qid:1 1:2\n")
    (folder / "half").write_text("1 qid:1 1:1\n2 1:2\n")
    (folder / "short").write_text("SVM-light Version V6.02\n0 # kernel type\n")
    run("svm_learn train linear")
    err = refused(line)
    assert sentence in err
    assert len(err.splitlines()) <= 2
    assert not (folder / "out").exists()


def test_options_without_effect_are_told(two_classes, capsys):
    assert main("svm_learn", ["-q", "20", "-m", "100", "train", "model"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "-q: no effect, the solver here has no such setting.",
        "-m: no effect, memory is planned by itself.",
    ]


def test_values_and_files_as_scripts_write_them(folder, capfd):
    (folder / "loose").write_bytes(b"# words\r\n+1 1:1 3:0.5 # first\r\n\r\n-1.0 3:-1 2:2\r\n1 qid:4 1:2\n")
    assert main("svm_learn", ["-v", "0.0", "-t", "0.0", "-c", "1e0", "loose", "model"]) == 0
    assert main("svm_classify", ["-v", "0", "loose", "model", "/dev/stdout"]) == 0
    scores = np.array(capfd.readouterr().out.split(), float)
    assert (scores > 0).tolist() == [True, False, True]


def test_a_file_without_queries_is_one(two_classes, capfd):
    assert main("svm_rank_learn", ["-c", "1", "-v", "0", "train", "model"]) == 0
    assert main("svm_rank_classify", ["train", "model", "out"]) == 0
    assert capfd.readouterr().err == 2 * "train: no qid:N, so all examples are of one query.\n"


def test_a_model_of_many_support_vectors_is_read(folder, two_classes, run):
    (folder / "model").write_text(
        "SVM-light Version V6.02\n0 # kernel type\n3 # kernel parameter -d \n1 # kernel parameter -g \n"
        "1 # kernel parameter -s \n1 # kernel parameter -r \nempty# kernel parameter -u \n"
        "3 # highest feature index \n4 # number of training documents \n"
        "3 # number of support vectors plus 1 \n"
        "0.5 # threshold b, each following line is a SV (starting with alpha*y)\n"
        "2 1:1 3:-1 #\n-0.5 2:4 # a comment\n"
    )
    run("svm_classify test model out")
    X = two_classes[0][40:]
    assert np.loadtxt("out") == pytest.approx(X[:, :3] @ [2.0, -2.0, -2.0] - 0.5, abs=1e-6)
    run("svm_classify -f 0 test model out")
    first = (folder / "out").read_text().split()
    assert first[0].endswith((":+1", ":-1"))


def test_quapy_as_it_is_runs_on_the_launchers(folder):
    svmperf = pytest.importorskip("quapy.classification.svmperf")
    assert oneslack(["compat", "bin"]) == 0
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)
    for loss in ("01", "f1", "q", "mae", "kld"):
        model = svmperf.SVMperf("bin", C=1.0, loss=loss).fit(X, y)
        assert np.mean(model.predict(X) == y) > 0.8 or loss == "01"


def test_programs_start_quickly(folder, two_classes):
    """A mistake is told before SciPy is there, and linear models are learned without scikit-learn."""
    (folder / "ranks").write_text("2 qid:1 1:1\n1 qid:1 2:1\n")
    (folder / "tags").write_text("2 qid:1 1:1\n1 qid:1 2:1\n")
    script = """
import sys
from oneslack.adapters.programs import MODULES, main
for name in MODULES:
    files = ["none", "none", "out"] if "predict" in name or "classify" in name else ["none", "model"]
    options = ["-c", "1"] if "learn" in name else []
    assert main(name, [*options, *files]) == 1
assert not {"scipy", "numba"} & set(sys.modules), "before"
files = {"svm_rank_learn": "ranks", "svm_multiclass_learn": "tags", "svm_hmm_learn": "tags"}
for name in MODULES:
    if "predict" not in name and "classify" not in name:
        assert main(name, ["-c", "1", files.get(name, "train"), name + "_model"]) == 0
assert "sklearn" not in sys.modules, "after"
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_module_names_its_programs():
    out = subprocess.run([sys.executable, "-m", "oneslack.adapters.programs"], capture_output=True, text=True)
    assert out.returncode == 1
    assert "svm_perf_learn" in out.stderr
