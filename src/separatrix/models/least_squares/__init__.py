"""Least squares: the estimators, their solvers, and what follows a fit."""
