"""Gordan's alternative for given rows, decided and proved in integers.

Gordan (1873): for rows z_1, ..., z_n exactly one holds: some w has z_i.w > 0 for all i, or some weights lambda
>= 0, not all zero, have sum lambda_i z_i = 0. ``gordan`` finds out which, and proves it, on a face of the
space. It calls, in this order: ``lifted_rows`` (the table as rows z, and exact signs of z_i.w), ``face``
(vectors that vanish on given rows), ``algebra`` (ranks, solutions and null vectors of integers),
``coordinates`` (for columns that are nearly dependent), ``short_proof`` and ``ill_conditioned`` (small weights
that prove as much as those of a circuit), ``float_circuit`` (circuits proved by floating point), ``simplex``
(the last resort).
"""
