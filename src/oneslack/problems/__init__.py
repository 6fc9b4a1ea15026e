"""A model, data and C: turns a w into cuts.  In memory, on disk, in parts, with kernels, as plain rows."""
