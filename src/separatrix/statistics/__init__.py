"""What is said after a fit in every family: tables of results, summaries, hypotheses, effects."""
