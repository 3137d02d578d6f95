"""Numerical methods that several models share: no input, no output, no printing."""
