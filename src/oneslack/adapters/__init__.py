"""Doors for other libraries, one module each; none of them is imported before it is asked for."""
