"""Random labelled sets, changed certificates and forged model files, each held against the oracle.

``SEPARATRIX_CAMPAIGN`` is the number of labelled sets, and of changed certificates; a fifth as many model files
(``make test-all`` asks for 300,000). Cases are numbered from 0; ``python tests/campaign/worker.py sets 1234 1``
runs one again.
"""

from __future__ import annotations

import json
import os
from collections import Counter

import model_files
import mutants
import pytest
from worker import campaign

LARGER = 8  # labelled sets for one of 11 to 40 parameters, which takes as long
COUNT = int(os.environ.get("SEPARATRIX_CAMPAIGN", "400"))
SHARDS = max(1, min(24, COUNT // 1000))
FULL = COUNT >= 200_000  # enough for every outcome to be met in every shard


def share(total, shard):
    """Where a shard begins, and how many cases it has."""
    first = shard * total // SHARDS
    return first, (shard + 1) * total // SHARDS - first


def passed(kind, total, shard):
    first, count = share(total, shard)
    failures, tally = campaign(kind, first, count)
    print(json.dumps(tally, sort_keys=True))  # noqa: T201 so that pytest -rP shows what was done
    assert not failures, f"{len(failures)} failed\n" + "\n".join(failures)
    assert tally["cases"] == count
    return tally


@pytest.mark.parametrize("shard", range(SHARDS))
def test_labelled_sets(shard):
    tally = passed("sets", COUNT, shard)
    outcomes = {"complete", "quasi", "overlap", "ovr", "pairs", "kesler", "margins", "exact margins", "mistake bounds"}
    outcomes |= {f"coefficient {fate}" for fate in ("finite", "+inf", "-inf", "undetermined", "unidentifiable")}
    outcomes |= {"witnesses", "certificates", "fewest mistakes", "perceptron runs"}
    assert not FULL or outcomes <= {name for name in tally if tally[name] >= 10}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_larger_sets(shard):
    tally = passed("larger", max(SHARDS, COUNT // LARGER), shard)
    assert not FULL or {"complete", "quasi", "overlap", "40 parameters and more"} <= set(tally)
    assert tally.get("undecided coefficients", 0) < tally["certificates"] // 50 + 5


@pytest.mark.parametrize("shard", range(SHARDS))
def test_tables_made_against_the_bound_on_rounding(shard):
    passed("signs", COUNT, shard)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_changed_certificates(shard):
    tally = passed("mutants", max(SHARDS, COUNT // mutants.EACH), shard)
    assert not FULL or all(tally[f"accepted {claim}"] for claim in mutants.CLAIMS if claim != "not-complete")
    assert tally["refused"] > tally["mutants"] // 4
    assert tally["accepted"] > tally["mutants"] // 50


@pytest.mark.parametrize("seed", range(max(4, COUNT // 1000)))
def test_both_checkers_judge_changed_certificates_alike(seed, second_checker):
    """In this process both are asked about every certificate (tests/conftest.py); sentences must be the same."""
    tally = Counter()
    mutants.check_mutants(seed, tally)
    assert tally["mutants"] == mutants.EACH


@pytest.mark.parametrize("shard", range(SHARDS))
def test_forged_model_files(shard):
    tally = passed("models", max(SHARDS, COUNT // 5 // model_files.EACH), shard)
    assert tally["refused"] > tally["model files"] // 4
    assert tally["read"] > tally["model files"] // 50


def test_trouble_is_reported_and_the_rest_goes_on():
    failures, tally = campaign("trouble", 0, 6, seconds=5)
    assert [failure.splitlines()[0][:9] for failure in failures] == [f"trouble {case}" for case in (1, 2, 3, 4)]
    assert "ValueError: as planned" in failures[0]
    assert "Timeout" in failures[1]
    assert "Abort" in failures[2]
    assert "MemoryError" in failures[3]
    assert tally["cases"] == 6
