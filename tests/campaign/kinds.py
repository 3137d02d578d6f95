"""The kinds of cases, each a check of one number and a way to show its data."""

from __future__ import annotations

from random import Random

from cases import make
from checks import check_set, classes_of
from model_files import check_model_files, show_model
from mutants import EACH, check_mutants

KINDS = {
    "sets": (check_set, lambda seed: repr(make(seed, classes_of(Random(-1 - seed))))),
    "mutants": (check_mutants, lambda seed: f"{EACH} mutants of case {seed}"),
    "models": (check_model_files, show_model),
}
