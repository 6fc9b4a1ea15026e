"""Runs of tokens with known labels, as sentences of their own: where training on partial labels begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...data.rows import Ragged
from .data import UNKNOWN, ChainData


def known_runs(data: ChainData):
    """(X, Y, weights) of the longest runs of known labels; each run has its sentence's weight."""
    known = data.y != UNKNOWN
    sentence = np.repeat(np.arange(data.n), np.diff(data.offsets))
    tokens = np.flatnonzero(known)
    # A run starts after an unknown label, and with its sentence.
    starts = np.flatnonzero((np.diff(tokens, prepend=-2) > 1) | (np.diff(sentence[tokens], prepend=-1) > 0))
    offsets = np.append(starts, len(tokens))
    X = Ragged(data.X.values[tokens], offsets)
    return X, Ragged(data.y[tokens], offsets), data.weights[sentence[tokens[starts]]]


def inner_chain(model):
    """The chain without what is said about the ends of sentences: a run may start and end anywhere."""
    return replace(model, start=False, end=False, allowed_start=None, allowed_end=None)


def widened(model, w):
    """The weights of inner_chain(model) as weights of the model: none yet for the ends."""
    return np.concatenate([w, np.zeros(model.n_params - len(w))])
