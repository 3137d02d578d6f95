"""Linear and quadratic discriminants: normal class densities."""
