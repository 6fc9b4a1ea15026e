"""GrammarModel: trees of a context-free grammar with weights for its rules.

    <w, psi(x, y)> = sum of the weights of the rules that y uses
                     (+ weights of the edges of labelled spans)   (+ w_0 log p(y))
    loss(y, z)     = c times the brackets (label, first word, last word) of y that z lacks + (2 - c) times
                     those of z that y lacks, c = 1 unless told otherwise; or 1 for every wrong tree

Joachims, Finley & Yu (2009), section 4: psi counts rules.  A tree y over m words is 3 (2m - 1) numbers, see
Grammar.encode.  log p(y) is the logarithm of the product of the rules' relative frequencies in training: with
it a few trees are enough to do no worse than such a grammar, as w_0 = 1 alone is that grammar.  Brackets are
those of trees as they were before they were binarised, labels of unary chains included; tags are no brackets.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import Sizes
from ...data.rows import Shard
from .binarise import PHRASE
from .data import GrammarData, pack_sentences
from .listing import all_trees
from .rules import Grammar
from .spans import SpanFeatures, no_spans, tag_of_class
from .tables import compiled_rules

#: Losses, by the number that compiled loops know.
LOSSES = {"brackets": 0, "zero_one": 1}
NO_LOSS = -1

_ONE = Shard(0, 1)


class GrammarModel:
    """Sentences x with trees y of a Grammar.

    x : words, (word, tag) pairs, or the (m, 2) array of Grammar.word_ids
    loss : "brackets" or "zero_one"
    span_features : SpanFeatures, or None for rules alone
    frequencies : whether log p(y), by the rules' relative frequencies, is a feature too
    missing : c from 0 to 2, what the loss "brackets" counts for one that is missing; 2 - c for one too many

    Weights lie in the order [binary rules | unary rules | lexical rules | span features | frequencies].

    >>> import oneslack
    >>> parser = oneslack.GrammarParser(min_count=1).fit(["(S (N stars) (V shine))", "(S (N eyes) (V see))"])
    >>> model = oneslack.GrammarModel(parser.grammar_, "zero_one", frequencies=False)
    >>> z = model.decode(parser.coef_[: model.n_params], ["eyes", "shine"])
    >>> str(parser.grammar_.decode(z, ["eyes", "shine"]))
    '(S (N eyes) (V shine))'
    """

    def __init__(
        self,
        grammar: Grammar,
        loss="brackets",
        span_features: SpanFeatures | None = None,
        frequencies=False,
        missing=1.0,
    ):
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}")
        if not 0.0 <= missing <= 2.0:
            raise ValueError(f"missing must be a number from 0 to 2; got {missing!r}")
        if loss == "zero_one" and missing != 1.0:
            raise ValueError(
                f"missing={missing:g} needs loss='brackets'; with 'zero_one' all wrong trees cost the same"
            )
        self.grammar, self.loss_name, self.span_features = grammar, loss, span_features
        self.missing = float(missing)
        self.frequencies = bool(frequencies)

    @property
    def n_params(self) -> int:
        return self._n_counted + self.frequencies

    @property
    def _n_counted(self):
        """Features that are counts: all but log p(y)."""
        return self.grammar.n_rules + (0 if self.span_features is None else self.span_features.n)

    # One sentence.

    def joint_feature(self, x, y):
        """psi(x, y) as one CSR row."""
        from ..._jit.cky_batch import features_of

        data = self._one(x, y)
        found = features_of(self._rules, self._spans, data.words.values, data.coarse, data.trees)
        index, counts = np.unique(found, return_counts=True)
        return self._complete(
            sp.csr_array((counts.astype(float), index, [0, len(index)]), shape=(1, self._n_counted))
        )

    def loss(self, y, y_hat):
        from ..._jit.cky_batch import losses_of

        y, z = (np.ascontiguousarray(tree, dtype=np.int64) for tree in (y, y_hat))
        if y.shape != z.shape:
            raise ValueError(f"y has {len(y)} numbers but y_hat has {len(z)}")
        out, offsets = np.empty(1), np.array([0, (len(y) + 3) // 6])
        losses_of(self._rules, offsets, y, 0, 1, self._kind, z, out)
        if self._tilted:
            out += self._tilted.sizes(y, [0]) - self._tilted.sizes(z, [0])
        return float(out[0])

    def decode(self, w, x, y=None):
        """The best tree, with the loss against y when it is given.  ValueError where the grammar has none."""
        data = self._one(x, y)
        if y is not None:
            return self.worst_batch(data, _ONE, w)[0]
        z = self.predict_batch(data, _ONE, w)
        self._found(0 if z[0] < 0 else -1)
        return z

    def decode_slack(self, w, x, y):
        """argmax_z loss(y, z) (1 - <w, delta(z)>), for the loss "zero_one"."""
        return self.worst_batch(self._one(x, y), _ONE, w, "slack")[0]

    def decode_topk(self, w, x, k):
        """(trees (m, 3 (2n - 1)), scores (m,)) of the k best, best first; fewer where there are fewer."""
        from .best_trees import best_trees

        if k < 1:
            raise ValueError(f"k must be at least 1; got {k!r}")
        data = self._one(x)
        trees, scores = best_trees(self._rules, self._spans, self._weights(w), data, k)
        self._found(-1 if len(trees) else 0)
        return trees, scores

    def outputs(self, x):
        """All trees of a short sentence."""
        return all_trees(self.grammar, self._one(x).words.values)

    def _one(self, x, y=None):
        return self.pack([x], None if y is None else [y])

    # Blocks of sentences (protocols.Batches).

    def pack(self, X, Y, weights=None) -> GrammarData:
        """X: a list of sentences; Y: a list or Ragged of trees, or None for what is only to be predicted."""
        return pack_sentences(self.grammar, self._rules, X, Y, weights, self._tags)

    def predict_batch(self, data, shard, w):
        """The best trees of a shard in one flat array; all -1 for a sentence that has none."""
        Z = np.empty(data.size(shard), np.int64)
        self._search(data, shard, self._weights(w), Z[:0], NO_LOSS, Z)
        return Z

    def worst_batch(self, data, shard, w, rescaling="margin"):
        """(Z, losses, leads): worst offenders, and for each sentence its loss and <w, delta(z)>."""
        self._check_rescaling(rescaling)
        Z = np.empty(data.size(shard), np.int64)
        plain = self._weights(w)
        plain = self._tilted.lowered(plain) if self._tilted else plain
        losses, leads, failed = self._search(data, shard, plain, data.known_trees(), self._kind, Z)
        self._found(failed)
        if self._tilted:
            fewer = self._fewer_brackets(data, shard, Z)
            losses, leads = losses + fewer, leads + fewer
        return Z, losses, leads

    def _search(self, data, shard, w, Y, kind, Z):
        from ..._jit.cky_batch import worst

        losses, leads = np.empty((2, shard.hi - shard.lo))
        failed = worst(
            *(self._rules, self._spans, w, data.words.values, data.coarse, data.word_offsets),
            *(Y, shard.lo, shard.hi, kind, Z, losses, leads),
        )
        return losses, leads, failed

    def sizes(self, data) -> Sizes:
        """How large trees are, for bounds that hold whatever rounding does (rounding.py): 2 m - 1 nodes over
        m words, each with a rule and a chain, whose labels have features each."""
        from ..._jit.cky_features import TEMPLATES

        nodes = 2.0 * data.words.lengths
        longest = 1 + int(np.diff(self.grammar.chain_ptr).max(initial=0))
        a_node = longest * (1 + (0 if self.span_features is None else TEMPLATES))
        if self.frequencies:
            a_node = a_node + longest * float(np.abs(self._log_frequencies).max(initial=0.0))
        return Sizes(2.0 * a_node * nodes, 4.0 * longest * nodes, data.weights)

    def _fewer_brackets(self, data, shard, Z):
        """(c - 1) (|y| - |z|) of the sentences of a shard."""
        first, last = data.offsets[shard.lo], data.offsets[shard.hi]
        starts = data.offsets[shard.lo : shard.hi] - first
        Y = data.known_trees()[first:last]
        return self._tilted.sizes(Y, starts) - self._tilted.sizes(Z, starts)

    def delta_sum(self, data, shard, Z, coefficients):
        """(n_params,): sum_i coefficients_i delta_i(z_i)."""
        from ..._jit.cky_batch import delta_sum

        out = np.zeros(self.n_params)
        delta_sum(*self._places(data, shard, Z), np.ascontiguousarray(coefficients, dtype=np.float64), out)
        if self.frequencies:
            out[-1] += out[: self.grammar.n_rules] @ self._log_frequencies
        return out

    def delta_rows(self, data, shard, Z, factors=None):
        """factors_i delta_i(z_i) as a CSR matrix, one row a sentence of the shard; 1 by default."""
        from ..._jit.cky_batch import delta_rows

        n = shard.hi - shard.lo
        factors = np.ones(n) if factors is None else np.ascontiguousarray(factors, dtype=np.float64)
        rows = sp.csr_array(delta_rows(*self._places(data, shard, Z), factors), shape=(n, self._n_counted))
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return self._complete(rows)

    def _complete(self, rows):
        """Rows of counts with log p as the last column, where it is a feature."""
        if not self.frequencies:
            return rows
        last = rows[:, : self.grammar.n_rules] @ self._log_frequencies
        return sp.hstack([rows, sp.csr_array(last[:, None])], format="csr")

    def _places(self, data, shard, Z):
        return (
            *(self._rules, self._spans, data.words.values, data.coarse, data.word_offsets),
            *(data.known_trees(), shard.lo, shard.hi, self._trees(data, shard, Z)),
        )

    # Checks, and what compiled loops need.

    @staticmethod
    def _trees(data, shard, Z):
        Z = np.ascontiguousarray(Z, dtype=np.int64)
        if Z.shape != (data.size(shard),):
            raise ValueError(f"Z has shape {Z.shape}, expected ({data.size(shard)},): the trees of the shard")
        return Z

    def _check_rescaling(self, rescaling):
        if rescaling not in ("margin", "slack"):
            raise ValueError(f'rescaling is "margin" or "slack"; got {rescaling!r}')
        if rescaling == "slack" and self.loss_name != "zero_one":
            raise ValueError(
                "slack rescaling has no exact decoder for the bracket loss; use rescaling='margin' or "
                "loss='zero_one'"
            )

    @staticmethod
    def _found(failed):
        if failed >= 0:
            raise ValueError(f"sentence {failed}: the grammar has no tree over these words")

    def _weights(self, w):
        w = np.ascontiguousarray(w, dtype=np.float64)
        if w.shape != (self.n_params,):
            raise ValueError(f"w has shape {w.shape}, expected ({self.n_params},)")
        if not np.isfinite(w).all():
            raise ValueError("w holds numbers that are not finite")
        return self.plain_weights(w) if self.frequencies else w

    def plain_weights(self, w):
        """The same without `frequencies`: log p(y) is a sum over rules, so its weight can be shared out."""
        plain = w[: self._n_counted].copy()
        plain[: self.grammar.n_rules] += w[-1] * self._log_frequencies if self.frequencies else 0.0
        return plain

    def frequency_prior(self):
        """(n_params,): the weights by which trees score log p(y)."""
        prior = np.zeros(self.n_params)
        if self.frequencies:
            prior[-1] = 1.0
        else:
            prior[: self.grammar.n_rules] = self._log_frequencies
        return prior

    @property
    def _kind(self):
        return LOSSES[self.loss_name]

    @cached_property
    def _tilted(self):
        """None where brackets count alike."""
        return _TiltedLoss(self.grammar, self.missing - 1.0) if self.missing != 1.0 else None

    @cached_property
    def _rules(self):
        return compiled_rules(self.grammar)

    @cached_property
    def _spans(self):
        return no_spans() if self.span_features is None else self.span_features.compiled()

    @cached_property
    def _log_frequencies(self):
        return self.grammar.frequency_weights()

    @cached_property
    def _tags(self):
        return tag_of_class(self.grammar)


class _TiltedLoss:
    """A bracket that is missing may cost more than one too many.

    With u missing and v too many brackets, the loss is  c u + (2 - c) v.  As u - v = |y| - |z|, the
    difference in the number of brackets, it is

        c u + (2 - c) v  =  u + v  +  (c - 1) (|y| - |z|)

    and |z| is a sum over the rules of z.  So the worst tree for this loss is the one for u + v at weights
    that are lowered by c - 1, the tilt, for each rule that makes a bracket.

    rules (n_rules,): what a rule adds to (c - 1) |z|
    """

    def __init__(self, grammar, tilt):
        self.tilt, self.n_binary = tilt, grammar.n_binary
        parents = np.concatenate([grammar.binary_parent, grammar.unary_parent, grammar.lexical_tag])
        self.rules = tilt * (grammar.kinds[parents] == PHRASE)
        unary = self.rules[grammar.n_binary :][grammar.chain_rules]
        # Words and spans without a chain make no bracket: the 0 at the end is theirs.
        self._binary = np.append(self.rules[: grammar.n_binary], 0.0)
        self._chains = np.append(np.add.reduceat(unary, grammar.chain_ptr[:-1]) if len(unary) else [], 0.0)

    def lowered(self, weights):
        """Weights at which the best tree with u + v is the worst one."""
        weights = weights.copy()
        weights[: len(self.rules)] -= self.rules
        return weights

    def sizes(self, trees, starts):
        """(c - 1) |z| of each tree; trees as Grammar.encode gives them, one begins at each of `starts`."""
        rule, split, chain = trees.reshape(-1, 3).T
        spans = self._binary[np.where(split < 0, self.n_binary, rule)] + self._chains[chain]
        return np.add.reduceat(spans, np.asarray(starts) // 3)
