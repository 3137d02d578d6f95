"""The largest margin between two proved bounds, or exactly.

The largest half-width of a band between two classes is half the distance between their convex hulls: any
hyperplane bounds it from below, any two convex combinations from above. ``margin`` searches and proves both. It
calls ``hull_search`` (nearest points in floating point) and ``exact_hull`` (their bounds, and the exact
optimum, in fractions). ``novikoff`` is the perceptron's bound, by the margin of the lifted rows; ``unit_rows``
is the same for rows of length 1.
"""
