"""The estimators, one folder a family; each holds its problem, its solvers and its inference."""
