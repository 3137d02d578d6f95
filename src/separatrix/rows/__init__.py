"""Rows: where the numbers of a problem live, in leaves, and passes over them."""
