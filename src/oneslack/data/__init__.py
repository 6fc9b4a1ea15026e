"""Matrices and ragged rows as compiled loops read them, and what tells data from other data."""
