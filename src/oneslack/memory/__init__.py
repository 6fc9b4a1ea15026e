"""What is remembered of the past: cuts, outputs, duals, caches, working sets; a run written down."""
