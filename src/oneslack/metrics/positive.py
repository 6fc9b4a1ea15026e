"""Which of two classes is the positive one: the rule, written once.

A label that was named is positive.  Otherwise 1 (or True) is, where the labels are numbers that end in it, as
in 0/1 and -1/1; of all other labels the rarer class, as nobody looks for what is everywhere (fraud among ok);
of two that are as frequent, the second in sorted order.
"""

from __future__ import annotations

import numpy as np


def positive_class(classes, counts, pos_label=None) -> int:
    """The position of the positive class among two.

    Parameters
    ----------
    classes : the two labels, sorted
    counts : how many examples have them
    pos_label : a label, or None for the rule of this file

    >>> from oneslack.metrics import positive_class
    >>> positive_class(["fraud", "ok"], [20, 480]), positive_class([0, 1], [20, 480])
    (0, 1)
    """
    labels = np.asarray(classes).tolist()
    if pos_label is not None:
        wanted = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
        found = [k for k, label in enumerate(labels) if label == wanted]
        if not found:
            raise ValueError(f"pos_label={wanted!r} is not a class; y has {labels[0]!r} and {labels[1]!r}")
        return found[0]
    if not isinstance(labels[1], str) and labels[1] == 1:
        return 1
    return int(counts[1] <= counts[0])


def positive_of(classes, y, pos_label=None) -> int:
    """The position of the positive class among two, as they are frequent in y (n,).

    >>> from oneslack.metrics import positive_of
    >>> positive_of(["fraud", "ok"], ["ok", "fraud", "ok"])
    0
    """
    y = np.asarray(y)
    return positive_class(classes, [int(np.sum(y == label)) for label in classes], pos_label)
