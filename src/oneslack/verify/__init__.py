"""The checker of models that carry their proof: plain NumPy and SciPy, a few hundred lines to read.

    P(w) = penalty(w) + risk(w)                         at the weights of the model file
    D(alpha) <= min P                                   at the dual point of the model file

Both are computed anew from the data, by their definitions, with a bound on the rounding of every sum; what
the model file claims is then true or false.  Nothing of the rest of the library is imported but its errors:
no solver, no problem, no compiled loop.  docs/certificate.md is the page for users.

    sums.py      sums and products with bounds of their rounding
    penalty.py   1/2 |r (w - prior)|^2 or sum r |w|, and its conjugate
    losses.py    losses of examples by their scores, with their duals
    sample.py    losses of a whole sample: rankings and measures
    linear.py    P and D of scores X w + b
    kernels.py   the same where w is an expansion over the examples
    chains.py    tag sequences         trees.py    parse trees
    claim.py     what a file claims against what was computed
"""
