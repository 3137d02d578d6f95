"""The fewest mistakes of any hyperplane, between two proved bounds.

Every hyperplane has a row on its wrong side in every set of rows that cannot be separated (a witness), so k
witnesses that share no row force k mistakes. ``bracket`` is what users call; ``branch_and_bound`` is the
search: ``line_search`` looks for good hyperplanes, ``case_tree`` for witnesses and the tree of cases,
``packing`` weights witnesses that share rows, ``block_bounds`` and ``row_blocks`` add up bounds of parts of the
table, ``small_tables`` decides in exact arithmetic what floating point leaves open. ``witness_entries`` writes
the proof and counts what checking it costs.
"""
