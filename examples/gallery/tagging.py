"""Tagging: find tasks, times and places in requests.

Each word gets a label: B- begins a task, time or place, I- goes on, O is outside. Templates make features
of a word, its ending and its neighbours, so that new words are known by what stands around them. The test
requests have words that no training request has.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

import oneslack
from oneslack import viz
from oneslack.metrics import phrase_f1

FORMS = (
    "remind me to TASK TIME",
    "TIME TASK",
    "please TASK PLACE TIME",
    "TASK PLACE",
    "can you TASK TIME please",
)
VERBS = ("call", "visit", "ring", "meet", "thank", "phone"), ("email", "greet", "invite")
NOUNS = ("the plumber", "aunt Mary", "my bank", "Paul", "the old dentist"), ("my vet", "uncle Ben", "Ruth")
TIMES = ("at 7 pm", "on Friday", "tomorrow morning", "next week"), ("at 10 am", "on Sunday", "tomorrow night")
TEMPLATES = "w[-1..1]\nsuffix(w[0], 2)"
PLACES = ("in Rome", "at the station", "near the old bridge"), ("in Oslo", "at the harbour")


def requests(n, new, seed):
    """Sentences and labels; `new` takes the second list of words, not the first."""
    rng = np.random.default_rng(seed)
    kinds = {"TIME": TIMES[new], "PLACE": PLACES[new]}
    kinds["TASK"] = [" ".join(pair) for pair in itertools.product(VERBS[new], NOUNS[new])]
    sentences, labels = [], []
    for _ in range(n):
        words, tags = [], []
        for part in FORMS[rng.integers(len(FORMS))].split():
            chosen = kinds[part][rng.integers(len(kinds[part]))].split() if part in kinds else [part]
            words += chosen
            tags += [f"B-{part}"] + [f"I-{part}"] * (len(chosen) - 1) if part in kinds else ["O"]
        sentences.append(words)
        labels.append(tags)
    return sentences, labels


def main():
    X, Y = requests(80, new=0, seed=0)
    X_test, Y_test = requests(100, new=1, seed=1)
    alone = oneslack.SequenceTagger(C=0.1, templates="w[0]", constraints="iob").fit(X, Y)
    tagger = oneslack.SequenceTagger(C=0.1, templates=TEMPLATES, constraints="iob").fit(X, Y)
    found = tagger.predict(X_test)
    told = {"f1": phrase_f1(Y_test, found), "alone": phrase_f1(Y_test, alone.predict(X_test))}
    print(
        f"phrase F1 {told['f1']:.3f}, {told['alone']:.3f} by the words alone; gap {tagger.duality_gap_:.1e}"
    )

    figure, (top, below) = plt.subplots(
        2, 1, figsize=(8.0, 6.4), height_ratios=(1, 2.4), layout="constrained"
    )
    worst = sorted(
        range(len(X_test)), key=lambda k: sum(map(str.__eq__, found[k], Y_test[k])) / len(found[k])
    )
    for k in (*worst[:1], *worst[-2:]):
        viz.plot_tags(X_test[k], found[k], Y_test[k], ax=top)
    viz.plot_transitions(tagger, ax=below)
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("tagging.png")
