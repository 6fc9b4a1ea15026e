"""Orders of examples: pairs, queries, ordered classes, ROC area."""
