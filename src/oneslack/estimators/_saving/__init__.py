"""Estimators as model files, and back: one file a kind."""
