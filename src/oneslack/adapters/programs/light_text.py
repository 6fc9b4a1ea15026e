"""Model files of SVM-light and its family: a line of version, lines `value # name`, then support vectors.

    SVM-light Version V6.20
    0 # kernel type
    ...
    2 # number of support vectors plus 1
    -0.5 # threshold b, each following line is a SV (starting with alpha*y)
    1 1:0.25 7:-1.5 #

A score is sum_j alpha_j k(x_j, x) - b.  A linear model is written as one support vector, its weights, as
SVM-perf does; one with many is read, too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...errors import OneslackError
from .running import output_file

if TYPE_CHECKING:  # it takes as long as all the rest, and is not needed before a file is read
    from scipy.sparse import csr_matrix

_KERNEL = ("kernel type", *(f"kernel parameter -{letter} " for letter in "dgsru"))
_TAIL = (
    "number of support vectors plus 1 ",
    "threshold b, each following line is a SV (starting with alpha*y)",
)
#: From the first word of a file to its version and the names of its lines before the last two.
HEADERS = {
    "SVM-light": ("V6.20", (*_KERNEL, "highest feature index ", "number of training documents ")),
    "SVM-multiclass": (
        "V2.20",
        ("number of classes", "number of base features", "loss function", *_KERNEL, "highest feature index ",
         "number of training documents "),
    ),
    "SVM-HMM": (
        "V3.10",
        (*_KERNEL, "highest feature index ", "number of emission features ", "number of classes ",
         "HMM order of transitions ", "HMM order of emissions ", "loss function "),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class LightModel:
    """What such a file holds.

    family   "SVM-light", "SVM-multiclass" or "SVM-HMM"
    vectors  CSR (m, d), column k for feature k + 1
    alpha    (m,)
    b        the threshold
    fields   other lines by name, as numbers (the custom text stays text)
    """

    family: str
    vectors: csr_matrix
    alpha: np.ndarray
    b: float
    fields: dict = field(default_factory=dict)

    def __getitem__(self, name):
        return self.fields[name]

    @property
    def weights(self):
        """(d,), of a linear model."""
        return np.asarray(self.vectors.T @ self.alpha).ravel()

    @property
    def kernel_type(self):
        return int(self["kernel type"])


def linear_model(family, weights, b=0.0, **fields):
    """A model of one support vector: the weights (d,) that are not 0."""
    from scipy.sparse import csr_matrix

    weights = csr_matrix(np.asarray(weights, dtype=float)[None, :])
    return LightModel(family, weights, np.ones(1), float(b), kernel_fields() | named(fields))


def kernel_fields(kind=0, degree=3, gamma=1.0, s=1.0, r=1.0):
    """The six lines of the kernel."""
    return dict(zip(_KERNEL, (kind, degree, gamma, s, r, "empty"), strict=True))


def named(fields):
    """From words with _ to the names of lines."""
    return {name.replace("_", " "): value for name, value in fields.items()}


def write_model(path, model):
    """Write the file whole or not at all."""
    from scipy.sparse import csr_matrix

    version, names = HEADERS[model.family]
    fields = {name.strip(): value for name, value in model.fields.items()}
    X = csr_matrix(model.vectors)
    X.sort_indices()
    with output_file(path) as file:
        file.write(f"{model.family} Version {version}\n")
        for name in names:
            value = fields.get(name.strip(), X.shape[1] if name.startswith("highest") else 0)
            # The custom text stands before # without a blank.
            file.write(f"{value}# {name}\n" if name.strip().endswith("-u") else f"{_short(value)} # {name}\n")
        file.write(f"{X.shape[0] + 1} # {_TAIL[0]}\n{_short(model.b)} # {_TAIL[1]}\n")
        for row, alpha in enumerate(model.alpha):
            here = slice(X.indptr[row], X.indptr[row + 1])
            pairs = (f"{k + 1}:{_short(v)}" for k, v in zip(X.indices[here], X.data[here], strict=True))
            file.write(" ".join([_short(alpha), *pairs]) + " #\n")


def read_model(path) -> LightModel:
    """Read a file of any of the families."""
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise OneslackError(f"{path}: cannot be read ({error.strerror}).") from None
    family, _, version = (lines[0] if lines else "").partition(" Version ")
    if family not in HEADERS:
        raise OneslackError(
            f"{path}, line 1: a model of {', '.join(HEADERS)} was expected, with its version; "
            "give the file that the learning program wrote."
        )
    if family == "SVM-multiclass" and version.strip() > "V2.20":
        raise OneslackError(f"{path}, line 1: version {version} is not known; V2.20 is.")
    names = [name.strip() for name in (*HEADERS[family][1], *_TAIL)]
    if len(lines) <= len(names):
        raise OneslackError(f"{path}: ends after line {len(lines)}; the header has {len(names) + 1} lines.")
    fields = {
        name: _field(path, number, name, line)
        for number, (name, line) in enumerate(zip(names, lines[1:], strict=False), start=2)
    }
    first = len(names) + 1
    n_vectors = int(fields.pop(_TAIL[0].strip())) - 1
    if len(lines) < first + n_vectors:
        raise OneslackError(
            f"{path}: {n_vectors} support vectors are announced, but {len(lines) - first} lines follow."
        )
    alpha, vectors = _vectors(
        path, lines[first : first + n_vectors], first + 1, int(fields["highest feature index"])
    )
    return LightModel(family, vectors, alpha, fields.pop(_TAIL[1]), fields)


def _field(path, number, name, line):
    value = line.partition("#")[0].strip()
    if name.endswith("-u"):
        return value
    try:
        return float(value)
    except ValueError:
        raise OneslackError(f"{path}, line {number}: {name}: a number was expected, not {value!r}.") from None


def _vectors(path, lines, first, n_features):
    from scipy.sparse import csr_matrix

    alpha, indices, values, ends = [], [], [], [0]
    for number, line in enumerate(lines, start=first):
        words = line.partition("#")[0].split()
        try:
            alpha.append(float(words[0]))
            pairs = [word.partition(":") for word in words[1:] if not word.startswith("qid:")]
            indices += [int(index) - 1 for index, _, _ in pairs]
            values += [float(value) for _, _, value in pairs]
        except (ValueError, IndexError):
            raise OneslackError(
                f"{path}, line {number}: a support vector was expected, `alpha index:value ... #`."
            ) from None
        ends.append(len(indices))
    width = max(n_features, max(indices, default=-1) + 1)
    return np.array(alpha), csr_matrix((values, indices, ends), shape=(len(alpha), width))


def _short(value):
    """The fewest digits that read back to the same double."""
    if isinstance(value, str):
        return value
    text = repr(float(value))
    return text.removesuffix(".0")
