"""What is proven: bounds of P and D that hold whatever rounding does."""
