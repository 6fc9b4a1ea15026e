"""Features times a scalar loss: two classes, many classes, regression."""
