"""Certificates: a claim about a table and the numbers that prove it, for anyone who has a checker.

What is claimed, about which rows, and how it is written is in ``certificate``; ``checkable_rows`` hands rows of
this package to a checker. The checkers are ``separatrix/checker.py`` and ``checker.js``, which import nothing
from here; the lemmas are in docs/certificates.
"""
