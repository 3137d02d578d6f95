"""Logistic regression: the estimator, its problem, its solvers and its inference."""
