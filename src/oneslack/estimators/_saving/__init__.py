"""Estimators as model files, and back: each file has `to_file` and `from_file` of one form."""
