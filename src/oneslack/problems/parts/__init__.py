"""A problem in parts: each worker holds some of the examples and answers for them; the answers add up.

Workers are objects in threads of this process, or actors of a Ray cluster (engines/).  Solvers see a problem
like any other.
"""
