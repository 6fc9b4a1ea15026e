"""Cases of behaviour.py: the command line, run in this process, and sentences for bad input."""

import contextlib
import gzip
import io
import os
import re
import shlex
from functools import partial
from itertools import chain

import behaviour_data as data
import numpy as np
from behaviour_facts import digest, each, of_file, of_folder, steady
from behaviour_problems import write

import oneslack
from oneslack import Binary, LinearSVC, LinearSVR, MetricSVC, Problem, SequenceTagger
from oneslack.cli import main
from oneslack.formats import write_svmlight

#: Texts of more lines are told by their first ones and a digest.
LONG, SHOWN = 60, 5
#: From a name to the options of `train` and the file; then it is looked at, evaluated and used.
TRAINED = {
    "svmlight": ("classify", "two.svm"),
    "csv": ("classify -C 10 --tol 1e-4", "kinds.csv"),
    "tsv": ("classify --label kind --solver newton", "kinds.tsv"),
    "npz": ("classify --class-weight balanced", "two.npz"),
    "npy": ("classify --label 0 --no-intercept", "two.npy"),
    "gzip": ("classify --solver dual_cd --seed 3", "two.svm.gz"),
    "ovr": ("classify --multi-class ovr --json", "kinds.csv"),
    "class weights": ("classify --class-weight no=2,yes=1 --solver one_slack --epsilon 0.01", "two.csv"),
    "streaming": ("classify --solver streaming --memory 1MB", "two.svm"),
    "max-iter": ("classify --max-iter 2 --solver one_slack", "two.svm"),
    "nonnegative": ("classify --nonnegative", "two.svm"),
    "f1": ("classify --metric f1 -C 0.1", "two.svm"),
    "precision at k": ("classify --metric precision_at_k --k 20 -C 0.1", "two.csv"),
    "roc area of three": ("classify --metric roc_auc -C 0.1", "kinds.csv"),
    "kernel": ("classify --kernel rbf --gamma 2", "board.npz"),
    "kernel, linear": ("classify --kernel poly --coef0 1 --method linear --sample-size 30", "board.npz"),
    "regress": ("regress --tube 0.1", "numbers.csv"),
    "regress, options": ("regress -C 10 --solver dual_cd --nonnegative --no-intercept", "numbers.svm"),
    "rank": ("rank", "queries.svm"),
    "rank, kernel": ("rank --group query --kernel rbf --n-basis 20", "queries.csv"),
    "ordinal": ("ordinal", "grades.csv"),
    "tag": ("tag --constraints iob", "text.conll"),
    "tag, options": ("tag --columns w,pos,chunk --label chunk --templates w[-1..1] --order 2", "text.conll"),
    "tag, partial": ("tag --unlabelled ? --templates w[0] -C 1", "partly.conll"),
    "tag, conllu": ("tag --solver n_slack --start", "text.conllu"),
    "tag, svmhmm": ("tag --rescaling slack", "text.hmm"),
    "tag, svmhmm, kernel": ("tag --kernel rbf --n-basis 15", "text.hmm"),
    "parse": ("parse -C 1 --min-count 1", "bank.trees"),
    "parse, options": ("parse --tagged --vertical 2 --span-features --frequencies prior", "bank.trees"),
}
#: Several commands, one after the other.
COURSES = {
    "pack": """pack two.svm -o packed --shard-size 1KB --dtype float64 --jobs 1; info packed;
        info packed --json; train classify packed -o m --memory 18KB --jobs 1; evaluate m packed;
        predict m packed; info m""",
    "pack csv": """pack kinds.csv kinds.csv -o packed --shard-size 1KB -q; train classify packed -o m;
        evaluate m packed""",
    "pack queries": """pack queries.svm -o packed --jobs 2; train rank packed -o m --jobs 1;
        evaluate m packed --json""",
    "pack numbers": """pack numbers.csv -o packed --dtype float64; train regress packed -o m;
        evaluate m packed""",
    "pack npz": "pack two.npz -o packed --shard-size 1KB; train classify packed -o m; evaluate m packed",
    "pack npy": "pack two.npy --label 0 -o packed; train classify packed -o m -q; evaluate m packed",
    "pack text": """pack text.conll -o packed --columns w,pos,chunk --shard-size 1KB; info packed;
        train tag packed -o m --label chunk --templates w[0] --jobs 1; evaluate m packed""",
    "checkpoint": """train classify two.svm -o m --checkpoint kept --max-iter 3 --solver dual_cd;
        train classify two.svm -o m --checkpoint kept --solver dual_cd;
        train classify two.svm -o m --checkpoint kept --resume -C 2 --solver dual_cd;
        train classify two.svm -o m --checkpoint kept --resume --solver dual_cd; info m""",
    "checkpoint, ovr": """train classify kinds.csv -o m --multi-class ovr --checkpoint kept --max-iter 2 -q;
        train classify kinds.csv -o m --multi-class ovr --checkpoint kept --resume""",
    "checkpoint, tag": """train tag text.conll -o m --checkpoint kept --max-iter 2;
        train tag text.conll -o m --checkpoint kept --resume""",
    "prior": """train classify two.svm -o m -C 0.1 -q; train classify two.svm -o n --prior m; info n;
        train regress numbers.csv -o n --prior m""",
    "tune": """tune two.svm -C 0.01:10:4 --folds 3 -o m; info m; tune two.svm -C 1,10 --folds 3 --json --all;
        tune numbers.csv --task regress -C 0.1,1 --folds 3; tune board.npz -C 1 --gamma 0.3,3 --folds 3""",
    "report": """train classify two.svm -o m -q; report m --data two.svm -o classes.html;
        train tag text.conll -o m -q; report m --data text.conll -o tags.html; train rank queries.svm -o m -q;
        report m --data queries.svm -o rank.html; train regress numbers.csv -o m -q;
        report m --data numbers.csv -o numbers.html; train parse bank.trees -o m -q;
        report m --data bank.trees -o trees.html; train classify board.npz --kernel rbf -o m -q;
        report m --data board.npz -o kernel.html""",
    "suggest": """train two.svm; train kinds.csv; train numbers.csv; train queries.svm; train text.conll;
        train bank.trees""",
    "info": "info two.npz; info two.npy; info numbers.csv; info queries.csv; info text.conllu; info text.hmm",
    "sentences": """train parse bank.trees -o m --min-count 1 -q; predict m sentences.txt;
        predict m tagged.txt""",
    "help": """--help; --version; train --help; train classify --help; train regress --help;
        train rank --help; train ordinal --help; train tag --help; train parse --help; tune --help;
        predict --help; evaluate --help; report --help; pack --help; plan --help; info --help; demo --help""",
    "mistakes": """nothing; train classify two.svm; train classify absent.svm -o m;
        train classify two.svm -o no/m; train classify two.svm -o m -C -1;
        train classify two.svm -o m --solver sgd; info absent; tune two.svm -C 0;
        train classify two.svm -o two.svm; train classify two.svm -o m --metric f1 --multi-class ovr;
        train classify two.svm -o m --kernel rbf --nonnegative; train classify numbers.csv -o m;
        tune two.svm --folds 100; train classify two.svm -o m --label kind; train rank kinds.csv -o m;
        train tag two.npz -o m; train parse two.svm -o m; train regress kinds.csv -o m;
        predict two.svm two.svm; evaluate absent two.svm; pack absent.svm -o packed;
        train rank queries.svm -o m -q; predict m kinds.csv; evaluate m numbers.csv; report m""",
}
SVM = "1 1:1 2:2\n-1 1:-1 2:-2\n"
#: Contents of files that are refused.
BAD = {
    "empty.svm": "", "comments.svm": "# nothing\n\n", "word.svm": SVM + "yes 1:1\n",
    "nolabel.svm": SVM + "1:1 2:2\n", "index.svm": SVM + "1 x:1\n", "negative.svm": SVM + "1 -1:1\n",
    "twice.svm": SVM + "1 1:1 1:2\n", "nan.svm": SVM + "1 1:nan\n", "one.svm": "1 1:1\n1 1:2\n",
    "bare.svm": "1\n-1\n", "real.svm": "0.5 1:1\n1.5 1:2\n", "ragged.csv": "1,2,a\n1,2\n",
    "word.csv": "1,2,a\n1,x,b\n", "empty.csv": "", "empty.conll": "", "ragged.conll": "a B\nb\n",
    "open.trees": "(S (NP (N cat))\n", "qid.svm": "1 qid:1 1:1\n2 1:2\n",
}  # fmt: skip


