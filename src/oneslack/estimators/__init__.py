"""The scikit-learn fronts, one a file: they check, call `solve`, and store what was learned."""
