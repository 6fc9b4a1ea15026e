"""GrammarParser: trees for sentences, by a grammar read off trees, with weights learned by margin."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Ragged
from ..errors import users_level
from ..models.grammar import GrammarModel, SpanFeatures
from ..models.grammar.model import LOSSES
from ..models.grammar.reading import read_grammar_and_trees
from ..trees import Tree
from ._shared.callbacks import with_callbacks
from ._shared.described import described
from ._shared.fitting import Fitted, Watch, problem_of, solved
from ._shared.given import check_parameters, choice, flag, integer, number
from ._shared.parsed_input import (
    checked_weights,
    other_tags,
    refuse_other_words,
    sentences_of,
    trees_of,
    words_of,
)

#: One part of so many sentences is asked about at a time (memory/doubts.py).
PARTS = 16
REASON = "parsing is dear beside remembered trees: sentences in doubt are parsed, a part at a time"


def _frequencies(name, value):
    if not isinstance(value, bool) and value != "prior":
        kind = ValueError if isinstance(value, str) else TypeError
        raise kind(f"{name} must be True, False or 'prior'; got {value!r}")


class Parses(NamedTuple):
    """What `parse` finds: trees, and (n,) of bool whether the grammar has none and the tree is a flat one."""

    trees: list[Tree]
    flat: np.ndarray


@described
class GrammarParser(Fitted):
    """Parser of a context-free grammar whose rules are read off trees and weighed by a large margin.

    Minimises 1/2 |w|^2 + C sum_i s_i H_i(w) to a certified relative duality gap, where H_i is the margin that
    the right tree of sentence i misses: a tree with m wrong or missing brackets should score m less.

    Parameters
    ----------
    C : float, default=0.1
        Weight of the sum over sentences.
    loss : {"brackets", "zero_one"}, default="brackets"
        Brackets that are wrong or missing; or 1 for every tree but the right one.
    missing : float from 0 to 2, default=1.0
        What the loss "brackets" counts for a bracket that is missing; one too many counts 2 - missing.
        Above 1 trees get more brackets: less precision, more recall.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters; "slack" is for the loss "zero_one".
    binarise : {"right", "left"}, default="right"
        From which side nodes with more than two children are taken apart.
    horizontal : int or None, default=1
        How many of the children to come a part of a node remembers; None for all of them.
    vertical : int, default=1
        How many labels a phrase knows: 1 for its own, 2 for its parent's too (NP below S), ...
    span_features : bool, default=False
        Beside rules, weights for the words at the edges of labelled spans.
    frequencies : {True, False, "prior"}, default=True
        One more feature: the log-probability of a tree by the relative frequencies of its rules.  With
        "prior" its weight is drawn to 1 instead of 0: the smaller C is, the nearer is the parser to the
        probabilistic grammar.
    min_count : int, default=2
        Words that occur less often are known by their shape and suffix alone.
    chain_length : int, default=1
        Chains of unary rules are those of the trees, and all others of at most so many rules.
    solver : {"auto", "dual_cd", "n_slack", "one_slack"} or a solver, default="auto"
        "auto" is n-slack that parses only the sentences in doubt; "one_slack" does so too, with its cache.
    cache_size : int, default=10
        Cuts that "one_slack" remembers of each sentence, to ask them before the parser; 0 for none.

    Attributes
    ----------
    grammar_ : Grammar
        The rules.
    model_ : GrammarModel
        Says which weight is which.
    coef_ : ndarray of shape (n_params,)
        The weights: binary rules, unary rules, lexical rules, span features, and that of the log-probability.
    outside_ : ndarray
        Numbers of the sentences that were left out of the training, as their trees cannot be made from what
        is given: tags that differ from the tree's.

    Examples
    --------
    >>> import oneslack
    >>> trees = ["(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars))))", "(S (NP (NNS stars)) (VP (VBP shine)))"]
    >>> parser = oneslack.GrammarParser(C=10, min_count=1).fit(trees)
    >>> print(parser.predict([["I", "see"]])[0])
    (S (NP (PRP I)) (VP (VBP see)))
    """

    _checks: ClassVar = {
        "loss": choice(LOSSES),
        "missing": number("a number from 0 to 2", lambda missing: 0 <= missing <= 2),
        "binarise": choice(("right", "left")),
        "horizontal": integer("None for all, or an integer >= 0", lambda labels: labels >= 0, optional=True),
        "vertical": integer("an integer >= 1", lambda labels: labels >= 1),
        "span_features": flag,
        "frequencies": _frequencies,
        "chain_length": integer("an integer >= 1", lambda length: length >= 1),
    }
    _saving = "parser"

    def __init__(
        self, C: float | str = 0.1, *, loss: str = "brackets", missing: float = 1.0,
        rescaling: str = "margin", binarise: str = "right", horizontal: Any = 1, vertical: Any = 1,
        span_features: bool = False, frequencies: Any = True, min_count: int = 2, chain_length: int = 1,
        solver: Any = "auto", tol: float = 1e-2, epsilon: float | None = None, cache_size: int = 10,
        n_jobs: int | None = None, engine: Any = None, max_iter: int = 100_000,
        time_limit: float | None = None, random_state: Any = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self._keep(locals())

    @with_callbacks
    def fit(
        self, X: Any, Y: Any = None, sample_weight: Any = None, *, callbacks: Any = (),
        checkpoint: Any = None, resume: bool = False, validation: Any = None,
    ) -> Self:  # fmt: skip
        """Learn from trees, or from sentences and their trees.

        Parameters
        ----------
        X : list of trees, or with Y a list of sentences
            A tree is an `oneslack.Tree`, a text of brackets or an `nltk.Tree`.  A sentence is a list of
            words, or of (word, tag) pairs for a parser that is given tags.
        Y : list of trees or None
        sample_weight : array-like of shape (n,) or None
            Weights >= 0 of the sentences.

        Returns
        -------
        self : GrammarParser
        """
        check_parameters(self)
        sentences, trees = _both(X, Y)
        weights = checked_weights(sample_weight, len(trees))
        grammar, outputs = read_grammar_and_trees(
            trees, direction=self.binarise, horizontal=self.horizontal, vertical=int(self.vertical),
            min_count=int(self.min_count), chain_length=int(self.chain_length), weights=weights,
        )  # fmt: skip
        outside, kept = _outside(sentences, trees)
        weights = None if weights is None else weights[kept]
        words, outputs = Ragged.from_list([grammar.word_ids(sentences[i]) for i in kept]), outputs.take(kept)
        spans = SpanFeatures.read(grammar, words, outputs) if self.span_features else None
        model = GrammarModel(grammar, self.loss, spans, self.frequencies, self.missing)

        def store(results):
            self.grammar_, self.model_, self.coef_, self.outside_ = grammar, model, results[0].w, outside

        jobs = self._jobs(model, words, outputs, weights)
        return self._solve(
            jobs, store, (X, Y, sample_weight), Watch(callbacks, checkpoint, resume, validation)
        )

    def _jobs(self, model, words, outputs, weights):
        problem = problem_of(
            self, model, words, outputs, sample_weight=weights, rescaling=self.rescaling,
            cache_size=self.cache_size,
            prior=model.frequency_prior() if self.frequencies == "prior" else None,
        )  # fmt: skip
        yield partial(solved, problem, finish=self._with_reason)

    def _with_reason(self, problem, result, tol):
        return replace(result, reason=REASON) if self._is_automatic() else result

    def parse(self, X: Any) -> Parses:
        """The best tree of each sentence, and whether the grammar has one.

        Parameters
        ----------
        X : list of sentences
            Lists of words or of (word, tag) pairs; where tags are given, the tree has them.

        Returns
        -------
        parses : Parses(trees, flat)
            flat (n,) is True for sentences that the grammar has no tree for: theirs is a flat one.
        """
        check_is_fitted(self)
        sentences = sentences_of(X)
        flat = np.zeros(len(sentences), bool)
        trees = []
        for i, numbers in enumerate(self._best(sentences)):
            flat[i] = numbers[0] < 0
            trees.append(
                self._flat_tree(sentences[i]) if flat[i] else self.grammar_.decode(numbers, sentences[i])
            )
        return Parses(trees, flat)

    def predict(self, X: Any) -> list[Any]:
        """The best tree of each sentence; `parse` also tells which of them are flat.

        Parameters
        ----------
        X : list of sentences
            As for `parse`.

        Returns
        -------
        trees : list of Trees
        """
        return self.parse(X).trees

    def predict_topk(self, X: Any, k: int) -> list[list[Any]]:
        """The k best trees of each sentence, best first, with their scores.

        Parameters
        ----------
        X : list of sentences
        k : int

        Returns
        -------
        outputs : list of lists of (Tree, score)
            Fewer than k where there are fewer; none where the grammar has no tree.
        """
        check_is_fitted(self)
        sentences = sentences_of(X)
        outputs = []
        for sentence, best in zip(sentences, self._best(sentences), strict=True):
            found = ((), ()) if best[0] < 0 else self.model_.decode_topk(self.coef_, sentence, k)
            outputs.append(
                [(self.grammar_.decode(z, sentence), float(s)) for z, s in zip(*found, strict=True)]
            )
        return outputs

    def score(self, X: Any, Y: Any = None) -> float:
        """F1 of labelled brackets by EVALB's rules; `oneslack.metrics.brackets.bracket_scores` gives more.

        Parameters
        ----------
        X, Y : sequences of sentences and trees, as for fit
            Trees alone are parsed from their words, without tags.

        Returns
        -------
        f1 : float
        """
        from ..metrics.brackets import bracket_f1

        sentences, trees = _both(X, Y)
        return bracket_f1(trees, self.predict(sentences))

    def _training(self):
        from ..solvers.n_slack import NSlack
        from ..solvers.one_slack import OneSlack

        training = super()._training()
        if self._is_automatic():
            training["solver"] = NSlack(inner=0.3, seed=training["seed"], parts=PARTS)
        elif self.solver == "one_slack" and self.engine in (None, "threads"):
            training["solver"] = OneSlack(cache_size=self.cache_size, parts=PARTS)
        return training

    def _is_automatic(self):
        """Whether the choice of the solver is ours; on a cluster it is not."""
        return self.solver == "auto" and self.engine in (None, "threads")

    def _best(self, sentences):
        """The numbers of the best tree of each sentence; all -1 where there is none."""
        from ..engines.threads import Threads

        if not sentences:
            return []
        data = self.model_.pack(sentences, None)
        with Threads(self.n_jobs) as engine:
            parts = engine.map(lambda shard: self.model_.predict_batch(data, shard, self.coef_), data.shards)
        numbers = Ragged(np.concatenate(parts), data.offsets)
        return [numbers[i] for i in range(len(sentences))]

    def _flat_tree(self, sentence) -> Tree:
        """All words below the most frequent label of a tree, each with its given or most frequent tag."""
        from ..models.grammar.flat import flat_tree

        return flat_tree(self.grammar_, sentence)


def _both(X, Y):
    """(sentences, trees), which fit each other."""
    if Y is None:
        trees = trees_of(X)
        return [tree.words() for tree in trees], trees
    sentences, trees = sentences_of(X), trees_of(Y)
    refuse_other_words(sentences, trees)
    return sentences, trees


def _outside(sentences, trees):
    """(sentences to leave out, those to keep); a warning names the first of the former."""
    found = other_tags(sentences, trees)
    outside = np.array([i for i, _ in found], dtype=np.int64)
    kept = np.setdiff1d(np.arange(len(trees)), outside)
    if not found:
        return outside, kept
    i, t = found[0]
    first = (
        f"sentence {i}, position {t}: {words_of(sentences[i])[t]!r} is tagged {sentences[i][t][1]!r}, but "
        f"{trees[i].tags()[t]!r} in its tree"
    )
    if not len(kept):
        raise ValueError(f"no tree can be made from the tags that are given ({first})")
    warnings.warn(
        f"{len(found)} of {len(trees)} trees cannot be made from the tags that are given, so that training "
        f"leaves them out ({first}); their numbers are in outside_.",
        stacklevel=users_level(),
    )
    return outside, kept
