"""The kinds of cases, each a check of one number and a way to show its data."""

from __future__ import annotations

import os
from random import Random

from cases import make
from checks import check_set, classes_of
from larger_sets import check_larger, show_larger
from model_files import check_model_files, show_model
from mutants import EACH, check_mutants
from sign_attacks import check_attack, show_attack


def misbehave(case, tally):
    """What the worker must survive and report: an exception, a hang inside C, a crash, too much memory."""
    if case == 1:
        raise ValueError("as planned")
    if case == 2:
        pow(7, 10**10)  # hours in one call, during which no signal handler of Python runs
    if case == 3:
        os.abort()
    if case == 4:
        bytearray(1 << 40)
    tally["fine"] += 1


KINDS = {
    "sets": (check_set, lambda seed: repr(make(seed, classes_of(Random(-1 - seed))))),
    "mutants": (check_mutants, lambda seed: f"{EACH} mutants of case {seed}"),
    "larger": (check_larger, show_larger),
    "signs": (check_attack, show_attack),
    "models": (check_model_files, show_model),
    "trouble": (misbehave, str),
}