def cases():
    return chain(commands(), refusals())


def write_files():
    """One file of each kind, in the current folder."""
    (X, y), (Q, grades, groups), (words, tags, _) = data.points(), data.queries(), data.tagged()
    two = (y == "yes").astype(int)
    np.savez("two.npz", X=X, y=two, sample_weight=data.weights())
    np.save("two.npy", np.column_stack([two, X]))
    np.savez("board.npz", X=data.board()[0], y=data.board()[1])
    for name, rows in {"two": (X, two), "numbers": data.numbers(), "queries": (Q, grades, groups)}.items():
        write_svmlight(f"{name}.svm", *rows)
    with open("two.svm", "rb") as plain, gzip.GzipFile("two.svm.gz", "wb", mtime=0) as packed:
        packed.write(plain.read())
    tables = {"two.csv": (X, y), "numbers.csv": data.numbers(), "grades.csv": (Q, grades)}
    for name, (rows, labels) in (tables | dict.fromkeys(("kinds.csv", "kinds.tsv"), data.points(3))).items():
        head = [*(f"x{k}" for k in range(rows.shape[1])), "kind"]
        lines = [head, *([*row, label] for row, label in zip(rows.tolist(), labels.tolist()))]
        write(name, _lines(lines, "\t" if name.endswith("tsv") else ","))
    lines = [
        ["query", *"abcde", "grade"],
        *([f"q{g}", *row, one] for g, row, one in zip(groups, Q.tolist(), grades)),
    ]
    write("queries.csv", _lines(lines, ","))
    write("text.conll", data.conll())
    write("partly.conll", data.conll().replace("red J I-NP", "red J ?").replace("on P O", "on P ?"))
    row = "{}\t{}\t{}\t{}\t_\t_\t0\t_\t_\t_\n".format
    write("text.conllu", "".join("".join(map(row, range(1, 9), s, s, z)) + "\n" for s, z in zip(words, tags)))
    tokens = [(i, *token) for i, pair in enumerate(zip(words, tags), 1) for token in zip(*pair)]
    row = "{} qid:{} 1:{} 2:{}\n".format
    write("text.hmm", "".join(row("DJNVP".index(tag) + 1, i, len(w), ord(w[0]) - 96) for i, w, tag in tokens))
    write("bank.trees", "\n".join(data.trees()) + "\n")
    write("sentences.txt", _lines(words, " "))
    write("tagged.txt", _lines([map("{}/{}".format, *pair) for pair in zip(words, tags)], " "))
    for name in os.listdir("."):
        os.utime(name, (0, 0))


