"""Complete, quasi-complete or overlap: the verdict on two classes, by Tucker's theorem.

Tucker (1956): some w with z_i.w >= 0 for all rows and some weights lambda >= 0 with sum lambda_i z_i = 0 have
z_i.w + lambda_i > 0 for every row. ``facial_reduction`` constructs both, one proved step of Gordan's
alternative at a time (``separatrix.proofs.exact``). It calls, in this order: ``balanced_weights`` and
``small_null_vectors`` (short proofs of overlap), ``circulation`` (the weights lambda and the face where their
rows vanish), ``newton_partition`` (all rows at once). ``verdict`` is what users call; ``verdict_certificate``
writes the proof, ``coefficient_fates`` proves what follows for each coefficient of a logistic fit, and
``multiclass`` asks about more classes.
"""
