"""Parsers from the command line: train, predict, evaluate, info, and what is refused."""

import json
import lzma
from pathlib import Path

import pytest

import oneslack
from oneslack.formats import read_trees
from oneslack.trees import Tree

TREES = [
    "( (S (NP-SBJ (PRP I)) (VP (VBP see) (NP (NP (NNS stars)) (PP (OF of) (NP (NN gold)))))))",
    "( (S (NP-SBJ (PRP we)) (VP (VBP see) (NP (NNS stars)) (PP (IN with) (NP (NNS eyes))))))",
    "( (S (NP-SBJ (NNS eyes)) (VP (VBP see) (NP (-NONE- *)))))",
]
OPTIONS = ("-C", 1, "--min-count", 1, "--vertical", 2)


@pytest.fixture
def bank(folder):
    (folder / "bank.trees").write_text("\n".join(TREES))
    (folder / "sentences.txt").write_text("we see stars of gold\n\neyes see\n")
    return folder


@pytest.fixture
def parser(bank, run):
    done = run("train", "parse", "bank.trees", "-o", "parser.model", *OPTIONS)
    assert done.code == 0, done.err
    return done


def test_training_says_what_it_learned(parser):
    assert parser.out.startswith("parser.model: ")
    assert "(certified)" in parser.out
    assert "3 trees, 12 words" in parser.out
    assert "tags to be found" in parser.out


def test_facts_as_json(bank, run):
    done = run("train", "parse", "bank.trees", "-o", "m", *OPTIONS, "--max-words", 3, "--json")
    facts = json.loads(done.out)
    assert (facts["examples"], facts["tokens"], facts["left_out"], facts["tagged"]) == (1, 2, 2, False)
    assert facts["relative_gap"] <= facts["tol"]


def test_losses_and_priors_are_passed_on(bank, run):
    options = ("--missing", 1.5, "--frequencies", "prior", "--json")
    assert run("train", "parse", "bank.trees", "-o", "m", *OPTIONS, *options).code == 0
    model = oneslack.load("m")
    assert (model.missing, model.frequencies, model.model_.missing) == (1.5, "prior", 1.5)
    done = run("train", "parse", "bank.trees", "-o", "m", *OPTIONS, "--missing", 3)
    assert done.code == 2
    assert "--missing" in done.err
    options = ("--missing", 1.5, "--loss", "zero_one")
    done = run("train", "parse", "bank.trees", "-o", "other", *OPTIONS, *options)
    assert done.code == 2
    assert "--missing needs --loss brackets; drop it, or --loss zero_one." in done.err
    assert not Path("other").exists()


def test_trees_left_out_are_said(bank, run):
    done = run("train", "parse", "bank.trees", "-o", "m", *OPTIONS, "--max-words", 3)
    assert "2 trees of more than 3 words were left out" in done.out


def test_predicted_trees_are_trees(parser, run):
    done = run("predict", "parser.model", "sentences.txt")
    assert done.out.splitlines() == [
        "(S (NP (PRP we)) (VP (VBP see) (NP (NP (NNS stars)) (PP (OF of) (NP (NN gold))))))",
        "(S (NP (NNS eyes)) (VP (VBP see)))",
    ]
    assert done.err == ""


@pytest.mark.slow
def test_scores_stand_before_the_trees(parser, run):
    lines = run("predict", "parser.model", "sentences.txt", "--scores").out.splitlines()
    for line in lines:
        score, tree = line.split("\t")
        assert float(score) == float(score)
        assert Tree.parse(tree).words()


def test_flat_trees_are_said(parser, run, bank):
    (bank / "strange.txt").write_text("of of\neyes see\n")
    done = run("predict", "parser.model", "strange.txt", "--scores")
    assert done.code == 0
    assert done.out.splitlines()[0] == "-\t(S (OF of) (OF of))"
    assert "no tree for 1 of 2 sentences (1); they got a flat one" in done.err


