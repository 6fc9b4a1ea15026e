"""Settings and helpers of all tests."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import settings

# `import reference` finds the slow, obvious references beside this file.
sys.path.insert(0, str(Path(__file__).parent))

from grids import covering

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("repeatable")

# A shell that starts the tests in the background has them ignore Ctrl-C, which some of them raise.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Ray's workers give way to everybody else, else: beside the other tests they would take minutes.
os.environ.setdefault("RAY_worker_niceness", "0")

BEGIN = time.monotonic()


def pytest_addoption(parser):
    parser.addoption(
        "--seconds", type=float, help="skip the tests that have not begun so many seconds after the start"
    )


def pytest_runtest_setup(item):
    seconds = item.config.getoption("seconds")
    if seconds is not None and time.monotonic() - BEGIN > seconds:
        pytest.skip(f"--seconds {seconds:g} are over")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of each marked grid, mark what the quick run leaves out as slow; give slow tests an hour."""
    grids = {}
    for item in items:
        if item.get_closest_marker("grid") and not item.get_closest_marker("slow"):
            grids.setdefault((item.path, item.originalname, item.cls), []).append(item)
    for cases in grids.values():
        strength = cases[0].get_closest_marker("grid").args[0]
        # Values need not be hashable; those of one list are the same objects in all cases.
        values = [{name: id(value) for name, value in case.callspec.params.items()} for case in cases]
        chosen = covering(values, strength)
        for number, case in enumerate(cases):
            if number not in chosen:
                case.add_marker(pytest.mark.slow)
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3600))
