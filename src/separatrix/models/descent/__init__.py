"""Gradient descent: on any function, and on the built-in losses of linear scores."""
