"""Compiled loops: free @njit functions on arrays; imports nothing of ours."""
