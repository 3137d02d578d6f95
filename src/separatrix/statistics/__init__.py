"""Inference after a fit, for every family: result tables, summaries, hypotheses, effects."""
