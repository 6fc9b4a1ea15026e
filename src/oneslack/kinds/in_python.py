"""Estimators for outputs of any kind: no file holds their inputs, so that they are used in Python."""

from __future__ import annotations

from .registry import Kind


def _facts(saved) -> dict:
    return {"model": saved.header["model"]["name"]}


KIND = Kind(_facts)
