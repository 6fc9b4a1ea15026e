"""Parsing: which phrase does a preposition belong to?

"I saw the star with the telescope": the telescope belongs to seeing. "I saw the star with the planet": the
planet to the star. Rules of a grammar alone cannot tell these apart; weights for the words at the edges of
phrases can. The trees below mark what the rules alone get wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

import oneslack
from oneslack import viz
from oneslack.metrics.brackets import bracket_scores

TOOLS, PARTS = ("telescope", "camera", "lens"), ("planet", "ring", "tail")
WITH_TOOL = "(S (NP (PRP {who})) (VP (VBD {saw}) (NP (DT the) (NN {what})) {pp}))"
WITH_PART = "(S (NP (PRP {who})) (VP (VBD {saw}) (NP (NP (DT the) (NN {what})) {pp})))"


def sentences(n, seed):
    """Trees; half of the prepositions go to the verb, half to the noun."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(n):
        tool = rng.random() < 0.5
        words = {
            "who": ("I", "we", "they"),
            "saw": ("saw", "found", "watched"),
            "what": ("star", "comet", "moon"),
        }
        words = {slot: rng.choice(choices) for slot, choices in words.items()}
        pp = f"(PP (IN with) (NP (DT the) (NN {rng.choice(TOOLS if tool else PARTS)})))"
        trees.append(oneslack.Tree.parse((WITH_TOOL if tool else WITH_PART).format(pp=pp, **words)))
    return trees


def main():
    train, test = sentences(60, seed=0), sentences(60, seed=1)
    words = [tree.words() for tree in test]
    rules = oneslack.GrammarParser(C=1.0).fit(train)
    spans = oneslack.GrammarParser(C=1.0, span_features=True).fit(train)
    found = {"rules": rules.predict(words), "spans": spans.predict(words)}
    told = {name: bracket_scores(test, trees).f1 for name, trees in found.items()}
    told["gap"] = spans.duality_gap_
    print(
        "F1 of brackets: rules {rules:.1%}, with words at the edges {spans:.1%}; gap {gap:.1e}".format(**told)
    )

    wrong = next(k for k, tree in enumerate(found["rules"]) if tree != test[k])
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.0), layout="constrained")
    for ax, (name, title) in zip(axes, (("rules", "by rules alone"), ("spans", "with words at the edges"))):
        viz.plot_tree(found[name][wrong], truth=test[wrong], ax=ax)
        ax.set_title(title, loc="left")
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("parsing.png")
