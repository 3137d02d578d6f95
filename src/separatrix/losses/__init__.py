"""Losses of rows by their scores, and objectives: the sum of a loss over rows plus a ridge."""
