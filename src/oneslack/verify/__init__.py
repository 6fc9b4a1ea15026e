"""The checker of models that carry their proof: plain NumPy and SciPy, a few hundred lines to read.

    P(w) = penalty(w) + risk(w)                         at the weights of the model file
    D(alpha) <= min P                                   at the dual point of the model file

Both are computed anew from the data, by their definitions, with a bound on the rounding of every sum; what
the model file claims is then true or false.  Nothing of the rest of the library is imported but its errors:
no solver, no problem, no compiled loop.  docs/certificate.md is the page for users.

    sums.py        sums and products with bounds of their rounding
    penalty.py     1/2 |r (w - prior)|^2 or sum r |w|, and its conjugate
    duals.py       a dual point, and what may be put down to rounding
    claim.py       what a file claims against what was computed
    linear.py      P and D of scores X w + b
    kernels.py     P and D where w is an expansion over the examples
    losses.py      losses of examples by their scores, with their duals
    sample.py      losses of a whole sample: pairs.py (rankings), labellings.py (F1, top k, precision)
    structured.py  P and D of structured outputs: chains.py (tags), trees.py (parses), graphs.py (nodes),
                   matchings.py (assignments)
    ball.py        where the optimum is

What proves one kind of model is at most 400 lines.
"""