def _lines(rows, between):
    return "".join(between.join(map(str, row)) + "\n" for row in rows)


def run_command(line):
    """Exit code, stdout and stderr of a command line, without times."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = int(main(shlex.split(line)))
    return {"code": code, "out": shown(out.getvalue()), "err": shown(err.getvalue())}


def shown(text):
    text = steady(text)
    lines = text.splitlines(keepends=True)
    return (
        text if len(lines) <= LONG else "".join(lines[:SHOWN]) + f"... {len(lines)} lines, {digest(text)}\n"
    )


def page(path):
    """The words of a report, without what shows times: pictures, the steps, sizes and checksums."""
    with open(path) as file:
        text = re.sub(r"(?s)<(svg|style|script|dl)\b.*?</\1>|<caption>Some steps.*?</table>", "", file.read())
    text = re.sub(r"\b[0-9a-f]{64}\b", "CHECKSUM", re.sub(r"<[^>]*>", "\n", text))
    return shown(re.sub(r"\s*\n\s*", "\n", text))


def course(lines):
    """What commands say, one after the other, and the files that they leave."""
    os.environ["COLUMNS"] = "100"  # of a terminal: help is broken into lines by it
    write_files()
    facts = {line: run_command(line) for line in lines}
    facts |= {name: of_file(name) for name in "mn" if os.path.isfile(name)}
    facts |= {"packed": of_folder("packed")} if os.path.isdir("packed") else {}
    return facts | {name: page(name) for name in os.listdir(".") if name.endswith(".html")}


def commands():
    for name, (options, file) in TRAINED.items():
        lines = [f"train {options} {file} -o m --jobs 1", f"info {file}", "info m", "info m --json"]
        lines += [f"evaluate m {file}", f"evaluate m {file} --json", f"predict m {file}"]
        has_scores = options.split()[0] in ("classify", "ordinal", "tag")
        yield f"cli/{name}", partial(course, [*lines, f"predict m {file} --scores"] if has_scores else lines)
    for name, lines in COURSES.items():
        yield f"cli/{name}", partial(course, [" ".join(line.split()) for line in lines.split(";")])

    def refused(name):
        write(name, BAD[name])
        kinds = {"conll": "tag", "trees": "parse"}
        kind = "rank" if name == "qid.svm" else kinds.get(name.split(".")[1], "classify")
        return run_command(f"train {kind} {name} -o m")

    yield "cli/bad files", each({name: partial(refused, name) for name in BAD})


def refusals():
    """What Python refuses: parameters, arrays, calls, files."""
    X, y = data.points()
    parameters = [
        {"C": 0}, {"C": "1"}, {"C": np.nan}, {"tol": -1}, {"epsilon": 0.0}, {"solver": "sgd"},
        {"solver": None}, {"multi_class": "all"}, {"loss": "squared_hinge"}, {"loss": 3},
        {"fit_intercept": 1}, {"class_weight": "heavy"}, {"class_weight": {"no": -1}}, {"n_jobs": 0},
        {"max_iter": 0}, {"time_limit": -1}, {"random_state": -1}, {"verbose": -1}, {"engine": "gpu"},
        {"prior": [1.0]}, {"scale": 0.0}, {"nonnegative": [99]}, {"prior": {"width": 1.0}},
    ]  # fmt: skip
    arrays = {
        "NaN": (np.where(np.arange(8) == 3, np.nan, X), y), "one row": (X[0], y), "no rows": (X[:0], y[:0]),
        "few labels": (X, y[:3]), "numbers": (X, X[:, 0]), "one class": (X, y[:1].repeat(120)),
        "texts": (np.full((120, 2), "a"), y), "no weight": (X, y, np.zeros(120)),
        "negative weight": (X, y, -data.weights()), "few weights": (X, y, data.weights()[:5]),
    }  # fmt: skip
    yield "refused/parameters", each({str(one): partial(LinearSVC(**one).fit, X, y) for one in parameters})
    yield "refused/arrays", each({name: partial(LinearSVC().fit, *given) for name, given in arrays.items()})
    ones, token = np.ones(120), [[{"w": "a"}]]
    calls = {
        "LinearSVR, epsilon": lambda: LinearSVR(epsilon=-1).fit(X, ones),
        "LinearSVR, loss": lambda: LinearSVR(loss="squared").fit(X, ones),
        "metric": lambda: MetricSVC("accuracy").fit(X, y),
        "no k": lambda: MetricSVC("precision_at_k").fit(X, y),
        "large k": lambda: MetricSVC("precision_at_k", k=500).fit(X, y),
        "not fitted": lambda: LinearSVC().predict(X),
        "other columns": lambda: LinearSVC().fit(X, y).predict(X[:, :2]),
        "other classes": lambda: LinearSVC().partial_fit(X, y, ["a", "b"]),
        "templates": lambda: SequenceTagger(templates="w[0]").fit(token, [["D"]]),
        "labels": lambda: SequenceTagger().fit(token, [["D", "N"]]),
        "no sentence": lambda: SequenceTagger().fit([], []),
        "no tree": lambda: oneslack.GrammarParser().fit(["(S"]),
        "problem, C": lambda: Problem(Binary(8), X, ones, -1.0),
        "problem, labels": lambda: Problem(Binary(8), X, y),
        "rescaling": lambda: Problem(Binary(8), X, ones, rescaling="slack"),
        "solver": lambda: oneslack.solve(Problem(Binary(8), X, ones), "sgd"),
        "tol": lambda: oneslack.solve(Problem(Binary(8), X, ones), tol=-1),
        "class": lambda: oneslack.StructuralSVM(Binary).fit(X, y),
        "no model": lambda: oneslack.StructuralSVM("text").fit(X, y),
        "kernel": lambda: oneslack.Kernel("cosine"), "gamma": lambda: oneslack.Kernel("rbf", gamma=-1.0),
        "absent": lambda: oneslack.load("absent"),
        "memory": lambda: LinearSVC(solver=oneslack.Streaming("much")).fit(X, y),
        "tree": lambda: oneslack.Tree.parse("(S (NP"), "path": lambda: oneslack.path(LinearSVC(), X, y, C=[]),
        "folds": lambda: oneslack.tune(LinearSVC(), X, y, cv=1000),
        "chain": lambda: Problem(oneslack.Chain(2, 2), [np.ones((2, 2))], [[0, 5]]),
        "forgetful": lambda: oneslack.solve(Problem(data.ForgetfulFlags(), *data.flags())),
        "failing": lambda: oneslack.solve(Problem(data.FailingFlags(), *data.flags())),
    }  # fmt: skip
    yield "refused/calls", each(calls)

    def damaged(change):
        LinearSVC(n_jobs=1).fit(X, y).save("model")
        with open("model", "rb") as file:
            content = change(file.read())
        with open("model", "wb") as file:
            file.write(content)
        return oneslack.load("model")

    changes = {"short": lambda all: all[:-9], "empty": lambda all: b"", "pickle": lambda all: b"\x80\x04"}
    changes |= {"changed": lambda all: all[:-1] + bytes([all[-1] ^ 1])}
    yield "refused/damaged files", each({name: partial(damaged, change) for name, change in changes.items()})
