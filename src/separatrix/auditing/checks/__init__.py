"""Assumptions checked against the table, one file a kind."""
