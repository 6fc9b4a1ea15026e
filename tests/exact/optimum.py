"""The optimum of a small problem as a rational number, which proves itself.

    P(w) = 1/2 sum_k r_k^2 (w_k - prior_k)^2 - <linear, w> + sum_i c_i max(0, max_j l_ij - <w, d_ij>)

over the w_k that are not free, which are not penalised; some are held >= 0.  With v = linear + sum a_ij d_ij
the Lagrangian is least at w_k = prior_k + (v_k + mu_k) / r_k^2, and the conditions of Karush, Kuhn and Tucker
are a linear complementarity problem:

    a_ij >= 0     xi_i + <w, d_ij> - l_ij >= 0         xi_i >= 0         c_i - sum_j a_ij >= 0
    mu_k >= 0     w_k >= 0                             p_k, q_k >= 0     v_k = 0,  w_k = p_k - q_k  (free)

At its solution the dual value of `a` is compared with P(w): both are bounds, and they are equal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .lemke import solve_lcp

#: So many cuts are solved for at once; of more, those that are violated are taken in by and by.
AT_ONCE = 24
ZERO = Fraction(0)


@dataclass(frozen=True)
class Cut:
    """loss - <w, delta>; delta {k: value} without zeros."""

    loss: Fraction
    delta: dict[int, Fraction]


@dataclass(frozen=True)
class Block:
    """weight times max(0, the cuts): an example with all its outputs but the truth."""

    weight: Fraction
    cuts: Sequence[Cut]


@dataclass(frozen=True)
class Small:
    """A small problem: all cuts, and P by its definition, which does not know of cuts.

    definition  P(w) of any w, a sequence of d rational numbers
    curvature   r_k^2 of all d weights; None where a weight is free
    gram        (d, d) or None: where given, w is known by coefficients c, w = sum_k c_k phi_k with
                <phi_k, phi_l> = gram[k][l], and then the weights that are not free have r_k = 1
    """

    blocks: Sequence[Block]
    definition: Callable
    curvature: Sequence[Fraction | None]
    prior: Sequence[Fraction]
    nonnegative: frozenset = frozenset()
    linear: dict = field(default_factory=dict)
    constant: Fraction = ZERO
    gram: Sequence | None = None

    @property
    def d(self) -> int:
        return len(self.curvature)

    @property
    def free(self):
        return [k for k in range(self.d) if self.curvature[k] is None]

    def metric(self, u, v) -> Fraction:
        """<u, v> as duals see it; u, v {k: value}."""
        if self.gram is None:
            shared = (k for k in u if k in v and self.curvature[k] is not None)
            return sum((u[k] * v[k] / self.curvature[k] for k in shared), ZERO)
        us, vs = ([k for k in x if self.curvature[k] is not None] for x in (u, v))
        return sum((u[k] * self.gram[k][m] * v[m] for k in us for m in vs), ZERO)

    def product(self, w, delta) -> Fraction:
        """<w, delta>."""
        if self.gram is None:
            return sum((value * w[k] for k, value in delta.items()), ZERO)
        free = sum((value * w[k] for k, value in delta.items() if self.curvature[k] is None), ZERO)
        return free + self.metric(delta, {k: value for k, value in enumerate(w) if value})

    def optimum(self) -> tuple[Fraction, list[Fraction]]:
        """(min P, a w that attains it)."""
        chosen = self._first_choice()
        while True:
            blocks = [
                Block(block.weight, [block.cuts[j] for j in sorted(some)])
                for block, some in zip(self.blocks, chosen, strict=True)
            ]
            dual, w = self._solve(blocks)
            primal = self.definition(w)
            if primal == dual:
                return primal, w
            if not self._take_in(chosen, w):
                raise ArithmeticError(f"P(w) = {float(primal)} but the dual is {float(dual)}")

    def _first_choice(self):
        if sum(len(block.cuts) for block in self.blocks) <= AT_ONCE:
            return [set(range(len(block.cuts))) for block in self.blocks]
        start = [max(value, ZERO) if k in self.nonnegative else value for k, value in enumerate(self.prior)]
        return [{self._worst(block, start)} if block.cuts else set() for block in self.blocks]

    def _worst(self, block, w):
        values = [cut.loss - self.product(w, cut.delta) for cut in block.cuts]
        return max(range(len(values)), key=values.__getitem__)

    def _take_in(self, chosen, w):
        """Add the worst cut of each block; False if all were there."""
        before = sum(map(len, chosen))
        for block, some in zip(self.blocks, chosen, strict=True):
            if block.cuts:
                some.add(self._worst(block, w))
        return sum(map(len, chosen)) > before

    # The conditions of the chosen cuts, and what follows from their solution.

    def _solve(self, blocks):
        """(dual value, w)."""
        cuts = [cut for block in blocks for cut in block.cuts]
        owner = [i for i, block in enumerate(blocks) for _ in block.cuts]
        held = sorted(self.nonnegative)
        at, free = self._without_duals(), self.free
        rows, right = [], []
        vectors = [cut.delta for cut in cuts] + [{k: Fraction(1)} for k in held]
        for j, u in enumerate(vectors):
            is_cut = j < len(cuts)
            slack = [Fraction(is_cut and owner[j] == i) for i in range(len(blocks))]
            biases = [u.get(k, ZERO) for k in free]
            rows.append([self.metric(u, v) for v in vectors] + slack + biases + [-b for b in biases])
            right.append(self.product(at, u) - (cuts[j].loss if is_cut else ZERO))
        n_rest = len(blocks) + 2 * len(free)
        for i, block in enumerate(blocks):
            rows.append(
                [Fraction(-(owner[j] == i)) for j in range(len(cuts))] + [ZERO] * (len(held) + n_rest)
            )
            right.append(block.weight)
        for sign in (-1, 1):
            for k in free:
                rows.append([sign * v.get(k, ZERO) for v in vectors] + [ZERO] * n_rest)
                right.append(sign * self.linear.get(k, ZERO))
        z = solve_lcp(rows, right)
        return self._read(z, blocks, cuts, owner, held)

    def _without_duals(self):
        """The point with no duals: prior + linear / r^2, free weights 0."""
        return [
            ZERO if r2 is None else prior + self.linear.get(k, ZERO) / r2
            for k, (r2, prior) in enumerate(zip(self.curvature, self.prior, strict=True))
        ]

    def _read(self, z, blocks, cuts, owner, held):
        alpha, mu = z[: len(cuts)], z[len(cuts) : len(cuts) + len(held)]
        first = len(cuts) + len(held) + len(blocks)
        p, q = z[first : first + len(self.free)], z[first + len(self.free) :]
        self._check_duals(alpha, blocks, owner)
        v = dict(self.linear)
        for share, cut in zip(alpha, cuts, strict=True):
            for k, value in cut.delta.items():
                v[k] = v.get(k, ZERO) + share * value
        w = [
            ZERO if r2 is None else prior + v.get(k, ZERO) / r2
            for k, (r2, prior) in enumerate(zip(self.curvature, self.prior, strict=True))
        ]
        for k, multiplier in zip(held, mu, strict=True):
            w[k] += multiplier / self.curvature[k]
        linear = sum((share * cut.loss for share, cut in zip(alpha, cuts, strict=True)), self.constant)
        dual = self._dual(v, w, linear)
        for k, plus, minus in zip(self.free, p, q, strict=True):
            w[k] = plus - minus
        return dual, w

    def _check_duals(self, alpha, blocks, owner):
        assert all(share >= 0 for share in alpha)
        for i, block in enumerate(blocks):
            assert sum(share for share, o in zip(alpha, owner, strict=True) if o == i) <= block.weight

    def _dual(self, v, w, linear):
        """min over w of 1/2 |r (w - prior)|^2 - <v, w> + linear, which is at w; free weights have no v."""
        assert all(v.get(k, ZERO) == 0 for k in self.free)
        if self.gram is not None:
            penalised = {k: value for k, value in v.items() if self.curvature[k] is not None}
            return linear - self.metric(penalised, penalised) / 2
        value = linear
        for k, r2 in enumerate(self.curvature):
            if r2 is not None:
                least = self.prior[k] + v.get(k, ZERO) / r2
                least = max(least, ZERO) if k in self.nonnegative else least
                assert least == w[k]
                value += r2 * (least - self.prior[k]) ** 2 / 2 - v.get(k, ZERO) * least
        return value
