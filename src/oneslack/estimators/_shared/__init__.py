"""What estimators share: checks, targets, one way to train, callbacks, warm starts."""
