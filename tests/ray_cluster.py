"""A Ray cluster of two workers for the tests of a module, and the warnings that are Ray's own."""

import os
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")

#: What Ray leaves open, and what it is told about its own future.
QUIET = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
]


@pytest.fixture(scope="module")
def cluster():
    """Started for a module, and gone after it."""
    from oneslack.engines.ray import LocalCluster

    before = below(os.getpid())
    started = LocalCluster(ray, 2)
    yield started
    # Worker processes of other engines, started by the same tests, may stay.
    mine = {process for process in below(os.getpid()) - before if is_of_ray(process)}
    assert mine
    started.stop()
    assert_gone(mine)
    assert not os.path.exists(started.folder)


def below(process):
    """Numbers of the processes that a process has started, and those have started, and so on."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(words[1]), []).append(int(path.parent.name))
    found, new = set(), [process]
    while new:
        new = [child for parent in new for child in children.get(parent, ())]
        found.update(new)
    return found


def assert_gone(processes, seconds=150.0):
    """They end, in a while: Ray's agents notice after a minute that a driver was killed."""
    end = time.monotonic() + seconds
    while alive := [process for process in processes if is_alive(process)]:
        assert time.monotonic() < end, f"processes are left behind: {alive}"
        time.sleep(0.1)


def is_of_ray(process):
    """Whether its command names Ray."""
    try:
        return b"ray" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def is_alive(process):
    """Whether it runs; one that is only waiting to be counted does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
