"""Mercer kernels in blocks, and what rounding and definiteness mean for their bounds."""
