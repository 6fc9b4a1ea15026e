import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def installed():
    """`import pystruct` finds the adapter, until the test ends."""
    from oneslack.adapters.pystruct import install

    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "pystruct"}
    install()
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "pystruct"]:
        del sys.modules[name]
    sys.modules.update(before)
