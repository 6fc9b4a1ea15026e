"""Rounds of filling in what is unknown (labels, latent values) and training."""