def test_predictions_go_to_a_file_that_can_be_evaluated(parser, run):
    assert run("predict", "parser.model", "bank.trees", "-o", "again.trees").code == 0
    assert read_trees("again.trees") == read_trees("bank.trees")


def test_evaluation(parser, run):
    done = run("evaluate", "parser.model", "bank.trees")
    for text in ("bracket F1 100.00 %", "exact match 100.00 %", "tag accuracy 100.00 %", "0 skipped", "NP"):
        assert text in done.out
    facts = json.loads(run("evaluate", "parser.model", "bank.trees", "--json").out)
    assert facts["measures"]["f1"] == facts["measures"]["precision"] == 1.0
    assert (facts["examples"], facts["flat"], facts["skipped"]) == (3, 0, 0)
    assert {row["type"]: row["phrases"] for row in facts["phrases"]} == {"NP": 8, "PP": 2, "S": 3, "VP": 3}


def test_info(parser, run):
    facts = json.loads(run("info", "parser.model", "--json").out)
    assert facts["predicts"] == "trees"
    assert facts["labels"] == ["NP", "PP", "S", "VP"]
    assert facts["examples"] == 3
    assert run("info", "parser.model").code == 0


def test_tagged_sentences(bank, run):
    assert run("train", "parse", "bank.trees", "-o", "m", *OPTIONS, "--tagged", "-q").code == 0
    (bank / "tagged.txt").write_text("we/PRP see/VBP comets/NNS\n")
    tree = "(S (NP (PRP we)) (VP (VBP see) (NP (NNS comets))))"
    assert run("predict", "m", "tagged.txt").out.strip() == tree
    done = run("predict", "m", "sentences.txt")
    assert done.code == 3
    assert "but the parser was trained on given tags; write each token as word/TAG" in done.err
    assert "(tags were given)" in run("evaluate", "m", "bank.trees").out


def test_any_parser_takes_tags(parser, run, bank):
    (bank / "tagged.txt").write_text("we/PRP see/VBP stars/NNS\n")
    assert run("predict", "parser.model", "tagged.txt").out.startswith("(S (NP (PRP we))")


def test_packed_files(bank, run):
    (bank / "bank.xz").write_bytes(lzma.compress("\n".join(TREES).encode()))
    assert run("train", "parse", "bank.xz", "-o", "m", *OPTIONS, "-q").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["train", "parse", "absent.trees", "-o", "m"], 3, "absent.trees: there is no such file"),
        (
            ["train", "parse", "broken.trees", "-o", "m"],
            3,
            "broken.trees, line 2: the tree that begins here lacks",
        ),
        (["train", "parse", "mixed.trees", "-o", "m", "--max-words", 1], 3, "no tree has at most 1 words"),
        (["train", "parse", "bank.trees", "-o", "m", "--rescaling", "slack"], 2, "needs --loss zero_one"),
        (["train", "parse", "bank.trees", "-o", "m", "--vertical", "0"], 2, "vertical"),
        (["predict", "parser.model", "empty.txt"], 3, "empty.txt: holds no sentence"),
        (["predict", "parser.model", "latin.txt"], 3, "is not utf-8; convert"),
        (["predict", "parser.model", "sentences.txt", "--columns", "w"], 2, "where --columns has no meaning"),
        (
            ["evaluate", "parser.model", "sentences.txt"],
            3,
            "sentences.txt, line 1: 'we' is outside of any tree",
        ),
    ],
)
def test_refusals(parser, run, bank, arguments, code, message):
    (bank / "broken.trees").write_text("(S (NN a))\n(S (NN b)")
    (bank / "mixed.trees").write_text("(S (NN a) (NN b))")
    (bank / "empty.txt").write_text("\n")
    (bank / "latin.txt").write_bytes("é".encode("latin-1"))
    done = run(*arguments)
    assert done.code == code
    assert message in done.err
    assert done.err.count("\n") == 1
