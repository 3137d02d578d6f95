"""Solvers of objectives over rows: what decides, what steps, and what is proved of the result."""
