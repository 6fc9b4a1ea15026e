"""Rows with margins that share slacks: the general form."""
