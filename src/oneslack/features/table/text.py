"""A column of text: a feature for each word of the training data, weighed by tf-idf, rows of length 1.

The words and their weights are those of scikit-learn's TfidfVectorizer; they are kept, the object is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import FormatError


@dataclass(frozen=True)
class Text:
    """words (k,), and `idf` (k,): log((1 + n) / (1 + rows with the word)) + 1.  An empty cell has no word."""

    name: str
    words: list[str]
    idf: list[float]
    kind = "text"

    @classmethod
    def learned(cls, name, texts, where, missing):
        """From the training data."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer()
        try:
            vectorizer.fit(texts)
        except ValueError as error:
            raise FormatError(
                f"{where(0)}: holds no words of two letters or more; drop the column from --text."
            ) from error
        return cls(name, vectorizer.get_feature_names_out().tolist(), vectorizer.idf_.tolist())

    @property
    def feature_names(self):
        return [f"{self.name}: {word}" for word in self.words]

    @cached_property
    def _vectorizer(self):
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary={word: k for k, word in enumerate(self.words)})
        vectorizer.idf_ = np.array(self.idf)
        return vectorizer

    def rows(self, texts, where):
        """(n, words) CSR."""
        return self._vectorizer.transform(texts)

    def to_header(self) -> dict:
        return {"kind": self.kind, "name": self.name, "words": self.words, "idf": self.idf}

    @classmethod
    def from_header(cls, header):
        words, idf = list(map(str, header["words"])), list(map(float, header["idf"]))
        if len(words) != len(idf) or len(set(words)) != len(words) or not words:
            raise ValueError("a column of text")
        return cls(str(header["name"]), words, idf)
