"""Atomic writing: the old file or the new one, and never a leftover."""

import os
import stat
import subprocess
import sys

import pytest

from oneslack.errors import FormatError
from oneslack.formats.atomic import atomic_write


def test_the_file_appears_at_the_end_only(tmp_path):
    path = tmp_path / "out.bin"
    with atomic_write(path) as file:
        file.write(b"abc")
        assert not path.exists()
        assert os.path.dirname(file.name) == str(tmp_path.resolve())
    assert path.read_bytes() == b"abc"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [None, b"old"])
def test_an_exception_leaves_everything_as_it_was(tmp_path, error, before):
    path = tmp_path / "out.bin"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(error), atomic_write(path) as file:
        file.write(b"half")
        raise error
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_failed_rename_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"), atomic_write(tmp_path / "out") as file:
        file.write(b"x")
    assert list(tmp_path.iterdir()) == []


def test_text_is_utf8_with_plain_newlines(tmp_path):
    path = tmp_path / "out.txt"
    with atomic_write(path, text=True) as file:
        file.write("größer\n")
    assert path.read_bytes() == "größer\n".encode()


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    path, plain = tmp_path / "out", tmp_path / "plain"
    plain.write_bytes(b"")
    for mode in (stat.S_IMODE(plain.stat().st_mode), 0o640):
        with atomic_write(path) as file:
            file.write(b"x")
        assert stat.S_IMODE(path.stat().st_mode) == mode
        path.chmod(0o640)


def test_a_link_keeps_pointing_to_its_file(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(FormatError, match="is a folder"), atomic_write(tmp_path):
        pass
    with (
        pytest.raises(FormatError, match=r"no/out: cannot be written"),
        atomic_write(tmp_path / "no/out"),
    ):
        pass


def test_a_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match="pipe"), atomic_write(pipe) as file:
        file.write(b"x")
    assert not pipe.is_file()


@pytest.mark.skipif(os.name == "nt", reason="no signal tells who is alive")
def test_what_a_killed_process_left_is_removed(tmp_path):
    """By the next who writes the same file; what others write is left alone."""
    code = (
        "import os, signal, sys; from oneslack.formats.atomic import atomic_write\n"
        "with atomic_write(sys.argv[1]) as file:\n"
        "    file.write(b'half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=False)
    left = os.listdir(tmp_path)
    assert len(left) == 2
    with atomic_write(tmp_path / "one") as outer:
        outer.write(b"outer")
        with atomic_write(tmp_path / "one") as inner:
            inner.write(b"inner")
    assert (tmp_path / "one").read_bytes() == b"outer"
    assert len(set(os.listdir(tmp_path)) & set(left)) == 1
