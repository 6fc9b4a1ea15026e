"""Objectives and predictions by their definitions, in plain NumPy: what fitted estimators are compared with.

Nothing here knows a solver or a compiled loop.  Numbers are floats or, where a problem is small, rational:
arrays of Fractions pass through the same lines.
"""
