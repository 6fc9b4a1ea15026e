"""Tags for the tokens of a sentence: the chain model, its packed data and its decoders."""

from .data import ChainData
from .model import Chain

__all__ = ["Chain", "ChainData"]
