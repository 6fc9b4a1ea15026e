"""Training with Mercer kernels: exact, by sampled cuts, in the span of basis functions."""
