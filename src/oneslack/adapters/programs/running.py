"""What all the programs do: read examples, tell the certificate, write predictions, be a command."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import OneslackError
from ...formats.atomic import atomic_write
from .arguments import Help, Mistake, help_text, parse


@dataclass(frozen=True)
class Program:
    """One executable: `run(arguments)` does its work; `options` and `files` are its command line."""

    name: str
    options: tuple
    files: tuple
    run: Any

    def main(self, words) -> int:
        """Run a command line: 0, or 1 with one sentence on stderr."""
        try:
            got = parse(words, self.options, self.files)
            if len(got.files) == len(self.files):  # the last is written
                _check_folder(got.files[-1])
            self.run(got)
        except Help:
            print(help_text(self.name, self.options, self.files))
        except (OneslackError, ValueError) as error:
            print(f"{self.name}: {' '.join(str(error).split())}", file=sys.stderr)
            if isinstance(error, Mistake):
                print(help_text(self.name, self.options, self.files).partition("\n")[0], file=sys.stderr)
            return 1
        except BrokenPipeError:  # what a shell tells of a reader that went away
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except OSError as error:
            print(f"{self.name}: {error.filename}: cannot be written ({error.strerror}).", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print(f"{self.name}: interrupted; nothing was written.", file=sys.stderr)
            return 130
        return 0


def _check_folder(path):
    """Refuse, before hours of training, what can only fail after them."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not (_is_device(path) or os.access(folder, os.W_OK | os.X_OK)):
        raise OneslackError(
            f"{path}: cannot be written; choose a folder that exists and that you may write to."
        )


def _is_device(path):
    """Whether it is /dev/stdout, /dev/null, a pipe or the like, where scripts send what they do not keep."""
    path = os.path.abspath(path)
    return path.startswith("/dev/") or (os.path.exists(path) and not os.path.isfile(path))


@contextmanager
def output_file(path):
    """A text file that is written whole or not at all; a device is written to."""
    if not _is_device(path) or os.path.isdir(path):
        with atomic_write(path, text=True) as file:
            yield file
        return
    sys.stdout.flush()  # what was told before stays before
    with open(path, "w", encoding="utf-8") as file:
        yield file


def read_examples(path, *, qid=False):
    """A Table; features count from 1, as in all of these files."""
    from ...formats import read_svmlight

    table = read_svmlight(path, zero_based=False, qid=qid)
    if table.X.shape[0] == 0:
        raise OneslackError(f"{path}: holds no example.")
    return table


def read_queries(path):
    """A Table with query numbers; a file without any is one query, as it is for the programs."""
    table = read_examples(path, qid="auto")
    if table.qid is None:
        print(f"{path}: no qid:N, so all examples are of one query.", file=sys.stderr)
        table = replace(table, qid=np.zeros(len(table.y), np.int64))
    return table


def with_columns(X, n_features):
    """X with as many columns as a model has: features that it does not know have no weight."""
    import scipy.sparse as sp

    n, d = X.shape
    if d >= n_features:
        return X[:, :n_features]
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(n, n_features))


class Clock:
    """Processor time, as the programs tell it."""

    def __init__(self):
        self._start = time.process_time()

    def seconds(self):
        return time.process_time() - self._start


def tell_training(verbosity, clock, primal, dual):
    """The certificate in the program's own units."""
    if verbosity < 1:
        return
    share = f" ({(primal - dual) / primal:.2%} of it)" if primal > 0 else ""
    print(f"Upper bound on duality gap: {primal - dual:.5f}{share}")
    print(f"Dual objective value: dval={dual:.5f}")
    print(f"Primal objective value: pval={primal:.5f}")
    print(f"Runtime in cpu-seconds: {clock.seconds():.2f}")


def tell_losses(losses):
    """What the programs on SVM-struct print of the losses (n,) of test examples."""
    n, whole = len(losses), int((losses == 0).sum())
    print(f"Average loss on test set: {np.mean(losses):.4f}")
    counts = f"{whole} correct, {n - whole} incorrect, {n} total"
    print(f"Zero/one-error on test set: {1 - whole / n:.2%} ({counts})")


def write_lines(path, lines):
    """Write a file of predictions whole or not at all."""
    with output_file(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def labels_of_two(path, y, *, zero_is_negative=False):
    """-1 and +1 of labels by their sign."""
    if not zero_is_negative and (y == 0).any():
        raise OneslackError(
            f"{path}: example {int((y == 0).argmax()) + 1} has the label 0, which asks for transduction; "
            "that is not trained here: leave such examples out."
        )
    signs = np.where(y > 0, 1.0, -1.0)
    if (signs == signs[0]).all():
        raise OneslackError(f"{path}: all examples are of one class; labels above 0 and below are needed.")
    return signs


def pairs_of_queries(y, qid):
    """(queries,): how many pairs of different targets each has; queries in the order of their numbers."""
    _, group = np.unique(qid, return_inverse=True)
    grade = np.unique(y, return_inverse=True)[1]
    _, level = np.unique(group * (grade.max() + 1) + grade, return_inverse=True)
    first = np.unique(level, return_index=True)[1]
    sizes, ties = np.bincount(group).astype(float), np.bincount(level).astype(float)
    tied = np.bincount(group[first], ties * (ties - 1) / 2, minlength=len(sizes))
    pairs = sizes * (sizes - 1) / 2 - tied
    if not pairs.any():
        raise OneslackError("no two examples of a query differ in their target: there is nothing to rank.")
    return pairs
