"""What can be trained from a file, or read from a model file: one file a kind, and the registry of them."""
